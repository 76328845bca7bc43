"""The way back: a changeset of SQLite's session extension that takes every change back (indexes aside)."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from adf_format.container import Change, open_for_change
from adf_format.container.backup import sync_folder
from adf_format.container.locate import beside
from adf_format.errors import MissingFileError, UnreadableError, UsageError

SUFFIX = ".undo.changeset"


@contextlib.contextmanager
def recorded(connection: apsw.Connection) -> Iterator[apsw.Session]:
    """Record the rows that change meanwhile, those of tables without a primary key too."""
    session = apsw.Session(connection, "main")
    try:
        session.config(apsw.SQLITE_SESSION_OBJCONFIG_ROWID, 1)
        session.attach()
        yield session
    finally:
        session.close()


def write_undo(session: apsw.Session, real: Path) -> Path | None:
    """Write the changeset that takes back what a session has recorded; None if there is nothing.

    It is durable before the change is committed: one without the other would be the worse way round.

    :raises OSError: it cannot be written; nothing remains then
    """
    if session.is_empty:
        return None
    data = apsw.Changeset.invert(session.changeset())
    path = beside(real, SUFFIX)
    while True:
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            break
        except FileExistsError:
            path = beside(real, f"{SUFFIX}.{time.time_ns() // 1_000_000}")
            time.sleep(0.001)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    sync_folder(real.parent)
    return path


def apply_undo(connection: apsw.Connection, data: bytes) -> None:
    """Apply a changeset, all of it or nothing; inside a transaction.

    :raises UnreadableError: a row is not as the repair left it
    :raises UsageError: it is no changeset
    """
    try:
        apsw.Changeset.apply(data, connection, conflict=lambda *_: apsw.SQLITE_CHANGESET_ABORT)
    except apsw.AbortError:
        hint = "the backup is the other way back"
        raise UnreadableError("a row was changed since the repair, so nothing was taken back", hint=hint) from None
    except (apsw.CorruptError, apsw.SchemaChangeError, apsw.MisuseError, apsw.SQLError) as exc:
        raise UsageError("this is no changeset of a repair") from exc


def undo(path: str | Path, changeset: str | Path) -> Path | None:
    """Take a repair back; returns the backup from before that.

    :raises MissingFileError: there is no such changeset
    :raises UsageError: it is none
    :raises UnreadableError: a row is not as the repair left it; nothing was changed
    """
    place = Path(changeset)
    try:
        data = place.read_bytes()
    except OSError as exc:
        raise MissingFileError(f"the changeset cannot be read: {exc.strerror}", place) from exc
    if not data:
        raise UsageError("this is no changeset of a repair", place)
    with open_for_change(path) as change:
        _undo(change, data)
    return change.backup


def _undo(change: Change, data: bytes) -> None:
    try:
        with change.transaction(), change.ddl():
            before = change.connection.total_changes()
            apply_undo(change.connection, data)
            if change.connection.total_changes() == before:
                raise UsageError("the changeset changes nothing in this file")
    except (UnreadableError, UsageError) as error:
        error.file = error.file or change.source.path
        raise
