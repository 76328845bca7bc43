"""Opening an `.adf` for a change: alone with the file, with a way back, and checked afterwards."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import apsw

from adf_format.errors import AdfError, LockedError, UnreadableError, VerificationError
from adf_format.schemas import LATEST

from . import backup as backups
from .clock import Clock
from .failures import translate, translate_writing
from .locate import beside, is_open_elsewhere, locate
from .model import Limits, Source
from .policy import authorize_writing, secure
from .reader import Container, open_in_place, open_readonly
from .soundness import demand_sound
from .spent import spent_journal
from .version import refuse_newer, stored_version

Check = Callable[[Container], None]
_LIMITS = Limits(max_value_bytes=1_000_000_000)  # SQLite's own: what is stored must pass
# STO-003, but each commit is durable; the journal mode stays. EXCLUSIVE first: then no shared memory is made
_PRAGMAS = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL"


class Change:
    """A file that is being changed, locked against everybody else.

    :ivar connection: for DML and reading; triggers, views, extensions, ATTACH and unknown functions are off
    :ivar source: how the file was before
    :ivar version: the storage version it named when it was opened, None if none that is a number
    :ivar backup: the copy from before the first transaction; None before that, or when none is wanted
    :ivar checks: called in the end with a fresh, read-only `Container`; what they raise puts the old file back
    """

    def __init__(self, connection: apsw.Connection, source: Source, version: int | None, main: int | None) -> None:
        self.connection = connection
        self.source = source
        self.version = version
        self.backup: Path | None = None
        self.checks: list[Check] = []
        self.committed = 0
        self._main = main

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """One transaction: committed at the end, rolled back by any exception. The first one makes the backup.

        :raises LimitError: no room
        :raises UnreadableError: the system or SQLite refused
        """
        self.secure_backup()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(apsw.Error):
                if not self.connection.get_autocommit():
                    self.connection.execute("ROLLBACK")
            raise
        self.committed += 1

    @contextlib.contextmanager
    def ddl(self) -> Iterator[None]:
        """A stretch in which the schema may be changed: SQLite's own work on it asks for things we deny else."""
        before = self.connection.authorizer
        self.connection.authorizer = None
        try:
            yield
        finally:
            self.connection.authorizer = before

    def secure_backup(self) -> None:
        """Make the backup now, if one is wanted and there is none yet."""
        if self._main is not None and self.backup is None:
            fold_log(self.connection, self.source.path)
            try:
                self.backup = backups.make_backup(self._main, self.source.real_path)
            except OSError as exc:
                raise translate_writing(exc, self.source.path, "backup") from exc

    def discard_backup(self) -> None:
        """Remove the backup of this change: for callers that need none once the change has succeeded."""
        if self.backup is not None:
            self.backup.unlink(missing_ok=True)
            self.backup = None


@contextlib.contextmanager
def open_for_change(
    path: str | Path,
    *,
    backup: bool = True,
    newest: int | None = LATEST,
    integrity: bool = True,
    wait_s: float = 5.0,
) -> Iterator[Change]:
    """Open a file for a change. On leaving without an error the result is checked on a fresh connection.

    The file is locked exclusively from the beginning to the end, a leftover log is folded in first, and its journal
    mode stays. With an exception open transactions are rolled back, completed ones stay, and so does the backup,
    unless nothing was committed. If the check in the end fails, the backup takes the place of the file.

    :param backup: copy the file to `<file>.bak` (or `.bak.<epoch-ms>`) before the first transaction. It stays after
        success; `Change.discard_backup()` in a check or at the end removes it
    :param newest: newest storage version that may be changed; None for any
    :param integrity: demand a clean integrity and foreign-key check in the end
    :param wait_s: how long to wait for others to let go of the file
    :raises NewerSchemaError: the file's version is newer (MIG-005); nothing was touched
    :raises LockedError: another connection has the file open (STO-008)
    :raises VerificationError: the result did not pass; the old file is back
    :raises UnreadableError: all other reasons, as in `open_readonly`
    """
    source, version = _peek(path, newest)
    _demand_writable(source)
    with ExitStack() as stack:
        main = stack.enter_context(_descriptor(source)) if backup else None
        connection = _connect(source, wait_s)
        stack.callback(connection.close)
        change = Change(connection, source, version, main)
        try:
            _lock(connection, source)
            yield change
            if change.committed:
                fold_log(connection, source.path)
                _verify(change, stack, integrity)
        except BaseException as exc:
            _give_up(change)
            if isinstance(exc, (apsw.Error, OSError)):
                raise translate_writing(exc, source.path) from exc
            raise
        finally:
            connection.close()


