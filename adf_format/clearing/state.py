"""What a clear needs to know of a file, and how it writes a snapshot into it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw

from adf_format.clearing.archive import Archive
from adf_format.clearing.policy import archived_sources
from adf_format.container import stored_version
from adf_format.errors import NewerSchemaError, UnreadableError, UsageError
from adf_format.schemas import LATEST, OLDEST

RANGES_FROM = 28  # adf_audit has seqs instead of times, and the transcript an order of its own
LOOPS_FROM = 29
UNARCHIVED = "what cannot be archived is not deleted; repair it, or turn off its audit"


@dataclass(frozen=True)
class State:
    """An open file.

    :ivar version: its storage version
    """

    connection: apsw.Connection
    version: int

    @classmethod
    def of(cls, connection: apsw.Connection) -> State:
        """Look at a file.

        :raises UnreadableError: it names no version, or one from before the described ones
        """
        version = stored_version(connection)
        if version is None:
            raise UnreadableError("it names no storage version", place="adf_meta")
        if version > LATEST:
            raise NewerSchemaError(f"storage version {version} is newer than {LATEST}, the newest this tool knows")
        if version < OLDEST:
            raise UnreadableError(f"storage version {version} is older than {OLDEST}", hint="migrate it first")
        return cls(connection, version)

    @cached_property
    def archived(self) -> dict[str, bool]:
        """Which sources are archived; read when somebody asks, since only then it matters.

        :raises PolicyError: nobody can tell
        """
        return archived_sources(self.connection)

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns; none if there is no such table."""
        return frozenset(name for (name,) in self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))

    def require(self, table: str, *columns: str) -> None:
        """Refuse a file in which something is missing.

        :raises UnreadableError: a column is
        """
        missing = [name for name in columns if name not in self.columns(table)]
        if missing:
            raise UnreadableError(
                f"column {missing[0]} is missing", place=table, hint="`adf-format validate` says more"
            )

    def archive(self, source: str, snapshot: Archive, period: tuple[int, int]) -> int:
        """Write a snapshot in the columns of this version, and return its id.

        :param period: times of the first and last entry; only used below 28 (AUD-013)
        """
        columns = {"source": source, "entry_count": snapshot.entry_count, "size_bytes": snapshot.size_bytes}
        if self.version >= RANGES_FROM:
            columns |= {"start_seq": snapshot.start_seq, "end_seq": snapshot.end_seq, "ref": None}
        else:
            columns |= {"start_at": period[0], "end_at": period[1]}
        columns |= {"data": snapshot.data, "created_at": time.time_ns() // 1_000_000}
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        self.connection.execute(f"INSERT INTO adf_audit ({names}) VALUES ({marks})", tuple(columns.values()))
        return self.connection.last_insert_rowid()


def period(times: Iterable[Any]) -> tuple[int, int]:
    """Return the first and the last of some times; 0 for one that is none."""
    found = [time if isinstance(time, int) else 0 for time in times]
    return found[0], found[-1]


def unknown_loop(name: str, known: frozenset[str]) -> UsageError:
    """Return the error for a loop that is not there."""
    names = ", ".join(sorted(known))
    return UsageError(f"there is no loop {name!a:.60}", hint=f"there are {names}")
