"""`adf-conformance smoke`."""

from __future__ import annotations

import sys

import click

from adf_conformance.cli import options as shared
from adf_conformance.report.terminal import visible


@click.command("smoke")
@shared.driver_option
def smoke_command(driver: str) -> None:
    """Try a driver: does it speak the protocol, and do the simplest thing of each profile that it claims?

    A failure here means that the driver is wrong; what the program behind it does wrong is for `run` to find.

    Exit codes: 0 the driver is right; 1 it is not; 2 wrong usage.
    """
    from adf_conformance.running.smoke import smoke

    wrong = 0
    for probe in smoke(shared.command_of(driver)):
        wrong += probe.wrong is not None
        told = f": {probe.wrong or probe.note}" if probe.wrong or probe.note else ""
        click.echo(visible(f"{'ok  ' if probe.wrong is None else 'FAIL'} {probe.name}{told}"))
    click.echo("the driver is right" if not wrong else f"the driver is not right: {wrong} of its answers are wrong")
    sys.exit(1 if wrong else 0)
