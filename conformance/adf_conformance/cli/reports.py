"""`adf-conformance report` and `adf-conformance diff`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from adf_conformance import report as forms
from adf_conformance.cli import options as shared
from adf_conformance.report.terminal import table

_FORMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "human": lambda told: "\n".join(forms.lines(told)),
    "json": lambda told: json.dumps(told, indent=1),
    "junit": forms.junit,
    "html": forms.page,
    "svg": forms.svg,
    "shields": lambda told: json.dumps(forms.shields(told)),
}


def _load(path: Path) -> dict[str, Any]:
    try:
        return forms.load(path)
    except forms.NoReport as error:
        shared.give_up(str(error))


@click.command("report")
@click.argument("path", metavar="REPORT", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(list(_FORMS)), default="human", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it here.")
def report_command(path: Path, form: str, output: Path | None) -> None:
    """Write a report that `run --json` saved in another form.

    Exit codes: that of the run; 2 wrong usage; 3 the file is no report.
    """
    told = _load(path)
    shared.write(output, _FORMS[form](told))
    sys.exit(told["exit_code"])


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", show_default=True)
def diff_command(old: Path, new: Path, form: str) -> None:
    """Compare the verdicts of two reports that `run --json` saved.

    Exit codes: 0 no verdict differs; 1 some do; 2 wrong usage; 3 a file is no report.
    """
    found = list(forms.diff(_load(old), _load(new)))
    if form == "json":
        click.echo(json.dumps([{"id": name, "old": was, "new": now} for name, was, now in found], indent=1))
    elif found:
        for line in table([("requirement", "old", "new"), *found]):
            click.echo(line)
    else:
        click.echo("no verdict differs")
    sys.exit(1 if found else 0)
