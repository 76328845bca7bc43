"""`adf-format view`."""

from __future__ import annotations

import os
import re
import webbrowser
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adf_format.cli.history import reading
from adf_format.cli.options import Output, nearest, opened, refuse_database
from adf_format.errors import EXIT_OK, UnreadableError, UsageError
from adf_format.history import Gap, Item, coverage
from adf_format.history.loops import names
from adf_format.terminal import visible
from adf_format.view.options import ROWS, Options

if TYPE_CHECKING:
    from adf_format.container import Container
    from adf_format.validation.report import FileReport
    from adf_format.view import View
    from adf_format.view.story import Story

SECONDS = 900.0
_NUMBER = re.compile(r"[0-9]{9,16}")

HELP = """Show an agent as a page: who it is, what it did, its loops, its transcripts with the archived past folded in
place, its memory, files, messages and settings. One file, nothing is loaded from elsewhere, and it can be read without
JavaScript. The agent is only read.

\b
  adf-format view agent.adf -o agent.html
  adf-format view agent.adf -o agent.html --loop main --since 2026-01-01
  adf-format view agent.adf -o pages/ --limit 0        a folder, for long lives: one page per 2,000 rows
  adf-format view agent.adf --text                     a transcript for the terminal

Rows that a page leaves out are counted in it. Nothing that the file holds can run in the page.

Exit codes: 0 done; 2 wrong usage; 3 the file could not be read.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path(readable=False))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="Page to write (`-` for stdout), or a folder: an existing one, or a name that ends in `/`.",
)
@click.option("--open", "open_", is_flag=True, help="Open the page in the browser.")
@click.option("--loop", "loops", metavar="NAME", multiple=True, help="Only this loop; may be given several times.")
@click.option("--since", metavar="TIME", help="Leave out earlier rows: a date, a time (UTC unless said), or epoch ms.")
@click.option("--until", metavar="TIME", help="Leave out later rows.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(0),
    help=f"The last N rows of each loop, 0 for all; {ROWS:,} in a page, all in a folder, unless given.",
)
@click.option(
    "--rows",
    "rows_of_page",
    metavar="N",
    type=click.IntRange(1),
    default=ROWS,
    show_default=True,
    help="Rows per page of a folder.",
)
@click.option("--text", is_flag=True, help="A transcript for the terminal, through a pager, in place of a page.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
def view(
    path: str,
    output: str | None,
    open_: bool,
    loops: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int | None,
    rows_of_page: int,
    text: bool,
    quiet: bool,
) -> int:
    """Write the page, or the folder."""
    if output is None and not text:
        raise UsageError("where should the page go?", hint="give -o agent.html, or --text for the terminal")
    folder = output is not None and not text and (output.endswith(("/", os.sep)) or Path(output).is_dir())
    rows = None if limit == 0 or (limit is None and (folder or text)) else limit if limit is not None else ROWS
    wanted = Options(loops, moment_of(since), moment_of(until), rows, rows_of_page if folder else None, Path(path).name)
    target = Path(output or "-")
    if text:
        return _text(path, wanted, output, quiet)
    if folder:
        return _folder(path, wanted, target, open_, quiet)
    with opened("html", output, quiet, "never") as out, reading(path, out, SECONDS) as container:
        from adf_format.view import write_page

        _require(container, loops)
        found, stories = _prepared(path, container, wanted)
        container.release_deadline()
        write_page(found, stories, out.stream)
    if output not in ("-", None):
        _say(out, f"{visible(str(output))}: {target.stat().st_size:,} bytes", target, open_)
    return EXIT_OK


def _folder(path: str, wanted: Options, target: Path, open_: bool, quiet: bool) -> int:
    from adf_format.view import write_folder

    refuse_database(target)
    with opened("html", None, quiet, "never") as out, reading(path, out, SECONDS) as container:
        _require(container, wanted.loops)
        found, stories = _prepared(path, container, wanted)
        container.release_deadline()
        try:
            target.mkdir(parents=True, exist_ok=True)
            count = write_folder(found, stories, target)
        except OSError as error:
            raise UnreadableError(f"the folder cannot be written: {error.strerror}", target) from error
        _say(out, f"{visible(str(target))}: {count:,} pages, begin with index.html", target / "index.html", open_)
    return EXIT_OK


def _say(out: Output, words: str, page: Path, open_: bool) -> None:
    out.note(words)
    if open_ and not webbrowser.open(page.resolve().as_uri()):
        out.note("no browser could be opened")


def _require(container: Container, loops: tuple[str, ...]) -> None:
    if not loops:
        return
    known = names(container)
    for name in loops:
        if name not in known:
            raise UsageError(f"no loop {name!r}{nearest(name, known)}", hint="`adf-format loop ls` lists them")


def _prepared(path: str, container: Container, wanted: Options) -> tuple[View, dict[str, Story]]:
    """Read every row once, while a worker process validates the file."""
    from concurrent.futures import ThreadPoolExecutor

    from adf_format.validation.report import FileReport
    from adf_format.view import prepare

    with ThreadPoolExecutor(1) as beside:
        report = beside.submit(_report, path)
        found, stories = prepare(container, wanted, FileReport(path))
        found.report = report.result()
    return found, stories


def _report(path: str) -> FileReport:
    from adf_format.validation.batch import Job, Resources, validate_many
    from adf_format.validation.engine import Options as Checks

    return next(iter(validate_many([Job(path, Checks(deadline=SECONDS))], Resources(1, SECONDS))))


def moment_of(given: str | None) -> int | None:
    """Return a time in epoch milliseconds: `2026-01-01`, `2026-01-01T12:00+02:00`, or milliseconds as they are.

    :raises UsageError: it is none of these
    """
    if given is None:
        return None
    if _NUMBER.fullmatch(given):
        return int(given)
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(
            f"{given!r} is no time", hint="give 2026-01-01, 2026-01-01T12:00, or epoch milliseconds"
        ) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


# --- for a pager


def _text(path: str, wanted: Options, output: str | None, quiet: bool) -> int:
    with opened("human", output, quiet, "auto") as out, reading(path, out, SECONDS) as container:
        _require(container, wanted.loops)
        lines = _lines(container, wanted, out)
        if output is None and out.stream.isatty():
            container.release_deadline()
            click.echo_via_pager(line + "\n" for line in lines)
            return EXIT_OK
        for line in lines:
            out.line(line)
    return EXIT_OK


def _lines(container: Container, wanted: Options, out: Output) -> Iterator[str]:
    from adf_format.cli.transcript_text import TranscriptText
    from adf_format.view.index import index
    from adf_format.view.story import Fold, Story

    known = coverage(container)
    stories = {name: Story(container, known, name) for name in known.loops if not wanted.loops or name in wanted.loops}
    found = index(container, known, stories, wanted)
    shown = TranscriptText(out.screen)
    for name, story in stories.items():
        loop = found.loops[name]
        yield out.screen.paint(f"=== {visible(name)} ===", "bold")
        if loop.earlier:
            yield f"{loop.earlier:,} earlier entries not included"
        for event in story.events():
            match event:
                case Fold() if event.rows:
                    words = f"-- {event.rows:,} archived rows, snapshot {event.row.id} --"
                    yield from ("", out.screen.paint(words, "dim"))
                case Item() if any(event.place.entry.seq in page for page in loop.pages):
                    yield from ("", *shown.lines(event))
                case Gap():
                    yield from ("", *shown.lines(event))
        if loop.later:
            yield f"{loop.later:,} later entries not included"
        yield ""
