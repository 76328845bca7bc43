"""Faults of single column values, read off the table schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from adf_format.schemas import Column, Table, storage_version
from mutation.bench import redeclare, sample, set_raw
from mutation.fault import Fault
from mutation.json_faults import of_value
from mutation.values import Node, applicable

CLASSES: dict[str, list[tuple[str, Any]]] = {
    "INTEGER": [("TEXT", "text"), ("REAL", 1.5), ("BLOB", b"\x01")],
    "TEXT": [("INTEGER", 7), ("REAL", 1.5), ("BLOB", b"text")],
    "BLOB": [("TEXT", "text"), ("INTEGER", 7), ("REAL", 1.5)],
}


def row_faults(version: int) -> Iterator[Fault]:
    """Yield the faults of one row of every table of the rich sample."""
    connection = apsw.Connection(str(sample(version)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        for table in storage_version(version).tables.values():
            assert connection.execute(f"SELECT count(*) FROM {table.name}").get, f"the sample has no {table.name}"
            for column in table.columns:
                yield from _of_column(connection, table, column)
            yield from _of_key(connection, table)
    finally:
        connection.close()


def _of_column(connection: apsw.Connection, table: Table, column: Column) -> Iterator[Fault]:
    rowid, value = _row(connection, table, column)
    place = f"{table.name}.{column.name}"
    key = column.primary_key and column.type == "INTEGER"
    if not key:
        for name, wrong in CLASSES[column.type]:
            yield _raw(f"class/{place}/{name}", table, column, rowid, wrong)
    if column.not_null or (column.primary_key and not key):
        yield _raw(f"null/{place}", table, column, rowid, None)
    if column.type == "TEXT":
        yield _raw(f"utf8/{place}", table, column, rowid, _NOT_UTF8)
    if value is None or column.type == "BLOB":
        return
    for kind, wrong in _wrong_values(Node(table.urn, column.schema), value):
        yield _update(f"{kind}/{place}", table, column, rowid, wrong)
    for kind, wrong in _by_unit(column):
        yield _update(f"{kind}/{place}", table, column, rowid, wrong)
    if column.schema.get("x-adf-known"):
        yield _update(f"open-set/{place}", table, column, rowid, "unheard-of")


_NOT_UTF8 = object()


def _row(connection: apsw.Connection, table: Table, column: Column) -> tuple[int, Any]:
    """Return the first row that has a value in a column, else the first row."""
    query = f'SELECT rowid, "{column.name}" FROM {table.name} ORDER BY "{column.name}" IS NULL, rowid LIMIT 1'
    rowid, value = connection.execute(query).fetchone()
    return rowid, value


def _wrong_values(node: Node, value: Any) -> Iterator[tuple[str, Any]]:
    for kind, change in of_value(list(applicable(node, value)), value):
        if not kind.startswith(("type:", "null")):
            yield kind, change(value)


def _by_unit(column: Column) -> Iterator[tuple[str, Any]]:
    if column.unit == "boolean":
        yield "flag", 2
        yield "flag-negative", -1
    elif column.unit == "epoch-ms":
        yield "time-negative", -5
    elif column.unit == "iso-8601":
        yield "time-words", "yesterday"
        yield "time-local", "2026-01-01 00:00:00"


def _of_key(connection: apsw.Connection, table: Table) -> Iterator[Fault]:
    key = table.primary_key
    place = f"{table.name}.{key.name}"
    rowid = connection.execute(f"SELECT min(rowid) FROM {table.name}").get
    if key.type == "INTEGER":
        yield _update(f"key-zero/{place}", table, key, rowid, 0)
        yield _update(f"key-negative/{place}", table, key, rowid, -1)
    else:
        yield _update(f"key-empty/{place}", table, key, rowid, "")
        yield Fault(f"rows/key-twice/{place}", lambda found: _twice(found, table), (table.name,))


def _twice(connection: apsw.Connection, table: Table) -> None:
    """Store a row a second time, past the uniqueness of its key."""
    declared = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table.name,)).get
    listed = connection.execute(
        "SELECT rowid, name, tbl_name, rootpage FROM sqlite_schema WHERE name = ?",
        (f"sqlite_autoindex_{table.name}_1",),
    ).fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (listed[1],))
    redeclare(connection, table.name, declared.replace(" PRIMARY KEY", "", 1))
    connection.execute(f"INSERT INTO {table.name} SELECT * FROM {table.name} LIMIT 1")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "INSERT INTO sqlite_schema (rowid, type, name, tbl_name, rootpage) VALUES (?, 'index', ?, ?, ?)", listed
    )
    redeclare(connection, table.name, declared)


def _raw(name: str, table: Table, column: Column, rowid: int, value: Any) -> Fault:
    def change(connection: apsw.Connection) -> None:
        if value is _NOT_UTF8:
            sql = f"UPDATE {table.name} SET \"{column.name}\" = CAST(x'68e46c6c6f' AS TEXT) WHERE rowid = ?"
            connection.execute(sql, (rowid,))
        else:
            set_raw(connection, table.name, column.name, rowid, value)

    return Fault(f"rows/{name}", change, (table.name,), column.name, rowid=rowid)


def _update(name: str, table: Table, column: Column, rowid: int, value: Any) -> Fault:
    sql = f'UPDATE {table.name} SET "{column.name}" = ? WHERE rowid = ?'
    return Fault(
        f"rows/{name}",
        lambda connection: connection.execute(sql, (value, rowid)),
        (table.name,),
        column.name,
        rowid=value if column.primary_key and column.type == "INTEGER" else rowid,
    )
