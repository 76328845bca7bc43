"""Options that several commands share, and their types."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from adf_conformance.requirements import PROFILES, Selection, load

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
EXIT_UNKNOWN = 3


def command_of(text: str) -> tuple[str, ...]:
    """Split a command line into arguments.

    :raises click.BadParameter: it is none
    """
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"not a command: {error}", param_hint="--driver") from None
    if not command:
        raise click.BadParameter("empty", param_hint="--driver")
    return command


def seconds_of(text: str) -> float:
    """Read a time such as `60s`, `5m` or `1h`.

    :raises click.BadParameter: it is none
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not found or float(found[1]) <= 0:
        raise click.BadParameter(f"{text!r} is no time: 60s, 5m, 1h", param_hint="--budget")
    return float(found[1]) * _UNITS[found[2]]


def selection_of(profiles: tuple[str, ...], patterns: tuple[str, ...], level: str) -> Selection:
    """Return what is selected.

    :raises click.BadParameter: a pattern means no requirement
    """
    for pattern in patterns:
        if not Selection(profiles, (pattern,)).of(load().values()):
            hint = "an id, a glob, the name of a check, a rule (STO-032), or the beginning of one (LOOP, MM)"
            raise click.BadParameter(f"{pattern!r} means no requirement: {hint}", param_hint="--select")
    return Selection(profiles, patterns, {"may": "MAY"}.get(level, level.upper()))


def selecting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select requirements."""
    for option in (
        click.option("--select", "patterns", multiple=True, metavar="WHAT", help="Id, glob, check, rule or section."),
        click.option("--profile", "profiles", multiple=True, type=click.Choice(PROFILES), help="Only this profile."),
    ):
        function = option(function)
    return function


driver_option = click.option("--driver", required=True, metavar="CMD", help="Command that starts the driver.")
level_option = click.option(
    "--level",
    type=click.Choice(["must", "should", "may"]),
    default="must",
    show_default=True,
    help="Weakest level whose failures count.",
)


def write(path: Path | None, text: str) -> None:
    """Write text to a file, or to standard output.

    :raises click.ClickException: the file cannot be written
    """
    if path is None or str(path) == "-":
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        give_up(f"{path}: {error.strerror}")


def give_up(message: str) -> NoReturn:
    """Say why nothing can be done, and end with exit code 3."""
    click.echo(f"adf-conformance: {message}", err=True)
    sys.exit(EXIT_UNKNOWN)
