"""`adf-format memory distill`."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from adf_format.cli.memory import Clock, timed, workspace
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, EXIT_UNREADABLE, UsageError
from adf_format.terminal import visible

DUE = "urn:adf-format:output:memory-distill-due:1"
PLAN = "urn:adf-format:output:memory-distill-plan:1"
COMMIT = "urn:adf-format:output:memory-distill-commit:1"

ROOT = click.argument("root", metavar="ROOT", type=click.Path())

HELP = """From daily notes to long-term memory, in steps that cannot lose anything.

\b
  adf-format memory distill due .        exit code 0 if it is time (for cron and heartbeats)
  adf-format memory distill plan .       what there is to distil, as JSON, and the id of a plan
  ... edit MEMORY.md ...
  adf-format memory distill commit . --plan ID
  adf-format memory distill --auto . --model openai:gpt-5   all of it, by a model, through the same checks

The state moves to the time of the plan, not of the commit, so what is noted meanwhile waits for the next time. The old
MEMORY.md is kept in memory/.history (the last ten). Daily notes are never changed.
"""


class Steps(click.Group):
    """The steps; `distill --auto ROOT` means `distill auto ROOT`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--auto` for the name of the step."""
        named = ["auto", *(one for one in args if one != "--auto")] if "--auto" in args[:1] else args
        return super().parse_args(ctx, named)


@click.group(cls=Steps, help=HELP, no_args_is_help=True)
def distill() -> None:
    """Group of the steps of a distillation."""


@distill.command()
@ROOT
@click.option("--hours", type=float, envvar="MEMORY_STALENESS_HOURS", default=48.0, show_default=True)
@click.option("--notes", type=int, envvar="MEMORY_MIN_NOTES", default=3, show_default=True)
@timed
@common("human", "json")
def due(root: str, hours: float, notes: int, clock: Clock, out: Output) -> int:
    """Say whether it is time: HOURS since the last one and NOTES unprocessed notes, or a week and one note.

    Exit codes: 0 due; 1 not due; 3 the state is wrong, or there is no workspace.
    """
    from adf_format.memory.distill import due as rule
    from adf_format.memory.distill import state
    from adf_format.memory.folder import Folder

    files, now = state.workspace(Folder(workspace(root))), clock()
    last, problem = state.last(files, clock.where)
    found = rule.due(state.candidates(files, last, now), last, now, rule.Thresholds(hours, notes))
    if out.format == "json":
        out.json({"$schema": DUE, "root": root, **found.document(), "note": problem})
    else:
        out.line(f"{'due' if found.due else 'not due'}: {found.reason}")
        for one in found.unprocessed:
            out.line(f"  {visible(one.note.path)} ({one.why})")
        if problem:
            out.note(f"state: {visible(problem)}")
    wrong = found.error is not None or (problem is not None and last.at is None)
    return EXIT_UNREADABLE if wrong else EXIT_OK if found.due else EXIT_FINDINGS


@distill.command()
@ROOT
@click.option("--everything", is_flag=True, help="All notes up to today, as for the first time.")
@click.option("--no-save", is_flag=True, help="Only look: keep no plan that could be committed.")
@timed
@common("json")
def plan(root: str, everything: bool, no_save: bool, clock: Clock, out: Output) -> int:
    """Gather what there is to distil: sections of MEMORY.md, unprocessed notes, secrets, the budget, as JSON.

    Exit codes: 0 done; 1 there is nothing to distil; 3 there is no workspace, or it cannot be read.
    """
    from adf_format.memory.distill import plan as planning

    folder = workspace(root)
    made, document = planning.gather(folder, clock(), everything=everything)
    if made.notes and not no_save:
        planning.save(folder, made)
    out.json({"$schema": PLAN, "root": root, **document})
    return EXIT_OK if made.notes else EXIT_FINDINGS


@distill.command()
@ROOT
@click.option("--plan", "name", required=True, metavar="ID", help="The id that `plan` gave.")
@click.option(
    "--memory", type=click.Path(), metavar="FILE", help="The new MEMORY.md (`-`: stdin); else edited in place."
)
@click.option("--nothing-to-keep", is_flag=True, help="The notes hold nothing for the long term.")
@click.option("--rebase", is_flag=True, help="With --memory: merge with what somebody else changed since the plan.")
@timed
@common("human", "json")
def commit(
    root: str, name: str, memory: str | None, nothing_to_keep: bool, rebase: bool, clock: Clock, out: Output
) -> int:
    """Accept a distillation: check it, keep the old text, move the state to the time of the plan.

    Exit codes: 0 done; 1 refused, and nothing was written; 2 no such plan; 3 a file cannot be read or written.
    """
    from adf_format.memory.distill import commit as committing
    from adf_format.memory.distill import plan as planning

    folder = workspace(root)
    made = planning.load(folder, name, clock.where)
    given = _given(memory) if memory is not None else None
    done = committing.commit(folder, made, clock(), memory=given, nothing_to_keep=nothing_to_keep, rebase=rebase)
    return _told(out, root, done)


@distill.command()
@ROOT
@click.option("--model", required=True, metavar="MODEL", help="scripted:FILE, or openai:MODEL.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")
@click.option("--if-due", is_flag=True, help="Do nothing unless it is time.")
@click.option("-n", "--dry-run", is_flag=True, help="Write the new MEMORY.md to stdout, and commit nothing.")
@timed
@common("human", "json")
def auto(root: str, model: str, base_url: str | None, if_due: bool, dry_run: bool, clock: Clock, out: Output) -> int:
    """Let a model consolidate and prune, through the checks of `commit`. The key of an endpoint is OPENAI_API_KEY.

    Exit codes: 0 done; 1 refused, not due, or nothing to distil: nothing was written; 3 the model gave no answer.
    """
    from adf_format.memory.distill import automatic

    done = asyncio.run(automatic.run(workspace(root), clock, _model(model, base_url), if_due=if_due, dry_run=dry_run))
    if isinstance(done, str):
        out.note(done)
        return EXIT_FINDINGS
    if isinstance(done, bytes):
        out.write(visible(done.decode("utf-8", "replace"), lines=True))
        return EXIT_OK
    return _told(out, root, done)


def _model(spec: str, base_url: str | None) -> Any:
    """Return the model that is named; the room of the models has its own ways of failing."""
    try:
        build = import_module("adf_format.models.spec").build
        endpoint = import_module("adf_format.models.endpoint")
    except ImportError as exc:
        raise UsageError("there are no models in this installation") from exc
    url = base_url or os.environ.get("OPENAI_BASE_URL") or endpoint.OPENAI_URL
    return build(spec, endpoint.Endpoint(base_url=url, api_key=os.environ.get("OPENAI_API_KEY")))


def _given(path: str) -> bytes:
    from adf_format.memory import writing

    if path == "-":
        return sys.stdin.buffer.read()
    content = writing.read(Path(path))
    if content is None:
        raise UsageError("there is no such file", Path(path))
    return content


def _told(out: Output, root: str, done: Any) -> int:
    from adf_format.memory.zone import stamp

    if out.format == "json":
        lists = {"removed": list(done.removed), "added": list(done.added), "notes": list(done.notes)}
        facts = {"lastConsolidatedAt": stamp(done.at), "copy": done.copy, "delta": done.delta, **lists}
        out.json({"$schema": COMMIT, "root": root, **facts})
        return EXIT_OK
    out.line(f"{len(done.notes)} notes consolidated, as of {stamp(done.at)}; MEMORY.md {done.delta:+,} characters")
    for line in done.removed:
        out.line(f"- {visible(line)}")
    for line in done.added:
        out.line(f"+ {visible(line)}")
    if done.copy:
        out.line(f"the old text: {done.copy}")
    return EXIT_OK
