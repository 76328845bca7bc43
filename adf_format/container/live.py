"""The connection of a running agent: one writer for as long as it runs, readers welcome.

A change (`open_for_change`) has the file for itself; an agent shares it with whoever wants to look. So it writes to a
log, never holds SQLite's locks longer than one transaction, and claims the file against a second runtime with a lock of
its own on the main file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw

from adf_format.errors import LockedError, UnreadableError

from .clock import Clock
from .failures import translate
from .locate import Place, locate
from .model import MIB, Limits
from .policy import authorize_writing, secure

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has SQLite's own locks alone
    fcntl = None  # type: ignore[assignment]

_LIMITS = Limits(max_value_bytes=1_000_000_000, cache_bytes=64 * MIB)
# STO-003, but a step that was made survives a loss of power as well
_PRAGMAS = "PRAGMA locking_mode=NORMAL; PRAGMA foreign_keys=ON; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"
_MARKER = "adf_clean_close"


class Live:
    """An open file.

    :ivar connection: for rows of tables; for DDL see `ddl`
    """

    def __init__(self, connection: apsw.Connection, path: Path, claim: int | None) -> None:
        self.connection = connection
        self.path = path
        self._claim = claim

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """One transaction, durable when the block ends; inside another one, a part of it. No `await` in the block."""
        if not self.connection.get_autocommit():
            yield self.connection
            return
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(apsw.Error):
                if not self.connection.get_autocommit():
                    self.connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def authorized(self, authorizer: apsw.Authorizer | None) -> Iterator[None]:
        """A stretch under another authorizer, for statements that somebody else wrote."""
        before = self.connection.authorizer
        self.connection.authorizer = authorizer
        try:
            yield
        finally:
            self.connection.authorizer = before

    def close(self, marker: str | None) -> None:
        """Close the file and leave nothing beside it (STO-005, STO-009).

        :param marker: time of a clean close, ISO 8601; None leaves the file as after a crash
        """
        try:
            if marker is not None:
                with contextlib.suppress(apsw.Error):
                    self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                sql = "INSERT OR REPLACE INTO adf_meta (key, value, protection) VALUES (?, ?, 'readonly')"
                with contextlib.suppress(apsw.Error):
                    self.connection.execute(sql, (_MARKER, marker))
        finally:
            self.connection.close()
            if self._claim is not None:
                os.close(self._claim)  # after SQLite: closing a descriptor drops the locks of this process
                self._claim = None


def open_live(path: str | Path) -> Live:
    """Open a file for a runtime. It must have been looked at before: nothing is checked here.

    :raises LockedError: another runtime has it, or a change is being made
    :raises UnreadableError: it may not be written
    """
    place = locate(path)
    claim = _claimed(place)
    try:
        return Live(_connect(place), place.given, claim)
    except BaseException as exc:
        if claim is not None:
            os.close(claim)
        if isinstance(exc, apsw.Error):
            raise translate(exc, place.given) from exc
        raise


def _claimed(place: Place) -> int | None:
    """Claim the file; `flock` and SQLite's locks know nothing of each other."""
    if fcntl is None:  # pragma: no cover
        return None
    try:
        handle = os.open(place.real, os.O_RDONLY)
    except OSError as exc:
        raise translate(exc, place.given) from exc
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        os.close(handle)
        raise LockedError("the agent is running already", place.given, hint="stop the other runtime first") from exc
    return handle


def _connect(place: Place) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(place.real.as_uri(), flags=flags)
    try:
        connection.set_busy_timeout(5000)
        if connection.readonly("main"):
            raise UnreadableError("the file may only be read", place.given)
        connection.execute(_PRAGMAS).fetchall()
        secure(connection, replace(_LIMITS), Clock(place.given, None))
        connection.authorizer = authorize_writing
        connection.execute("DELETE FROM adf_meta WHERE key = ?", (_MARKER,))
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except BaseException:
        connection.close()
        raise
    return connection
