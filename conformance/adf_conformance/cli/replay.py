"""`adf-conformance replay`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from adf_conformance.cli import options as shared
from adf_conformance.protocol import DriverFault
from adf_conformance.report.terminal import visible
from adf_conformance.schedule import Case
from adf_conformance.schedule.case import NoCase

_EXIT = {"FIXED": 0, "FAILED": 1, "ERROR": 3}


@click.command("replay")
@click.argument("paths", metavar="CASE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@shared.driver_option
@click.option("--kill-matrix", is_flag=True, help="Once per model boundary, with a crash there.")
def replay_command(paths: tuple[Path, ...], driver: str, kill_matrix: bool) -> None:
    """Play saved cases again, exactly as they are, and say FIXED, FAILED or ERROR for each.

    With --kill-matrix each case is played once per model boundary, the process is killed there, and the file judged:
    one line per case, with a dot for a boundary that was survived and a cross for one that was not.

    Exit codes: 0 all are fixed; 1 one failed; 2 wrong usage; 3 one could not be played.
    """
    command = shared.command_of(driver)
    codes = [_matrix(path, command) if kill_matrix else _replay(path, command) for path in paths]
    sys.exit(3 if 3 in codes else max(codes))


def _case(path: Path) -> Case:
    try:
        return Case.load(path)
    except NoCase as error:
        shared.give_up(str(error))


def _replay(path: Path, command: tuple[str, ...]) -> int:
    from adf_conformance.running.killing import replay

    result, why = replay(_case(path), command)
    click.echo(visible(f"{result} {path}: {why}"))
    return _EXIT[result]


def _matrix(path: Path, command: tuple[str, ...]) -> int:
    from adf_conformance.running.killing import matrix_of_file, strip

    try:
        boundaries = matrix_of_file(_case(path), command)
    except DriverFault as fault:
        shared.give_up(str(fault))
    click.echo(visible(f"{strip(boundaries) or 'no model call'} {path}"))
    for boundary in boundaries:
        if boundary.failure:
            click.echo(visible(f"  {boundary.number}: {boundary.failure.requirement}: {boundary.failure.message}"))
    return 1 if any(boundary.failure for boundary in boundaries) else 0
