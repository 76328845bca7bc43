"""Rows of one table, streamed in rowid order, whatever a hostile file holds.

A plain SELECT is the fast path. A row that cannot be fetched that way (text that is not UTF-8, a value above the
length limit) is fetched again column by column, and the value that is at fault is replaced by a marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import apsw

from adf_format.errors import UnreadableError
from adf_format.schemas.ddl import quote_any, rowid_name

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

    :ivar size: bytes stored, or the limit where they are not known
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
    key = rowid_of(connection, table)
    source = f"FROM {quote_any(table)}"
    select = f"{_select(key, tuple(columns), tuple(sizes))} {source}"
    after = _Position(key)
    while True:
        try:
            row = None
            try:
                for row in connection.execute(f"{select}{after.where} ORDER BY {key}", after.bindings):
                    yield row
            finally:
                if row is not None:
                    after.rowid = row[0]
        except (UnicodeDecodeError, apsw.TooBigError):
            query = f"SELECT {key} {source}{after.where} ORDER BY {key} LIMIT 1"
            after.rowid = rowid = connection.execute(query, after.bindings).get
            if rowid is None:
                return
            one = f"{source} WHERE {key} = ?"
            yield rowid, *(_value(connection, one, column, rowid, size=column in sizes) for column in columns)
        else:
            return


@lru_cache(maxsize=64)
def _select(key: str, columns: tuple[str, ...], sizes: tuple[str, ...]) -> str:
    return f"SELECT {', '.join([key, *(_size(name) if name in sizes else quote_any(name) for name in columns)])}"


@dataclass(slots=True)
class _Position:
    """How far a scan has come."""

    key: str
    rowid: int | None = None

    @property
    def where(self) -> str:
        return "" if self.rowid is None else f" WHERE {self.key} > ?"

    @property
    def bindings(self) -> tuple[int, ...]:
        return () if self.rowid is None else (self.rowid,)


def value(connection: apsw.Connection, table: str, column: str, rowid: int, *, size: bool = False) -> Any:
    """Fetch one value of one row, or the marker that says why it cannot be had."""
    where = f"FROM {quote_any(table)} WHERE {rowid_of(connection, table)} = ?"
    return _value(connection, where, column, rowid, size=size)


def _value(connection: apsw.Connection, where: str, column: str, rowid: int, *, size: bool) -> Any:
    wanted = _size(column) if size else quote_any(column)
    try:
        return connection.execute(f"SELECT {wanted} {where}", (rowid,)).get
    except UnicodeDecodeError:
        return InvalidText(_length(connection, where, column, rowid))
    except apsw.TooBigError:
        length = _length(connection, where, column, rowid)
        return length if size else Oversize(length)


def _length(connection: apsw.Connection, where: str, column: str, rowid: int) -> int:
    try:
        length: int = connection.execute(f"SELECT {_size(column)} {where}", (rowid,)).get
    except apsw.TooBigError:  # a limit below the page size: SQLite does not even tell the size
        return connection.limit(apsw.SQLITE_LIMIT_LENGTH)
    return length


_ROWIDS: WeakKeyDictionary[apsw.Connection, dict[str, str | None]] = WeakKeyDictionary()


def know_rowids(connection: apsw.Connection, names: Mapping[str, str | None]) -> None:
    """Say by which name the rowid of some tables can be had, for a caller who knows their columns (`rowid_name`)."""
    _ROWIDS.setdefault(connection, {}).update(names)


def rowid_of(connection: apsw.Connection, table: str) -> str:
    """Return the name by which the rowid of a table can be had; a column of a hostile table may take one.

    :raises UnreadableError: columns take all three
    """
    known = _ROWIDS.setdefault(connection, {})
    if table not in known:
        query = "SELECT name FROM pragma_table_xinfo(?)"
        known[table] = rowid_name(name for (name,) in connection.execute(query, (table,)))
    name = known[table]
    if name is None:
        raise UnreadableError("columns hide the rowid", place=table)
    return name


def _size(column: str) -> str:
    return f"octet_length({quote_any(column)})"
