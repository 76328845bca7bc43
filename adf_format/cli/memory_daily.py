"""`adf-format memory init`, `note`, `task` and `channel`: what a day needs."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import click

from adf_format.cli.memory import Clock, timed, workspace
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, UsageError
from adf_format.terminal import visible

URN = "urn:adf-format:output:memory-{}:1"
ROOT = click.argument("root", metavar="ROOT", type=click.Path())


@click.command()
@ROOT
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be made.")
@click.option("--agents-md", is_flag=True, help="Also put the order of loading into AGENTS.md, between our markers.")
@click.option("--no-backup", is_flag=True, help="For an .adf: keep no copy of the file once it is done.")
@timed
@common("human", "json")
def init(root: str, dry_run: bool, agents_md: bool, no_backup: bool, clock: Clock, out: Output) -> int:
    """Make what is missing of a memory, in a workspace or in the mind of an .adf.

    What is there, of whatever kind, keeps its bytes, its time and its mode; a second run makes nothing.

    \b
      adf-format memory init .
      adf-format memory init agent.adf

    Exit codes: 0 done; 1 something is in the way, and nothing after it was made; 3 the place cannot be used.
    """
    from adf_format.memory import starting

    path = Path(root)
    if path.is_file():
        done = starting.start_mind(path, clock(), dry_run=dry_run, backup=not no_backup)
    else:
        done = starting.start_workspace(path, clock(), dry_run=dry_run, agents=agents_md)
    if out.format == "json":
        out.json({"$schema": URN.format("init"), "root": root, "dry_run": dry_run, **done.document()})
    else:
        verb = "would be created" if dry_run else "created"
        for name, verbs in ((done.created, verb), (done.skipped, "there already"), (done.errors, "in the way")):
            for one in name:
                out.line(f"{verbs:<14} {visible(one)}")
    return EXIT_FINDINGS if done.errors else EXIT_OK


@click.command()
@ROOT
@click.argument("text", metavar="TEXT")
@click.option("--section", default="Tasks", show_default=True, metavar="TITLE", help="Section; made if it is missing.")
@click.option("--date", "day", metavar="YYYY-MM-DD", help="An earlier day than today.")
@timed
@common("human", "json")
def note(root: str, text: str, section: str, day: str | None, clock: Clock, out: Output) -> int:
    """Add TEXT to a daily note, at the end of a section. No other byte of the note changes.

    \b
      adf-format memory note . "Chose SQLite over JSON: 10,000 rows" --section Decisions

    Exit codes: 0 done; 2 the text holds a secret, or the day is no day; 3 the note cannot be changed.
    """
    from adf_format.memory.notes import add_note

    folder = workspace(root)
    return _added(out, "note", root, add_note(folder, text, clock, section=section, day=_day(day)))


@click.command()
@ROOT
@click.argument("name", metavar="CHANNEL")
@click.argument("text", metavar="TEXT")
@click.option("--decision", "section", flag_value="Recent Decisions", help="A decision; it gets today's date.")
@click.option("--unresolved", "section", flag_value="Unresolved", help="What is open.")
@click.option("--topic", "section", flag_value="Current Topics", default=True, help="What is talked about (default).")
@timed
@common("human", "json")
def channel(root: str, name: str, text: str, section: str, clock: Clock, out: Output) -> int:
    """Add TEXT to the file of CHANNEL.

    \b
      adf-format memory channel . "#ops" "CI pipeline approved" --decision

    Exit codes: 0 done; 2 the text holds a secret; 3 the file cannot be changed, or is that of another channel.
    """
    from adf_format.memory.notes import add_to_channel

    folder = workspace(root)
    return _added(out, "note", root, add_to_channel(folder, name, text, clock, section=section))


def _added(out: Output, what: str, root: str, added: Any) -> int:
    if out.format == "json":
        out.json({"$schema": URN.format(what), "root": root, **vars(added)})
    else:
        out.line(visible(f"{added.path}:{added.line} ({added.section}){', a new file' if added.created else ''}"))
    return EXIT_OK


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    from adf_format.memory.zone import day_of

    day = day_of(text) if len(text) == 10 else None
    if day is None:
        raise UsageError(f"{text!a:.40} is no day", hint="write it as 2026-04-01")
    return day


TASK = """The task tracker of a workspace: what was promised and must not be forgotten.

\b
  adf-format memory task add . "Ask for the API key" --priority high
  adf-format memory task list .
  adf-format memory task done . 3f2a
"""


@click.group(help=TASK, no_args_is_help=True)
def task() -> None:
    """Group of the commands on tasks."""


@task.command()
@ROOT
@click.argument("title")
@click.option(
    "--priority", type=click.Choice(["critical", "high", "normal", "low"]), default="normal", show_default=True
)
@click.option("--note", help="More about it.")
@timed
@common("human", "json")
def add(root: str, title: str, priority: str, note: str | None, clock: Clock, out: Output) -> int:
    """Add a task. Exit codes: 0 done; 2 no title, or a secret; 3 the tracker cannot be changed."""
    from adf_format.memory import tasks

    return _shown(out, root, [tasks.add(workspace(root), title, clock, priority=priority, note=note)])


@task.command("list")
@ROOT
@click.option("--all", "everything", is_flag=True, help="Done ones too.")
@common("human", "json")
def list_(root: str, everything: bool, out: Output) -> int:
    """List tasks, the most urgent and oldest first. Exit codes: 0 done; 3 the tracker cannot be read."""
    from adf_format.memory import tasks

    return _shown(out, root, tasks.load(workspace(root)).listed(done=everything))


@task.command("set")
@ROOT
@click.argument("name", metavar="ID")
@click.argument("status", type=click.Choice(["pending", "in_progress", "blocked", "done"]))
@timed
@common("human", "json")
def set_(root: str, name: str, status: str, clock: Clock, out: Output) -> int:
    """Give the task whose id begins with ID a status. Exit codes: 0 done; 2 no such task, or several; 3 no tracker."""
    from adf_format.memory import tasks

    return _shown(out, root, [tasks.set_status(workspace(root), name, status, clock)])


@task.command()
@ROOT
@click.argument("name", metavar="ID")
@timed
@common("human", "json")
def done(root: str, name: str, clock: Clock, out: Output) -> int:
    """Close the task whose id begins with ID. Exit codes: 0 done; 2 no such task, or several; 3 no tracker."""
    from adf_format.memory import tasks

    return _shown(out, root, [tasks.set_status(workspace(root), name, "done", clock)])


@task.command()
@ROOT
@timed
@common("human", "json")
def prune(root: str, clock: Clock, out: Output) -> int:
    """Take out tasks that were done more than a week ago. Exit codes: 0 done; 3 the tracker cannot be changed."""
    from adf_format.memory import tasks

    return _shown(out, root, tasks.prune(workspace(root), clock, clock.where))


def _shown(out: Output, root: str, found: list[dict[str, Any]]) -> int:
    if out.format == "json":
        out.json({"$schema": URN.format("tasks"), "root": root, "tasks": found})
        return EXIT_OK
    for one in found:
        facts = (one.get("id"), one.get("status"), one.get("priority") or "normal", one.get("title"))
        out.line(visible("  ".join(str(fact) for fact in facts)))
    if not found:
        out.line("no tasks")
    return EXIT_OK
