"""`adf-conformance list`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from adf_conformance.cli import options as shared
from adf_conformance.report.terminal import table
from adf_conformance.requirements import load


@click.command("list")
@shared.selecting
@click.option("--checks", is_flag=True, help="List checks instead of requirements.")
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", show_default=True)
def list_command(profiles: tuple[str, ...], patterns: tuple[str, ...], checks: bool, form: str) -> None:
    """List requirements with level, source and checks, or the checks.

    Exit codes: 0 done; 2 wrong usage.
    """
    if checks:
        return _checks(profiles, form)
    chosen = shared.selection_of(profiles, patterns, "may").of(load().values())
    if form == "json":
        click.echo(json.dumps([asdict(one) for one in chosen], indent=1, ensure_ascii=False))
        return None
    for line in table([(one.id, one.level, ", ".join(one.source), one.text) for one in chosen]):
        click.echo(line)
    untestable = sum(bool(one.untestable) for one in chosen)
    click.echo(f"{len(chosen)} requirements, {untestable} of which no black box can test")
    return None


def _checks(profiles: tuple[str, ...], form: str) -> None:
    from adf_conformance.checks import all_checks

    chosen = [check for check in all_checks().values() if not profiles or check.profile in profiles]
    if form == "json":
        told = [
            {"id": one.id, "generated": one.generated, "needs": sorted(one.needs), "tells": one.tells} for one in chosen
        ]
        click.echo(json.dumps(told, indent=1))
        return
    for line in table([(one.id, "generated" if one.generated else "named", one.tells) for one in chosen]):
        click.echo(line)
