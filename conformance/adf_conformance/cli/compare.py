"""`adf-conformance compare`."""

from __future__ import annotations

import sys
from typing import Any

import click

from adf_conformance import report as forms
from adf_conformance.cli import options as shared
from adf_conformance.report.terminal import table, visible

EXAMPLES = 30  # scenarios of a generated check: the same number for both, whatever their speed


@click.command("compare")
@click.option("--driver", "drivers", multiple=True, required=True, metavar="CMD", help="Two of them.")
@shared.selecting
@click.option("--seed", type=int, default=0, show_default=True)
def compare_command(drivers: tuple[str, ...], profiles: tuple[str, ...], patterns: tuple[str, ...], seed: int) -> None:
    """Run the same cases on two drivers and show only where they disagree.

    Exit codes: 0 they agree; 1 they disagree; 2 wrong usage; 3 one could not be tested.
    """
    if len(drivers) != 2:
        raise click.UsageError("give two drivers: --driver A --driver B")
    selection = shared.selection_of(profiles, patterns, "may")
    told = [_run(shared.command_of(driver), selection, seed) for driver in drivers]
    for one in told:
        if one["trouble"]:
            shared.give_up(f"{one['driver']['command']}: {one['trouble']}")
    disagreements = list(forms.diff(*told))
    if disagreements:
        names = [one["driver"]["name"] for one in told]
        for line in table([("requirement", *names), *disagreements]):
            click.echo(line)
        _notes(told, [name for name, *_ in disagreements])
    else:
        click.echo("no disagreement")
    sys.exit(1 if disagreements else 0)


def _run(command: tuple[str, ...], selection: Any, seed: int) -> dict[str, Any]:
    from adf_conformance.running import Options, run

    return run(Options(command, selection, 3600.0, EXAMPLES, seed)).as_json()


def _notes(told: list[dict[str, Any]], ids: list[str]) -> None:
    for one in told:
        for row in one["requirements"]:
            if row["id"] in ids and row["note"] and row["verdict"] != "not-claimed":
                click.echo(visible(f"{one['driver']['name']}: {row['id']}: {row['note'][:300]}"))
