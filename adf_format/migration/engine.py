"""Migrating one file: in place with a backup, into a copy, or as a rehearsal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import apsw

from adf_format.container import Container, open_for_change, open_readonly, stored_version, tidy, translate
from adf_format.container import backup as backups
from adf_format.container.create import publish, refuse_existing
from adf_format.container.leftovers import private_folder, sweep
from adf_format.container.version import refuse_newer
from adf_format.errors import AdfError
from adf_format.migration import compare, split
from adf_format.migration.ladder import Progress, climb, quiet, wanted
from adf_format.migration.record import Record
from adf_format.migration.rehearsal import Rehearsal
from adf_format.migration.steps import Step
from adf_format.migration.work import Work
from adf_format.schemas import LATEST


@dataclass
class Outcome:
    """What became of one file.

    :ivar file: the file that was to be migrated
    :ivar source: its version before, :ivar target: and after
    :ivar steps: the steps that were run; none if it had the version already
    :ivar backup: the file as it was, beside it; None if there is none
    :ivar output: the migrated copy, None if the file itself was migrated
    :ivar now: time that was written into new rows
    :ivar seconds: time it took
    """

    file: Path
    source: int
    target: int
    steps: tuple[Step, ...] = ()
    record: Record = field(default_factory=Record)
    backup: Path | None = None
    output: Path | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: float = 0.0
    split: bool = False


@dataclass(frozen=True)
class Order:
    """What is wanted.

    :ivar target: version to migrate to
    :ivar now: time for new rows; the clock when left out
    :ivar split: turn old batches of messages into one row per message
    :ivar hashing: hash each decoded snapshot, for a receipt
    :ivar begun: is told before the first step, once there is a way back
    """

    target: int = LATEST
    now: datetime | None = None
    split: bool = False
    hashing: bool = False
    begun: Callable[[Outcome], None] = lambda _: None


def migrate(path: str | Path, order: Order = Order(), progress: Progress = quiet) -> Outcome:
    """Migrate a file in place; the old one stays as a backup.

    :raises NewerSchemaError, LockedError, VerificationError, UnreadableError: as `open_for_change`
    :raises MigrationError: a step cannot be done; completed ones stay, and so does the backup
    :raises UsageError: a version that cannot be reached
    """
    start = time.monotonic()
    outcome = _look(path, order)
    if not outcome.steps and not order.split:
        tidy(path)
        return outcome
    with open_for_change(path) as change:
        with change.ddl():  # or dropping a table that was copied would delete what refers to it
            change.connection.execute("PRAGMA foreign_keys=OFF")
        change.secure_backup()
        outcome.backup = change.backup
        order.begun(outcome)
        work = Work(change, now=outcome.now, final=order.target, hashing=order.hashing)
        climb(work, wanted(change.version, order.target, Path(path)), progress)
        if order.split:
            split.split_batches(work)
        outcome.record, outcome.backup = work.record, change.backup
        change.checks.append(lambda fresh: _check(fresh, outcome, progress))
    outcome.seconds = time.monotonic() - start
    return outcome


def rehearse(path: str | Path, order: Order = Order()) -> Outcome:
    """Run a migration on a temporary copy and tell what it would do; the file is only read.

    :raises AdfError: what the migration itself would raise, as far as it can be known
    """
    outcome = _look(path, order)
    if not outcome.steps and not order.split:
        return outcome
    try:
        with open_readonly(path) as container, Rehearsal(container) as place:
            work = Work(place, now=outcome.now, final=order.target, hashing=order.hashing)
            climb(work, outcome.steps)
            if order.split:
                split.split_batches(work)
            outcome.record = work.record
    except apsw.Error as exc:
        raise translate(exc, Path(path)) from exc
    return outcome


def migrate_copy(path: str | Path, output: str | Path, order: Order = Order(), progress: Progress = quiet) -> Outcome:
    """Migrate a copy of a file; the copy appears complete or not at all, and the file is only read.

    :raises UsageError: the output exists already
    :raises AdfError: as `migrate`
    """
    target = Path(output)
    refuse_existing(target)
    outcome = _look(path, order)
    try:
        sweep(target.parent)
        with private_folder(target.parent) as folder:
            draft = folder / target.name
            _copy(path, draft)
            made = migrate(draft, replace(order, begun=lambda _: None), progress)
            order.begun(replace(made, file=outcome.file, output=target, backup=None))
            if made.backup is not None:
                made.backup.unlink()
            publish(draft, target)
    except (OSError, apsw.Error) as exc:
        raise translate(exc, target) from exc
    made.file, made.output, made.backup = outcome.file, target, None
    return made


def _look(path: str | Path, order: Order) -> Outcome:
    with open_readonly(path) as container:
        version = stored_version(container.connection)
    refuse_newer(version, LATEST, Path(path))
    now = order.now or datetime.now(UTC)
    steps = wanted(version, order.target, Path(path))
    return Outcome(Path(path), version or 0, order.target, steps, now=now, split=order.split)


def _copy(path: str | Path, draft: Path) -> None:
    with (
        open_readonly(path) as container,
        contextlib.closing(apsw.Connection(str(draft))) as copy,
        copy.backup("main", container.connection, "main") as copying,
    ):
        while not copying.done:
            copying.step(1000)


def _check(fresh: Container, outcome: Outcome, progress: Progress) -> None:
    progress("check", 0)
    if outcome.backup is not None:
        compare.demand_explained(fresh, outcome.backup, outcome.record)


@contextlib.contextmanager
def as_migration(path: Path) -> Iterator[None]:
    """Give errors without a file the one that was being migrated."""
    try:
        yield
    except AdfError as error:
        error.file = error.file or path
        raise


__all__ = ["Order", "Outcome", "as_migration", "backups", "migrate", "migrate_copy", "rehearse"]
