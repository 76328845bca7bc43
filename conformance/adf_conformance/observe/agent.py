"""One agent as its file tells it, at one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from adf_conformance.observe import questions
from adf_conformance.observe.entries import MAIN, Entry, Snapshot, decoded
from adf_conformance.observe.private import Busy, open_private, stable_bytes

Row = dict[str, Any]


class Unreadable(Exception):  # noqa: N818 - a state of a file
    """The file is no database, damaged, or never at rest."""


class AgentFile:
    """A private copy of a file, frames of its log included, read with nothing but SQLite, brotli and JSON.

    Missing tables and columns are empty, so that files of every era can be looked at. Nothing is ever written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            main, log = stable_bytes(path)
            journal = path.with_name(path.name + "-journal")
            self._connection = open_private(main, log, journal.read_bytes() if journal.exists() else b"")
            self._connection.text_factory = lambda raw: raw.decode("utf-8", "surrogatepass")
            self.tables = frozenset(name for (name,) in self._all("SELECT name FROM sqlite_master WHERE type='table'"))
        except (OSError, sqlite3.Error, Busy) as error:
            raise Unreadable(f"{path.name}: {error}") from None

    def close(self) -> None:
        """Let go of the copy."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    # --- tables

    def rows(self, table: str, where: str = "1", parameters: Sequence[Any] = ()) -> list[Row]:
        """Return rows of a table in rowid order; none if the table is missing.

        :raises Unreadable: the table is damaged
        """
        if table not in self.tables:
            return []
        try:
            cursor = self._connection.execute(f'SELECT * FROM "{table}" WHERE {where} ORDER BY rowid', parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]
        except sqlite3.Error as error:
            raise Unreadable(f"{self.path.name}: {table}: {error}") from None

    def query(self, sql: str) -> list[list[Any]]:
        """Answer a question in SQL; `transcript` and `archived` are there as decoded tables, see `questions`.

        :raises Unreadable: the SQL cannot be answered
        """
        try:
            questions.prepare(self._connection, self)
            return [list(row) for row in self._all(sql)]
        except sqlite3.Error as error:
            raise Unreadable(f"{self.path.name}: {error}: {sql}") from None

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a table."""
        return [row[1] for row in self._all(f'PRAGMA table_info("{table}")')]

    def integrity(self) -> str:
        """Return what SQLite says about the soundness of the file; `ok` if it is sound."""
        try:
            return str(self._all("PRAGMA integrity_check(5)")[0][0])
        except sqlite3.Error as error:
            return str(error)

    # --- values

    @cached_property
    def meta(self) -> dict[str, str]:
        """`adf_meta` by key."""
        return {row["key"]: row["value"] for row in self.rows("adf_meta")}

    @property
    def version(self) -> int:
        """Storage version; 0 if none is written (STO-002)."""
        text = self.meta.get("adf_schema_version", self.meta.get("schema_version", ""))
        return int(text) if text.isdecimal() else 0

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration; empty if there is none that can be read."""
        rows = self.rows("adf_config")
        found = decoded(rows[0]["config_json"]) if rows else None
        return found if isinstance(found, dict) else {}

    @property
    def declared_loops(self) -> dict[str, dict[str, Any]]:
        """Inner loops of the configuration by name."""
        loops = self.config.get("loops")
        return {loop["name"]: loop for loop in loops if isinstance(loop, dict)} if isinstance(loops, list) else {}

    @cached_property
    def entries(self) -> list[Entry]:
        """All live entries by seq."""
        return sorted((Entry.of_row(row) for row in self.rows("adf_loop")), key=lambda entry: entry.seq)

    @property
    def loops(self) -> list[str]:
        """Loops that have live entries."""
        return sorted({entry.loop for entry in self.entries})

    def transcript(self, loop: str = MAIN) -> list[Entry]:
        """Return the live transcript of a loop in display order (STO-032)."""
        return sorted((entry for entry in self.entries if entry.loop == loop), key=lambda entry: entry.key)

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        """All snapshots by id."""
        return [Snapshot(row) for row in self.rows("adf_audit")]

    def archived(self, loop: str = MAIN) -> Iterator[tuple[Snapshot, Entry]]:
        """Yield the archived entries of a loop with their snapshot, oldest snapshot first."""
        for snapshot in self.snapshots:
            if snapshot.loop == loop:
                yield from ((snapshot, entry) for entry in snapshot.entries)

    def coverage(self, loop: str = MAIN) -> dict[int, str]:
        """Say for every seq that the loop ever had and that is still known: `loop` (live) or `audit`."""
        known = {entry.seq: "audit" for _, entry in self.archived(loop)}
        return known | {entry.seq: "loop" for entry in self.transcript(loop)}

    @property
    def sequence(self) -> dict[str, int]:
        """High-water marks of the counters."""
        return {row["name"]: row["seq"] for row in self.rows("sqlite_sequence")}

    @cached_property
    def files(self) -> dict[str, Row]:
        """Files inside the agent by path."""
        return {row["path"]: row for row in self.rows("adf_files")}

    @property
    def inbox(self) -> list[Row]:
        """Received messages."""
        return self.rows("adf_inbox")

    @property
    def outbox(self) -> list[Row]:
        """Sent messages."""
        return self.rows("adf_outbox")

    @property
    def timers(self) -> list[Row]:
        """Timers, schedule and scope decoded."""
        found = self.rows("adf_timers")
        return [row | {"schedule": decoded(row["schedule_json"]), "scope": decoded(row["scope"])} for row in found]

    @property
    def tasks(self) -> list[Row]:
        """Tasks."""
        return self.rows("adf_tasks")

    def logs(self, event: str | None = None) -> list[Row]:
        """Return the log, or the lines of one event."""
        return [row for row in self.rows("adf_logs") if event in {None, row.get("event")}]

    def checkpoint(self, loop: str = MAIN) -> dict[str, Any] | None:
        """Return the record of the newest turn of a loop (LOOP-270)."""
        key = "adf_runtime_turn_checkpoint" + ("" if loop == MAIN else f":{loop}")
        found = decoded(self.meta.get(key))
        return found if isinstance(found, dict) else None
