"""Rows of small tables for the page: the newest ones, whatever they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from adf_format import rows
from adf_format.inspection.file import File, whole
from adf_format.jsontext import decode_or_error
from adf_format.schemas.ddl import quote_any

Row = dict[str, Any]


def newest(file: File, table: str, columns: Sequence[str], *, by: str, limit: int) -> tuple[list[Row], int]:
    """Return the last rows of a table by a column, in ascending order, and how many rows there are in all.

    Columns that the table does not have are left out of the rows.

    :raises MissingError: there is no such table
    """
    file.need(table)
    names = [name for name in columns if file.has(table, name)]
    key = rows.rowid_of(file.connection, table)
    order = f"{quote_any(by)} DESC, {key} DESC" if file.has(table, by) else f"{key} DESC"
    query = f"SELECT {key} FROM {quote_any(table)} ORDER BY {order} LIMIT {limit:d}"
    rowids = [rowid for (rowid,) in file.connection.execute(query)]
    total = whole(file.one(f"SELECT count(*) FROM {quote_any(table)}"))
    return [_row(file, table, key, names, rowid) for rowid in reversed(rowids)], total


def _row(file: File, table: str, key: str, names: list[str], rowid: int) -> Row:
    fields = ", ".join(map(quote_any, names)) or "NULL"
    query = f"SELECT {fields} FROM {quote_any(table)} WHERE {key} = ?"
    try:
        found = file.connection.execute(query, (rowid,)).fetchone() or ()
        return dict(zip(names, found, strict=False))
    except (UnicodeDecodeError, apsw.TooBigError):
        return {name: rows.value(file.connection, table, name, rowid) for name in names}


def shown(value: Any) -> str:
    """Return a value of any type as text; None as an empty one."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bytes():
            return f"({len(value):,} bytes)"
        case rows.InvalidText():
            return f"(not UTF-8, {value.size:,} bytes)"
        case rows.Oversize():
            return f"(too large to be read: {value.size:,} bytes)"
    return str(value)


def number(value: Any) -> int | None:
    """Return an integer, None for everything else."""
    return value if type(value) is int else None


def parsed(value: Any) -> Any:
    """Return decoded JSON, None if a value is none."""
    if not isinstance(value, str) or not value:
        return None
    found = decode_or_error(value)
    return getattr(found, "value", None)
