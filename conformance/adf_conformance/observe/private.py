"""A private copy of a file that may be in use, with the frames of its write-ahead log, leaving no trace."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from pathlib import Path

ATTEMPTS = 200
PAUSE = 0.005  # seconds between attempts while a writer is at work
HEADER = b"SQLite format 3\0"


class Busy(Exception):  # noqa: N818 - a state, not an error
    """The file changed at every look: a writer never paused."""


def stable_bytes(path: Path) -> tuple[bytes, bytes]:
    """Return the bytes of a file and of its write-ahead log, both of one moment.

    Both are read twice; equal bytes mean that no writer and no checkpoint came in between. No lock is taken and SQLite
    does not see the original, so neither `-wal` nor `-shm` appears or changes.

    :raises Busy: they never held still
    """
    log = path.with_name(path.name + "-wal")
    before = _both(path, log)
    for _ in range(ATTEMPTS):
        after = _both(path, log)
        if before == after:
            return after
        before = after
        time.sleep(PAUSE)
    raise Busy(f"{path.name} never held still")


def _both(path: Path, log: Path) -> tuple[bytes, bytes]:
    main = path.read_bytes()
    return main, log.read_bytes() if log.exists() else b""


def open_private(main: bytes, log: bytes, journal: bytes = b"") -> sqlite3.Connection:
    """Open bytes of a file and its log as a database of our own.

    :raises sqlite3.DatabaseError: they are no database
    """
    if not log and not journal:
        return _in_memory(main)
    with tempfile.TemporaryDirectory(prefix="adf-observe-") as place:
        copy = Path(place, "copy.adf")
        copy.write_bytes(main)
        for ending, content in (("-wal", log), ("-journal", journal)):
            if content:
                copy.with_name(copy.name + ending).write_bytes(content)
        with sqlite3.connect(copy, check_same_thread=False) as source:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            source.backup(connection)
        source.close()
    return connection


def _in_memory(main: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    if not main.startswith(HEADER):
        raise sqlite3.DatabaseError("file is not a database")
    # A database in memory cannot be in WAL mode: bytes 18 and 19 say which mode the file is in.
    connection.deserialize(main[:18] + b"\1\1" + main[20:])
    return connection