def tidy(path: str | Path) -> None:
    """Remove what a killed change may have left beside a file that needs no change any more, if nobody uses it."""
    if spent_journal(Path(path).resolve()) is not None:
        with contextlib.suppress(AdfError), open_for_change(path, backup=False, newest=None, integrity=False, wait_s=0):
            pass


def fold_log(connection: apsw.Connection, path: Path) -> None:
    """Move everything from the log to the main file.

    :raises LockedError: somebody still reads from it
    """
    if connection.pragma("journal_mode") == "wal":
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError as exc:
            raise _in_use(path) from exc


def _peek(path: str | Path, newest: int | None) -> tuple[Source, int | None]:
    """Look at the file without a trace: it is an `.adf`, it can be read, it is not too new."""
    with open_readonly(path) as container:
        version = stored_version(container.connection)
        source = container.source
    if newest is not None:
        refuse_newer(version, newest, source.path)
    if is_open_elsewhere(locate(path)):
        raise LockedError("this process has the file open with another copy of SQLite", source.path)
    return source, version


def _demand_writable(source: Source) -> None:
    for place, what in ((source.real_path, "file"), (source.real_path.parent, "folder")):
        if not os.access(place, os.W_OK):
            hint = "a change needs a log and a backup beside the file" if what == "folder" else None
            raise UnreadableError(f"the {what} may not be written", source.path, hint=hint)


@contextlib.contextmanager
def _descriptor(source: Source) -> Iterator[int]:
    try:
        handle = os.open(source.real_path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as exc:
        raise translate(exc, source.path) from exc
    try:
        yield handle
    finally:
        os.close(handle)


def _connect(source: Source, wait_s: float) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(source.real_path.as_uri(), flags=flags)
    except apsw.Error as exc:
        raise translate_writing(exc, source.path) from exc
    try:
        connection.set_busy_timeout(int(wait_s * 1000))
        connection.execute(_PRAGMAS).fetchall()
        secure(connection, replace(_LIMITS), Clock(source.path, None))
        connection.authorizer = authorize_writing
        if connection.readonly("main"):
            raise UnreadableError("the file may only be read", source.path)
    except BaseException as exc:
        connection.close()
        if isinstance(exc, apsw.Error):
            raise translate_writing(exc, source.path) from exc
        raise
    return connection


def _lock(connection: apsw.Connection, source: Source) -> None:
    """Get the file for ourselves; in locking mode EXCLUSIVE the lock stays until the connection is closed."""
    spent = spent_journal(source.real_path)
    try:
        connection.execute("BEGIN EXCLUSIVE; COMMIT")
        fold_log(connection, source.path)
    except (apsw.BusyError, apsw.LockedError) as exc:
        raise _in_use(source.path) from exc
    # Nobody else can have these now: an unfinished backup, and shared memory that ours does without (STO-010)
    backups.sweep_draft(source.real_path)
    if spent is not None:
        spent.remove_unchanged()
    with contextlib.suppress(OSError):
        beside(source.real_path, "-shm").unlink(missing_ok=True)


def _in_use(path: Path) -> LockedError:
    return LockedError("another process has the file open", path, hint="stop the agent that uses it and try again")


def _verify(change: Change, stack: ExitStack, integrity: bool) -> None:
    """Look at the main file with a connection that knows nothing of the change.

    It is closed after ours: closing it first would drop the locks of this process.
    """
    place = locate(change.source.path)
    fresh = open_in_place(place, replace(_LIMITS), Clock(place.given, None))
    stack.callback(fresh.close)
    stack.callback(change.connection.close)
    try:
        if integrity:
            demand_sound(fresh, change.backup)
        for check in change.checks:
            check(fresh)
    except Exception as exc:
        change.connection.close()
        raise _put_back(change, exc) from exc


def _put_back(change: Change, exc: Exception) -> VerificationError:
    reason = exc.message if isinstance(exc, AdfError) else f"{type(exc).__name__}: {exc}"
    error = VerificationError(f"the result did not pass its check: {reason}", change.source.path)
    if change.backup is None:
        error.hint = "there is no backup"
        return error
    real = change.source.real_path
    for suffix in ("-wal", "-journal"):
        beside(real, suffix).unlink(missing_ok=True)
    change.backup.replace(real)
    backups.sync_folder(real.parent)
    change.backup = None
    error.hint = "the file is as it was before"
    return error


def _give_up(change: Change) -> None:
    """After an error: fold what completed transactions wrote; a backup of nothing is removed."""
    with contextlib.suppress(apsw.Error, AdfError):
        if not change.connection.get_autocommit():
            change.connection.execute("ROLLBACK")
        fold_log(change.connection, change.source.path)
    if not change.committed:
        with contextlib.suppress(OSError):
            change.discard_backup()
