"""The way back: a changeset of SQLite's session extension, and after it what no changeset can hold.

A session sees rows. Indexes that were made and counters that went up because rows were added stand in a trailer: JSON,
its length in 8 bytes, and a mark. What is before it is a plain changeset, which any program with SQLite can apply.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from adf_format.container import Change, open_for_change
from adf_format.container.backup import sync_folder
from adf_format.container.locate import beside
from adf_format.errors import MissingFileError, UnreadableError, UsageError
from adf_format.schemas.ddl import quote_any

SUFFIX = ".undo.changeset"
_MARK = b"adf-undo"
Counters = dict[str, int | None]


@dataclass(frozen=True)
class Rest:
    """What a changeset cannot hold.

    :ivar indexes: statement of each index that was made, by name
    :ivar counters: value before and after, by table; None for no counter
    """

    indexes: Mapping[str, str] = field(default_factory=dict)
    counters: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.indexes or self.counters)

    def trailer(self) -> bytes:
        """Return it as bytes; none if there is nothing."""
        text = json.dumps({"indexes": dict(self.indexes), "counters": dict(self.counters)}).encode()
        return text + len(text).to_bytes(8, "big") + _MARK if self else b""


def split_trailer(data: bytes) -> tuple[bytes, Rest]:
    """Return the changeset and the rest.

    :raises UsageError: the trailer is damaged
    """
    if not data.endswith(_MARK):
        return data, Rest()
    end = len(data) - len(_MARK) - 8
    start = end - int.from_bytes(data[end : end + 8], "big") if end >= 0 else -1
    try:
        found: Any = json.loads(data[start:end]) if start >= 0 else None
        counters = {str(name): (pair[0], pair[1]) for name, pair in found["counters"].items()}
        indexes = {str(name): str(sql) for name, sql in found["indexes"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, IndexError):
        raise UsageError("this is no changeset of a repair") from None
    return data[:start], Rest(indexes, counters)


def counters(connection: apsw.Connection) -> Counters:
    """Return the counters of AUTOINCREMENT that are whole numbers, by table."""
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get is None:
        return {}
    query = "SELECT name, seq FROM sqlite_sequence WHERE typeof(seq) = 'integer' AND typeof(name) = 'text'"
    return {str(name): int(seq) for name, seq in connection.execute(query)}


def rest_of(before: Counters, after: Counters, statements: Sequence[str]) -> Rest:
    """Return what a changeset cannot hold.

    :param before: the counters from before; :param after: and as they are now
    :param statements: those that made indexes
    """
    names = sorted(before.keys() | after.keys())
    changed = {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
    return Rest({sql.split()[2].strip('"'): sql for sql in statements}, changed)


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


def write_undo(session: apsw.Session, real: Path, rest: Rest) -> Path | None:
    """Write what takes back what a session has recorded, and the rest; None if there is nothing.

    It is durable before the change is committed: one without the other would be the worse way round.

    :raises OSError: it cannot be written; nothing remains then
    """
    if session.is_empty and not rest:
        return None
    data = b"" if session.is_empty else apsw.Changeset.invert(session.changeset())
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
            stream.write(data + rest.trailer())
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    sync_folder(real.parent)
    return path


def apply_undo(connection: apsw.Connection, data: bytes) -> bool:
    """Take everything back, or nothing; inside a transaction, with nothing denied.

    A counter that went on since stays: its numbers are given out. So does an index that is another one by now.

    :returns: whether anything changed
    :raises UnreadableError: a row is not as the repair left it
    :raises UsageError: it is no changeset
    """
    changeset, rest = split_trailer(data)
    now, before = counters(connection), connection.total_changes()
    if changeset or not rest:
        _apply(connection, changeset)
    changed = connection.total_changes() != before
    for table, (was, became) in rest.counters.items():
        if now.get(table) == became:
            changed = True
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            if was is not None:
                connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, was))
    for name, sql in rest.indexes.items():
        query = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ? AND sql = ?"
        if connection.execute(query, (name, sql)).get is not None:
            changed = True
            connection.execute(f"DROP INDEX {quote_any(name)}")
    return changed


def _apply(connection: apsw.Connection, changeset: bytes) -> None:
    try:
        apsw.Changeset.apply(changeset, connection, conflict=lambda *_: apsw.SQLITE_CHANGESET_ABORT)
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
            if not apply_undo(change.connection, data):
                raise UsageError("the changeset changes nothing in this file")
    except (UnreadableError, UsageError) as error:
        error.file = error.file or change.source.path
        raise
