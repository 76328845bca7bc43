"""The old file against the new one, value by value: every difference must be one that a rule asked for.

The comparison is SQLite's own, over both files at once, so it needs no hash and trusts nothing of what the steps say
they did: what it finds is held against the record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from adf_format import rows
from adf_format.container import Container
from adf_format.errors import UnreadableError, VerificationError
from adf_format.jsontext import decode
from adf_format.migration.jsondiff import differences
from adf_format.migration.record import Record
from adf_format.schemas.ddl import quote_any

_SHOWN = 3


@dataclass(frozen=True)
class Difference:
    """One difference: a table, an index, a column or a row that is new, gone or changed."""

    kind: str
    table: str
    key: Any = None
    column: str | None = None

    def __str__(self) -> str:
        where = f" {self.key!a}" if self.key is not None else ""
        return f"{self.kind} in {self.table}{where}{f' ({self.column})' if self.column else ''}"


def demand_explained(fresh: Container, old: Path, record: Record) -> None:
    """Compare a file with what it was before.

    :param fresh: the new file
    :param old: the old one, which nobody writes to
    :raises VerificationError: a difference that the record does not explain
    """
    with attached(fresh.connection, old):
        found = list(unexplained(fresh.connection, record))
    if found:
        more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        text = "; ".join(map(str, found[:_SHOWN]))
        raise VerificationError(f"the migration changed what it should not: {text}{more}", fresh.source.path)


@contextlib.contextmanager
def attached(connection: apsw.Connection, old: Path) -> Iterator[None]:
    """Attach a file as `old`, read-only and without locks."""
    before = connection.authorizer
    connection.authorizer = None
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)
    try:
        connection.execute("ATTACH ? AS old", (f"{old.absolute().as_uri()}?immutable=1",))
        yield
    finally:
        with contextlib.suppress(apsw.Error):
            connection.execute("DETACH old")
        connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
        connection.authorizer = before


def unexplained(connection: apsw.Connection, record: Record) -> Iterator[Difference]:
    """Yield the differences between `old` and `main` that no rule asked for."""
    known = _Known(record)
    for found in all_differences(connection, known):
        if not known.explains(found):
            yield found


class _Known:
    """The record, as sets to look differences up in."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.things = {(touch.kind, touch.table, touch.key, touch.column) for touch in record.touches}
        self.whole_rows = {(touch.kind, touch.table, touch.key) for touch in record.touches}
        self.growing = {touch.table for touch in record.touches if touch.kind == "row-added"}
        self.values = {
            (touch.table, str(touch.column)): touch.after
            for touch in record.touches
            if touch.kind == "column-added" and (touch.table, touch.column) not in record.derived
        }
        self.pointers = {touch.pointer for touch in record.touches if touch.table == "adf_config"}

    def explains(self, found: Difference) -> bool:
        if found.table == "sqlite_sequence":
            return found.key in self.growing
        if found.kind in ("row-added", "row-removed", "table-added", "table-dropped"):
            return (found.kind, found.table, found.key) in self.whole_rows
        return (found.kind, found.table, found.key, found.column) in self.things


def all_differences(connection: apsw.Connection, known: _Known) -> Iterator[Difference]:
    """Yield all differences in schema, rows, added columns and the configuration."""
    old, new = _tables(connection, "old"), _tables(connection, "main")
    yield from (Difference("table-dropped", name) for name in sorted(old - new))
    yield from (Difference("table-added", name) for name in sorted(new - old))
    yield from _other_objects(connection, old & new)
    for table in sorted(old & new):
        yield from _Table(connection, table).differences(known)
    yield from _configuration(connection, known)


def _tables(connection: apsw.Connection, schema: str) -> set[str]:
    query = f"SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' AND rootpage > 0"
    return {str(name) for (name,) in connection.execute(query) if name not in ("sqlite_stat1", "sqlite_stat4")}


def _other_objects(connection: apsw.Connection, tables: set[str]) -> Iterator[Difference]:
    """Yield what happened to indexes, views, triggers and virtual tables; views and triggers never change."""
    query = "SELECT type, name, tbl_name, sql FROM {}.sqlite_schema WHERE NOT (type = 'table' AND rootpage > 0)"
    old = set(connection.execute(query.format("old")))
    new = set(connection.execute(query.format("main")))
    for found, kind in ((old - new, "dropped"), (new - old, "added")):
        for what, name, table, _ in sorted(found, key=str):
            if table in tables or what not in ("index", "trigger"):
                yield Difference(
                    f"index-{kind}" if what in ("index", "trigger") else f"{what}-{kind}", table, None, name
                )


