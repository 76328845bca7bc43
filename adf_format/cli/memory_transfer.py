"""`adf-format memory import` and `export`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from adf_format.cli.memory import Clock, timed, workspace
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, UsageError
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:memory-transfer:1"


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option(
            "--on-conflict",
            type=click.Choice(["fail", "keep", "rename", "replace"]),
            default="fail",
            show_default=True,
            help="What happens where something else is in the place already.",
        ),
        click.option("--no-derive", is_flag=True, help="Originals and copies only: no pages, no retold text."),
        click.option("--allow-secrets", is_flag=True, help="Carry what looks like a secret; it is recorded."),
        click.option("-n", "--dry-run", is_flag=True, help="Only say what would be done."),
    )
    return functools.reduce(lambda inner, option: option(inner), reversed(options), command)


@click.command("import")
@click.argument("root", metavar="WORKSPACE", type=click.Path())
@click.argument("agent", metavar="FILE", type=click.Path())
@click.option("--always", is_flag=True, help="Also add a line on the present focus to `## Always` of the mind.")
@click.option("--no-backup", is_flag=True, help="Keep no copy of the file once it is done.")
@_shared
@timed
@common("human", "json")
def import_(
    root: str,
    agent: str,
    always: bool,
    no_backup: bool,
    on_conflict: Any,
    no_derive: bool,
    allow_secrets: bool,
    dry_run: bool,
    clock: Clock,
    out: Output,
) -> int:
    """Bring WORKSPACE into the agent FILE: originals byte for byte, under imported/adaptive-memory/, and pages of the
    mind made from them. One transaction; nothing that is there is replaced unless you say so.

    Exit codes: 0 done; 1 conflicts or secrets: nothing was written; 3 the file is in use or cannot be changed.
    """
    from adf_format.memory.guard import suspects
    from adf_format.memory.transfer.importing import import_workspace
    from adf_format.memory.transfer.outcome import Options

    options = Options(
        clock(), str(clock.where), on_conflict, not no_derive, always, allow_secrets=allow_secrets, scan=suspects
    )
    return _told(import_workspace(workspace(root), agent, options, dry_run=dry_run, backup=not no_backup), out)


@click.command("export")
@click.argument("agent", metavar="FILE", type=click.Path())
@click.argument("root", metavar="WORKSPACE", type=click.Path())
@click.option("--soul", is_flag=True, help="Of a mind: also soul.md.")
@click.option("--dailies", is_flag=True, help="Of a mind: also its log, as items in the notes of the days.")
@click.option("--with-citations", is_flag=True, help="Also the messages that the mind cites.")
@_shared
@timed
@common("human", "json")
def export_(
    agent: str,
    root: str,
    soul: bool,
    dailies: bool,
    with_citations: bool,
    on_conflict: Any,
    no_derive: bool,
    allow_secrets: bool,
    dry_run: bool,
    clock: Clock,
    out: Output,
) -> int:
    """Bring the memory of the agent FILE into WORKSPACE: what was imported comes back as it was, with times and modes;
    a mind of its own is copied to memory/adf_mind and retold in MEMORY.md. FILE is only read.

    Exit codes: 0 done; 1 conflicts or secrets: nothing was written; or something is missing or was edited; 3 a file
    could not be read or written.
    """
    from adf_format.memory.guard import suspects
    from adf_format.memory.transfer.exporting import export_workspace
    from adf_format.memory.transfer.outcome import Options

    if Path(root).is_file():
        raise UsageError("the place of the workspace is a file", Path(root))
    options = Options(
        clock(),
        str(clock.where),
        on_conflict,
        not no_derive,
        False,
        dailies,
        soul,
        with_citations,
        allow_secrets,
        suspects,
    )
    return _told(export_workspace(agent, Path(root), options, dry_run=dry_run), out)


def _told(outcome: Any, out: Output) -> int:
    worth = {"conflict", "drift", "gone"}
    code = EXIT_FINDINGS if outcome.blocked or any(one.action in worth for one in outcome.steps) else EXIT_OK
    if out.format == "json":
        out.json({"$schema": SCHEMA, **outcome.document()})
        return code
    for step in outcome.steps:
        if step.action != "same":
            note = f": {step.note}" if step.note else ""
            out.line(visible(f"{step.action:<8} {step.target}{note}"))
    for one in outcome.secrets:
        out.line(visible(f"secret   {one.path}:{one.line}:{one.column} ({one.kind})"))
    counts = ", ".join(f"{count} {action}" for action, count in sorted(outcome.counts().items())) or "nothing"
    out.line(
        f"{'would be done' if outcome.dry_run else 'NOTHING WAS WRITTEN' if outcome.blocked else 'done'}: {counts}"
    )
    if outcome.backup:
        out.line(f"as it was before: {visible(str(outcome.backup))}")
    return code
