"""`adf-format memory`: the group, and what its commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import click

from adf_format.cli.lazy import LazyGroup
from adf_format.errors import MissingFileError, UsageError

_HERE = "adf_format.cli.memory_"
SUBCOMMANDS = {
    "init": (_HERE + "daily:init", "Make what is missing of a memory; nothing that is there is touched."),
    "status": (_HERE + "session:status", "Files, ages, what waits, what a session would load."),
    "context": (_HERE + "session:context", "What a session loads before it answers."),
    "note": (_HERE + "daily:note", "Add to a daily note."),
    "task": (_HERE + "daily:task", "The task tracker: add, list, change."),
    "channel": (_HERE + "daily:channel", "Add to the file of a channel."),
    "check": (_HERE + "check:check", "Secrets, wrong dates, forgotten tasks, lost pages: the rules ADF9xx."),
    "distill": (_HERE + "distill:distill", "From daily notes to long-term memory: due, plan, commit."),
    "import": (_HERE + "transfer:import_", "Bring a workspace into an .adf."),
    "export": (_HERE + "transfer:export_", "Bring an agent's memory into a workspace."),
}

HELP = """What an agent keeps. ROOT is a workspace (a folder with MEMORY.md and memory/) or an .adf.

\b
  adf-format memory init .                            start a workspace
  adf-format memory note . "Chose SQLite" --section Decisions
  adf-format memory task add . "Ask for the API key" --priority high
  adf-format memory context . --kind main             what a session loads
  adf-format memory status .                          how it is
  adf-format memory check .                           what is wrong with it
  adf-format memory distill plan .                    what waits to be distilled
  adf-format memory import . agent.adf                into an agent, lossless

Dates are those of the zone that --tz, the setting `timezone`, TZ or the system names, in this order.

Exit codes: 0 done; 1 a verdict of "no", and nothing was written; 2 wrong usage; 3 a place could not be read or changed.
"""


@click.group(cls=LazyGroup, table=SUBCOMMANDS, help=HELP, no_args_is_help=True)
def memory() -> None:
    """Group of the commands on memory."""


class Clock:
    """What time it is, in the zone of the workspace."""

    def __init__(self, where: tzinfo, given: str | None) -> None:
        self.where = where
        self._given = given

    def __call__(self) -> datetime:
        """Return the time."""
        from adf_format.memory.zone import now

        return now(self.where, self._given)


def timed(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tz` and `--now`; the command gets a `Clock`."""

    @click.option("--tz", metavar="ZONE", help="Time zone, as Europe/Berlin.")
    @click.option("--now", "given", metavar="TIME", help="Another time than now, as 2026-04-01T10:00.")
    @functools.wraps(command)
    def wrapper(*args: Any, tz: str | None, given: str | None, **kwargs: Any) -> Any:
        from adf_format.memory.zone import zone

        return command(*args, clock=Clock(zone(tz, _configured()), given), **kwargs)

    return wrapper


def _configured() -> str | None:
    from adf_format.validation import settings

    found = settings.find(Path.cwd())
    return settings.load(found).timezone if found else None


def is_agent(root: str) -> bool:
    """Whether ROOT is an `.adf`, and no folder.

    :raises MissingFileError: there is nothing
    """
    path = Path(root)
    if not path.exists():
        raise MissingFileError("there is no such file or folder", path)
    return path.is_file()


def workspace(root: str) -> Path:
    """Return ROOT as a folder.

    :raises UsageError: it is an `.adf`
    """
    if is_agent(root):
        raise UsageError(
            "this command is for workspaces, and this is a file", Path(root), hint="an agent keeps its mind by itself"
        )
    return Path(root)
