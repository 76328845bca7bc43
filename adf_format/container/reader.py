"""Opening an `.adf` without leaving a trace."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw

from adf_format.errors import AdfError, NotAnAdfError, UnreadableError

from .beside import Beside
from .clock import Clock
from .diagnosis import explain_not_a_database, explain_truncation, head_of
from .failures import translate
from .locate import Place, Stamps, locate, needs_copy, take_stamps
from .model import Limits, Source
from .policy import secure
from .snapshot.main import page_size_of
from .snapshot.problem import SnapshotError

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_ENCODINGS = {1: "UTF-8", 2: "UTF-16le", 3: "UTF-16be"}
_DEFAULT_LIMITS = Limits()
_IN_PLACE: dict[str, Any] = {
    "mode": "immutable",
    "frames": 0,
    "ignored": 0,
    "ended": "none",
    "hot_journal": False,
}


class Container:
    """An open `.adf`: `connection` may only read, `source` says how the file was read.

    `check_deadline()` raises LimitError when the time limit has passed; loops in Python call it.
    `release_deadline()` ends the time limit, for output that waits for somebody who reads it.
    """

    def __init__(
        self, connection: apsw.Connection, source: Source, stamps: Stamps, limits: Limits, clock: Clock
    ) -> None:
        self.connection = connection
        self.source = source
        self.check_deadline = clock.check
        self.release_deadline = clock.release
        self._stamps = stamps
        self._limits, self._clock = limits, clock

    def beside(self, sql: str) -> Beside | None:
        """Start a statement in a thread, on a second connection with the same settings and deadline.

        :returns: None for a private copy, which has no name any more and cannot be opened twice
        :raises apsw.Error: the file cannot be opened any more
        """
        if self.source.mode != "immutable":
            return None
        connection = _connect(self.source.real_path)
        secure(connection, self._limits, self._clock)
        return Beside(connection, sql)

    def changed(self) -> bool:
        """Whether the file, its log or its journal differ from what was seen at opening."""
        return take_stamps(self.source.real_path) != self._stamps

    def close(self) -> None:
        """Close the connection; a private copy ceases to exist with it."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_readonly(path: str | Path, limits: Limits = _DEFAULT_LIMITS, *, private: bool = False) -> Container:
    """Open an `.adf` for reading; neither it nor its folder changes in any way (STO-011, STO-012).

    Without a log and a hot journal the file is read in place, without locks: a writer is not held up, and
    `Container.changed()` tells whether one interfered. Otherwise a consistent private copy is read.

    :param private: read a private copy in any case, for example after `changed()` has said so
    :raises MissingFileError: nothing there, or not a regular file
    :raises NotAnAdfError: not a SQLite database, or one without the table `adf_meta` (STO-001)
    :raises EncryptedError: the whole file looks encrypted
    :raises DamagedError: SQLite cannot read it
    :raises LockedError: a writer did not let go in time (STO-008)
    :raises LimitError: no room, no time, or too large
    :raises UnreadableError: permission denied, or an error of the system
    """
    clock = Clock(Path(path), limits.deadline_s)
    place = locate(path)
    if place.size == 0:
        raise NotAnAdfError("the file is empty", place.given)
    if private or needs_copy(place):
        return _open_copy(place, limits, clock)
    try:
        return open_in_place(place, limits, clock)
    except UnreadableError:
        if take_stamps(place.real) == place.stamps:
            raise
        return _open_copy(locate(path), limits, clock)  # somebody wrote meanwhile


def open_in_place(place: Place, limits: Limits, clock: Clock) -> Container:
    """Open the main file alone, without locks; errors as in `open_readonly`."""
    try:
        connection = _connect(place.real)
    except apsw.Error as exc:
        raise translate(exc, place.given) from exc
    return _prepare(connection, place, limits, {**_IN_PLACE, "size": place.size, "stamps": place.stamps}, clock)


def _open_copy(place: Place, limits: Limits, clock: Clock) -> Container:
    from . import private_copy  # most files are read in place and need none of its imports

    try:
        connection, facts = private_copy.open_copy(place.real, limits, clock.left(), _connect)
    except (apsw.Error, SnapshotError) as exc:
        raise translate(exc, place.given) from exc
    return _prepare(connection, place, limits, {**facts, "mode": "private-copy"}, clock)


def _connect(name: Path) -> apsw.Connection:
    # A URI of bytes: SQLite decodes %xx itself, so any file name can be given
    return apsw.Connection(f"{name.as_uri()}?immutable=1", flags=_FLAGS)


def _prepare(
    connection: apsw.Connection, place: Place, limits: Limits, facts: dict[str, Any], clock: Clock
) -> Container:
    try:
        secure(connection, limits, clock)
        _require_meta(connection, place)
        return Container(connection, _describe(connection, place, facts), facts["stamps"], limits, clock)
    except BaseException as exc:
        error = _explain(exc, connection, place.given, facts["size"]) if isinstance(exc, apsw.Error) else None
        connection.close()
        if error is None:
            raise
        raise error from exc


def _explain(exc: apsw.Error, connection: apsw.Connection, path: Path, size: int) -> AdfError:
    """A reason in terms of the bytes that were read, `size` of them, where there is one; else what SQLite says."""
    if not isinstance(exc, (apsw.NotADBError, apsw.CorruptError)):
        return translate(exc, path)
    try:
        head = head_of(connection, size)
    except apsw.Error:
        return translate(exc, path)
    if isinstance(exc, apsw.NotADBError):
        return explain_not_a_database(head, size, path)
    return explain_truncation(head, size, path) or translate(exc, path)


def _require_meta(connection: apsw.Connection, place: Place) -> None:
    """Recognise the file by an ordinary table `adf_meta` (STO-001); a view or virtual table is none."""
    for kind, root in connection.execute("SELECT type, rootpage FROM sqlite_schema WHERE name='adf_meta'"):
        if kind == "table" and isinstance(root, int) and root > 0:
            return
    raise NotAnAdfError(
        "a SQLite database, but not an .adf: it has no table adf_meta",
        place.given,
        hint="files made before ADF v0.2 have none either",
    )


def _describe(connection: apsw.Connection, place: Place, facts: dict[str, Any]) -> Source:
    head = head_of(connection, facts["size"], 100)
    count = connection.pragma("page_count")

    def number(offset: int) -> int:
        return int.from_bytes(head[offset : offset + 4], "big")

    return Source(
        path=place.given,
        real_path=place.real,
        size=place.size,
        page_size=page_size_of(head),
        page_count=count if isinstance(count, int) else 0,
        freelist_count=number(36),
        mode=facts["mode"],
        wal_frames=facts["frames"],
        wal_frames_ignored=facts["ignored"],
        wal_end=facts["ended"],
        journal_mode="wal" if head[18:20] == b"\2\2" else "delete",
        hot_journal=facts["hot_journal"],
        application_id=number(68),
        user_version=number(60),
        encoding=_ENCODINGS.get(number(56), ""),
        schema_format=number(44),
        auto_vacuum=number(52) != 0,
        sqlite_version=number(96),
        reserved=head[20],
    )
