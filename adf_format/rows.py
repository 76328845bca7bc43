"""Rows of one table, streamed in rowid order, whatever a hostile file holds.

A plain SELECT is the fast path. A row that cannot be fetched that way (text that is not UTF-8, a value above the
length limit) is fetched again column by column, and the value that is at fault is replaced by a marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from adf_format.errors import UnreadableError
from adf_format.schemas.ddl import quote_any

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class InvalidText:
    """A TEXT value that is not UTF-8.

    :ivar size: bytes stored
    """

    size: int


@dataclass(frozen=True, slots=True)
class Oversize:
    """A value above the length limit of the connection; it was not fetched.

    :ivar size: bytes stored
    """

    size: int


def scan(
    connection: apsw.Connection, table: str, columns: Sequence[str], *, sizes: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield `(rowid, *columns)` of an ordinary rowid table in rowid order.

    :param columns: column names, in the order wanted
    :param sizes: those of `columns` of which only the size in bytes is wanted (large BLOBs)
    :raises apsw.Error: the file is damaged
    :raises UnreadableError: the rowid cannot be read, or a deadline passed
    """
    rowid = rowid_of(connection, table)
    fields = [_size(name) if name in sizes else quote_any(name) for name in columns]
    select = f"SELECT {rowid}, {', '.join(fields)} FROM {quote_any(table)}"
    last: int | None = None
    while True:
        where, bindings = ("", ()) if last is None else (f" WHERE {rowid} > ?", (last,))
        try:
            for row in connection.execute(f"{select}{where} ORDER BY {rowid}", bindings):
                last = row[0]
                yield row
        except (UnicodeDecodeError, apsw.TooBigError):
            found = _careful(connection, table, columns, frozenset(sizes), where, bindings)
            if found is None:
                return
            last = found[0]
            yield found
        else:
            return


def _careful(
    connection: apsw.Connection,
    table: str,
    columns: Sequence[str],
    sizes: frozenset[str],
    where: str,
    bindings: tuple[int, ...],
) -> Row | None:
    key = rowid_of(connection, table)
    rowid = connection.execute(f"SELECT {key} FROM {quote_any(table)}{where} ORDER BY {key} LIMIT 1", bindings).get
    if rowid is None:
        return None
    return (rowid, *(value(connection, table, column, rowid, size=column in sizes) for column in columns))


def value(connection: apsw.Connection, table: str, column: str, rowid: int, *, size: bool = False) -> Any:
    """Fetch one value of one row, or the marker that says why it cannot be had."""
    where = f"FROM {quote_any(table)} WHERE {rowid_of(connection, table)} = ?"
    length = connection.execute(f"SELECT {_size(column)} {where}", (rowid,)).get
    if size:
        return length
    try:
        return connection.execute(f"SELECT {quote_any(column)} {where}", (rowid,)).get
    except UnicodeDecodeError:
        return InvalidText(length)
    except apsw.TooBigError:
        return Oversize(length)


def rowid_of(connection: apsw.Connection, table: str) -> str:
    """Return the name by which the rowid of a table can be had; a column of a hostile table may take one.

    :raises UnreadableError: columns take all three
    """
    columns = {name.lower() for (name,) in connection.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))}
    for name in ("rowid", "_rowid_", "oid"):
        if name not in columns:
            return name
    raise UnreadableError("columns hide the rowid", place=table)


def _size(column: str) -> str:
    return f"octet_length({quote_any(column)})"
