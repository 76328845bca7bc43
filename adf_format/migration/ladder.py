"""Running the steps of a migration, in order, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from adf_format.container import stored_version
from adf_format.errors import MigrationError, UsageError
from adf_format.migration.steps import FIRST, Step, always, path
from adf_format.migration.work import Work

Progress = Callable[[str, int], None]  # what begins: the name of a step or `snapshots`, and how many are done


def quiet(_what: str, _done: int) -> None:
    """Tell nobody."""


def wanted(version: int | None, target: int, file: Path) -> tuple[Step, ...]:
    """Return the steps that a file needs; none if it has the target version already.

    :raises MigrationError: it has no version that a step starts from
    :raises UsageError: the target is older than the file, or unknown
    """
    steps = path(version if version is not None else target, target)
    if version is None or version < FIRST:
        found = "no storage version that is a number" if version is None else f"storage version {version}"
        raise MigrationError(f"the file has {found}; there is no step from it", file, hint=f"the oldest is {FIRST}")
    if version > target:
        hint = "`adf-format migrate --undo` brings back the file from before a migration"
        raise UsageError(f"the file has version {version}, and there is no way back to {target}", file, hint=hint)
    return steps


def climb(work: Work, steps: tuple[Step, ...], progress: Progress = quiet) -> None:
    """Run the steps; what holds whatever the version is part of the first and of the last (MIG-010 to MIG-017).

    :raises MigrationError: a step cannot be done; the ones before it stay
    """
    work.snapshot_done = lambda count: progress("snapshots", count)
    for step in steps:
        progress(step.name, 0)
        work.step = step.name
        known = len(work.record.touches)
        try:
            with work.place.transaction():
                _run(work, step, first=step is steps[0], last=step is steps[-1])
        except BaseException:
            del work.record.touches[known:]
            raise


def _run(work: Work, step: Step, *, first: bool, last: bool) -> None:
    found = stored_version(work.connection)
    if found != step.source:  # MIG-002
        raise MigrationError(f"the version is {found}, not {step.source}", place=step.name)
    if first:
        always.before(work)
    step.run(work)
    if last:
        always.after(work)
    work.set_meta("MIG-001", "adf_schema_version", str(step.target))
