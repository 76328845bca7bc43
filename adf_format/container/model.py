"""What a caller may limit, and what it learns about how a file was read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds for reading a file of unknown origin.

    :ivar max_value_bytes: largest text, blob or row SQLite will hand over
    :ivar deadline_s: seconds from opening until every statement is interrupted; None for no deadline
    :ivar max_copy_bytes: largest main file plus log that is copied when a private copy is needed
    :ivar cache_bytes: SQLite's page cache for the file
    :ivar lock_timeout_s: how long to wait for another process's lock (STO-008)
    """

    max_value_bytes: int = 128 * MIB
    deadline_s: float | None = None
    max_copy_bytes: int | None = None
    cache_bytes: int = 16 * MIB
    lock_timeout_s: float = 5.0


@dataclass(frozen=True)
class Source:
    """How a file was read.

    :ivar path: the file as given; :ivar real_path: the file behind symbolic links
    :ivar size: bytes of the main file on disk; :ivar page_size: bytes
    :ivar page_count: pages of the database as read, log included; :ivar freelist_count: free ones of them
    :ivar mode: read in place, or from a private copy (STO-012)
    :ivar wal_frames: committed frames that were seen in the write-ahead log
    :ivar wal_frames_ignored: frames in the log that do not count: uncommitted, torn, stale
    :ivar wal_end: why reading the log ended: `none` (no log), `empty`, `end` (all of it was valid),
        `uncommitted`, `salt`, `checksum`, `page-number`, `header`, `page-size` (a log of another database)
    :ivar journal_mode: as header bytes 18 and 19 say
    :ivar hot_journal: an interrupted transaction was rolled back in the copy
    :ivar reserved: bytes at the end of each page that SQLite leaves alone
    :ivar encoding: `UTF-8`, `UTF-16le`, `UTF-16be`, or `` when the header holds no known one
    """

    path: Path
    real_path: Path
    size: int
    page_size: int
    page_count: int
    freelist_count: int
    mode: Literal["immutable", "private-copy"]
    wal_frames: int
    wal_frames_ignored: int
    wal_end: str
    journal_mode: Literal["wal", "delete"]
    hot_journal: bool
    application_id: int
    user_version: int
    encoding: str
    schema_format: int
    auto_vacuum: bool
    sqlite_version: int
    reserved: int
