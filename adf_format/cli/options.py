"""Options that all commands share, and where output goes."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click

from adf_format.errors import UsageError
from adf_format.terminal import Screen, harmless_json, screen
from adf_format.wholefile import whole_file

SQLITE_MAGIC = b"SQLite format 3\0"
SIDECARS = ("-wal", "-shm", "-journal")


@dataclass
class Output:
    """Where a command writes: its result to `stream`, notes and progress to stderr.

    :ivar format: name of the wanted format
    :ivar quiet: whether notes on stderr are unwanted
    :ivar path: the file that `--output` names
    """

    format: str
    stream: TextIO
    screen: Screen
    quiet: bool = False
    path: str | None = None
    notes: Screen = field(default_factory=Screen)

    def write(self, text: str) -> None:
        """Write a piece of the result."""
        self.stream.write(text)

    def line(self, text: str = "") -> None:
        """Write one line of the result."""
        self.stream.write(text + "\n")

    def json(self, document: object) -> None:
        """Write a JSON document."""
        import json

        self.line(harmless_json(json.dumps(document, ensure_ascii=False, indent=2)))

    def note(self, text: str) -> None:
        """Say something on stderr."""
        if not self.quiet:
            click.echo(text, err=True)


def common(*formats: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--format`, `--output`, `--quiet` and `--color`; the command gets an `Output` as `out`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapper(*args: Any, format_name: str, output: str | None, quiet: bool, color: str, **kwargs: Any) -> Any:
            with opened(format_name, output, quiet, color) as out:
                return command(*args, out=out, **kwargs)

        return _decorated(wrapper, formats or ("human", "json"))

    return decorate


def _decorated(wrapper: Callable[..., Any], formats: tuple[str, ...]) -> Callable[..., Any]:
    options = (
        click.option(
            "--format",
            "format_name",
            type=click.Choice(formats),
            default=formats[0],
            show_default=True,
            help="How to write the result.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of stdout."),
        click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on stderr."),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Colours; auto means on a terminal. NO_COLOR and FORCE_COLOR are honoured.",
        ),
    )
    for option in reversed(options):
        wrapper = option(wrapper)
    return wrapper


@contextlib.contextmanager
def opened(format_name: str, output: str | None, quiet: bool, color: str) -> Iterator[Output]:
    """Open the place where a result goes.

    A file appears whole or not at all: it is written beside its place and renamed at the end.
    """
    notes = screen(sys.stderr, color)
    if output is None or output == "-":
        yield Output(format_name, sys.stdout, screen(sys.stdout, color), quiet, notes=notes)
        return
    if not output:
        raise UsageError("--output names no file")
    with new_file(Path(output)) as stream:
        yield Output(format_name, stream, Screen(color == "always"), quiet, output, notes)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[TextIO]:
    """Write a text file that the user names: whole or not at all, never over a database; a device is written to.

    :raises UsageError: see `refuse_database`
    :raises UnreadableError: it cannot be written
    """
    refuse_database(path)
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
        return
    with whole_file(path) as stream:
        yield stream
        refuse_database(path.resolve())  # perhaps the command itself has made one there


def refuse_database(path: Path) -> None:
    """Refuse to write a report over an agent.

    :raises UsageError: the path holds an SQLite database, or is where SQLite keeps the log or journal of one
    """
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                if file.read(16) == SQLITE_MAGIC:
                    raise UsageError("this is a database, and is not overwritten", file=path)
    for suffix in SIDECARS:
        if path.name.endswith(suffix) and path.with_name(path.name.removesuffix(suffix) or ".").is_file():
            raise UsageError("SQLite would take this for a part of the database beside it", file=path)


def same_place(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to the same file, be it there or not."""
    return os.path.realpath(one) == os.path.realpath(other)


def nearest(word: str, words: Iterable[str]) -> str:
    """Return `; did you mean …?` for the known word nearest to a wrong one, or nothing."""
    import difflib

    found = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""
