"""What a file says, read by a plain SQLite connection that shares no code with the validator."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple


class Cell(NamedTuple):
    """One difference between two files."""

    table: str
    column: str
    before: object
    after: object


Rows = dict[int, tuple[object, ...]]


class Logical(NamedTuple):
    """The declarations of a file, and the rows of each table by rowid."""

    declarations: tuple[tuple[object, ...], ...]
    tables: dict[str, tuple[tuple[str, ...], Rows]]


def read(path: Path) -> Logical:
    """Read everything; texts as bytes, so that nothing is decoded.

    :raises sqlite3.DatabaseError: SQLite cannot read it
    """
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        listed = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").fetchall()
        names = [name.decode() for kind, name, _, _ in listed if kind == b"table"]
        return Logical(tuple(listed), {name: _rows(connection, name) for name in names})
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, table: str) -> tuple[tuple[str, ...], Rows]:
    cursor = connection.execute(f'SELECT rowid, * FROM "{table}" NOT INDEXED')
    columns = tuple(
        column[0].decode() if isinstance(column[0], bytes) else column[0] for column in cursor.description[1:]
    )
    return columns, {row[0]: row[1:] for row in cursor}


def differences(before: Logical, after: Logical) -> list[Cell] | None:
    """Return the values that differ; None if more than values do (declarations, tables, rows, storage classes)."""
    if before.declarations != after.declarations or before.tables.keys() != after.tables.keys():
        return None
    found = []
    for table, (columns, rows) in before.tables.items():
        others = after.tables[table][1]
        if rows.keys() != others.keys():
            return None
        for rowid, row in rows.items():
            for column, one, other in zip(columns, row, others[rowid], strict=True):
                if type(one) is not type(other):
                    return None
                if one != other:
                    found.append(Cell(table, column, one, other))
    return found