class _Table:
    """One table that both files have."""

    def __init__(self, connection: apsw.Connection, table: str) -> None:
        self.connection = connection
        self.table = table
        self.name = quote_any(table)
        self.old = self._columns("old")
        self.new = self._columns("main")
        self.common = [column for column in self.old if column in self.new]

    def differences(self, known: _Known) -> Iterator[Difference]:
        for column in self.old:
            if column not in self.new:
                yield Difference("column-dropped", self.table, None, column)
        for column in self.new:
            if column not in self.old:
                yield from self._added(column, known)
        join = self._join()
        if join is None:
            yield from self._as_sets()
            return
        on, key = join
        yield from self._changed(on, key)
        for kind, one, other in (("row-removed", "old", "main"), ("row-added", "main", "old")):
            query = (
                f"SELECT {key} FROM {one}.{self.name} o"
                f" WHERE NOT EXISTS (SELECT 1 FROM {other}.{self.name} n WHERE {on})"
            )
            yield from (Difference(kind, self.table, found) for (found,) in self.connection.execute(query))

    def _columns(self, schema: str) -> dict[str, int]:
        query = "SELECT name, pk FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1"
        return {str(name): pk for name, pk in self.connection.execute(query, (self.table, schema))}

    def _join(self) -> tuple[str, str] | None:
        """Return the condition that makes two rows the same row, and the key that names it."""
        keys = [column for column, pk in self.old.items() if pk]
        key = f"o.{quote_any(keys[0])}" if len(keys) == 1 else None
        if self.table == "sqlite_sequence":
            return "o.name = n.name", "o.name"
        try:
            rowid = rows.rowid_of(self.connection, self.table)
            self.connection.execute(f"SELECT {rowid} FROM main.{self.name} LIMIT 0").fetchall()
        except (UnreadableError, apsw.SQLError):
            if not keys:
                return None
            on = " AND ".join(f"o.{column} = n.{column}" for column in map(quote_any, keys))
            return on, key or f"o.{quote_any(keys[0])}"
        return f"o.{rowid} = n.{rowid}", key or f"o.{rowid}"

    def _changed(self, on: str, key: str) -> Iterator[Difference]:
        """Yield each value that differs; type and bytes count, whatever collation a column asks for."""
        if not self.common:
            return
        tests = [
            f"(o.{c} COLLATE BINARY IS NOT n.{c} COLLATE BINARY OR typeof(o.{c}) <> typeof(n.{c}))"
            for c in map(quote_any, self.common)
        ]
        query = (
            f"SELECT {key}, {', '.join(tests)} FROM old.{self.name} o JOIN main.{self.name} n ON {on}"
            f" WHERE {' OR '.join(tests)}"
        )
        for found, *differs in self.connection.execute(query):
            for column, differing in zip(self.common, differs, strict=True):
                if differing:
                    yield Difference("row-changed", self.table, found, column)

    def _added(self, column: str, known: _Known) -> Iterator[Difference]:
        """Yield a new column, and rows in which it does not hold what the record says."""
        yield Difference("column-added", self.table, None, column)
        place = (self.table, column)
        if place in known.values and self.table not in known.growing:
            query = f"SELECT count(*) FROM main.{self.name} WHERE {quote_any(column)} IS NOT ?"
            if self.connection.execute(query, (known.values[place],)).get:
                yield Difference("value of a new column", self.table, None, column)
        if self.table == "adf_audit" and place in known.record.derived:
            query = f"SELECT id, {quote_any(column)} FROM main.adf_audit"
            for number, value in self.connection.execute(query):
                snapshot = known.record.snapshots.get(number)
                if snapshot is not None and getattr(snapshot, column, None) != value:
                    yield Difference("value of a new column", self.table, number, column)

    def _as_sets(self) -> Iterator[Difference]:
        """Compare rows that nothing names."""
        names = ", ".join(map(quote_any, self.common))
        for one, other in (("old", "main"), ("main", "old")):
            there, here = (f"SELECT {names} FROM {schema}.{self.name}" for schema in (one, other))
            if self.connection.execute(f"SELECT count(*) FROM ({there} EXCEPT {here})").get:
                yield Difference("row-changed", self.table)


def _configuration(connection: apsw.Connection, known: _Known) -> Iterator[Difference]:
    """Yield the places in the configuration that differ and that no rule names."""
    query = "SELECT config_json FROM {}.adf_config WHERE id = 1"
    try:
        old, new = (connection.execute(query.format(schema)).get for schema in ("old", "main"))
    except (apsw.SQLError, UnicodeDecodeError):
        return
    if old == new or not isinstance(old, str) or not isinstance(new, str):
        return
    for pointer, _, _ in differences(decode(old).value, decode(new).value):
        if not any(
            pointer == one or (one and pointer.startswith(f"{one}/")) for one in known.pointers if one is not None
        ):
            yield Difference("configuration changed", "adf_config", 1, pointer)
