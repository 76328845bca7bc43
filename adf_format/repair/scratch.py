"""A scratch copy of an open file: SQLite's own temporary database, which nobody else sees and which goes with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import apsw

from adf_format.container import Container, Limits, Source
from adf_format.container.clock import Clock
from adf_format.container.locate import take_stamps
from adf_format.container.policy import authorize_writing, secure

LIMITS = Limits(max_value_bytes=1_000_000_000)


@contextlib.contextmanager
def scratch_copy(connection: apsw.Connection, source: Source) -> Iterator[Container]:
    """Copy what a connection sees into a temporary database that may be changed."""
    copy = apsw.Connection("")
    try:
        with copy.backup("main", connection, "main") as backup:
            backup.step()
        copy.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY").fetchall()
        clock = Clock(source.path, None)
        secure(copy, LIMITS, clock)
        copy.authorizer = authorize_writing
        unnamed = replace(source, mode="private-copy")  # nothing may open the original in its place
        yield Container(copy, unnamed, take_stamps(source.real_path), LIMITS, clock)
    finally:
        copy.close()
