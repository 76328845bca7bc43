"""The tables of a file, and the values of their rows in an order that does not depend on where they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from adf_format import rows
from adf_format.digest.encoding import Encoded, RowEncoder
from adf_format.digest.streams import STREAMED, streamed
from adf_format.errors import UnreadableError
from adf_format.schemas.ddl import quote_any

MARKER = "adf_clean_close"  # written by every closing, removed by every opening (STO-005)
VIRTUAL = "virtual table"
_OBJECTS = "SELECT name, rootpage > 0 FROM sqlite_schema WHERE type = 'table' ORDER BY name"
_COLUMNS = "SELECT name, pk, upper(type) FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid"
_KEY_INDEX = "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'"  # there is none where the key is the rowid


@dataclass(frozen=True)
class Contents:
    """What tables a file has.

    :ivar tables: those that a digest covers
    :ivar left_out: name and reason of the others
    """

    tables: tuple[str, ...]
    left_out: dict[str, str]


def contents(connection: apsw.Connection) -> Contents:
    """Sort the tables of a file; a virtual table and the tables it keeps its data in are not read (STO-020)."""
    found = list(connection.execute(_OBJECTS))
    left_out = {name: VIRTUAL for name, stored in found if not stored}
    virtual = tuple(left_out)
    tables = []
    for name, stored in found:
        owner = next((one for one in virtual if name.startswith(f"{one}_")), None)
        if not stored:
            continue
        if owner is not None:
            left_out[name] = f"belongs to the virtual table {owner}"
        elif name.startswith("sqlite_") and name != "sqlite_sequence":
            left_out[name] = "made by SQLite"
        else:
            tables.append(name)
    return Contents(tuple(tables), left_out)


@dataclass(frozen=True)
class Layout:
    """How the rows of a table can be had.

    :ivar key: name of the rowid; None where there is none (WITHOUT ROWID) or columns hide it
    :ivar ordered: whether the primary key is the rowid, so that rowid order is the order of the keys
    """

    table: str
    columns: tuple[str, ...]
    key: str | None
    ordered: bool


def layout(connection: apsw.Connection, table: str) -> Layout:
    """Look at the declaration of a table."""
    columns = list(connection.execute(_COLUMNS, (table,)))
    keys = [(name, kind) for name, pk, kind in columns if pk]
    names = tuple(name for name, _, _ in columns)
    key = _rowid(connection, table)
    indexed = connection.execute(_KEY_INDEX, (table,)).get is not None
    return Layout(table, names, key, len(keys) == 1 and keys[0][1] == "INTEGER" and key is not None and not indexed)


def _rowid(connection: apsw.Connection, table: str) -> str | None:
    try:
        key = rows.rowid_of(connection, table)
        connection.execute(f"SELECT {key} FROM {quote_any(table)} LIMIT 0").fetchall()
    except (UnreadableError, apsw.SQLError):
        return None
    return key


def encoded(connection: apsw.Connection, how: Layout, columns: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the bytes of each row, in no particular order unless `how.ordered`."""
    return map(RowEncoder(how.table, columns), _values(connection, how, columns))


def encoded_twice(
    connection: apsw.Connection, how: Layout, columns: tuple[str, ...], without: frozenset[str]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the bytes of each row with and without some columns; the order as in `encoded`."""
    return map(RowEncoder(how.table, columns, without).pair, _values(connection, how, columns))


def _values(connection: apsw.Connection, how: Layout, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row that counts."""
    found = _stored(connection, how, columns)
    if how.table == "adf_meta" and "key" in columns:
        at = columns.index("key")
        return (row for row in found if row[at] != MARKER)
    return found


def _stored(connection: apsw.Connection, how: Layout, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    if how.key is None:
        yield from _raw(connection, how.table, columns)
        return
    large = STREAMED.get(how.table)
    large = large if large in columns else None
    for row in rows.scan(connection, how.table, columns, sizes=(large,) if large else ()):
        if large is None and rows.InvalidText not in map(type, row):
            yield row[1:]
        else:
            yield tuple(_mended(connection, how, columns, row[0], row[1:]))


def _mended(
    connection: apsw.Connection, how: Layout, columns: tuple[str, ...], rowid: int, values: tuple[Any, ...]
) -> Iterator[Any]:
    """Yield the values of a row, with what stands for those that were not fetched."""
    large = STREAMED.get(how.table)
    for column, value in zip(columns, values, strict=True):
        if column == large and value is not None:
            yield _large(connection, how, column, rowid)
        elif isinstance(value, rows.InvalidText):
            yield _raw_text(connection, how, column, rowid)
        else:
            yield value


def _large(connection: apsw.Connection, how: Layout, column: str, rowid: int) -> Any:
    found = streamed(connection, how.table, column, str(how.key), rowid)
    return Encoded(found) if found else rows.value(connection, how.table, column, rowid)


def _raw_text(connection: apsw.Connection, how: Layout, column: str, rowid: int) -> Encoded:
    query = f"SELECT CAST({quote_any(column)} AS BLOB) FROM {quote_any(how.table)} WHERE {how.key} = ?"
    return _not_utf8(connection.execute(query, (rowid,)).get)


def _not_utf8(data: bytes) -> Encoded:
    return Encoded(b"x%d:%b" % (len(data), data))


def _raw(connection: apsw.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Read a table without rowid: texts as bytes, since a row that holds bad text cannot be fetched a second time."""
    encoding = str(connection.pragma("encoding"))
    fields = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END, typeof({name}) = 'text'"
        for name in map(quote_any, columns)
    )
    for row in connection.execute(f"SELECT {fields} FROM {quote_any(table)}"):
        yield tuple(_text(row[at], encoding) if row[at + 1] else row[at] for at in range(0, len(row), 2))


def _text(data: bytes, encoding: str) -> str | Encoded:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _not_utf8(data)
