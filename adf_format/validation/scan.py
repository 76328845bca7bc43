"""The one scan of a table: each row is fetched and its JSON decoded once, then shown to every check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from adf_format import rows
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode_column
from adf_format.schemas import Table
from adf_format.validation.context import Columns, Context, Visit
from adf_format.validation.faults import guarded, record

SIZES_ONLY = {"adf_files": ("content",), "adf_audit": ("data",)}


def run(context: Context, name: str, visits: list[Visit]) -> None:
    """Scan one table for some checks.

    Columns are those that the file and the applicable schema share, in schema order; the large BLOBs of
    `adf_files` and `adf_audit` appear as their size in bytes.
    """
    table = context.version.tables.get(name)
    actual = context.structure.tables[name]
    if table is None or actual.without_rowid:
        why = "this storage version does not have it" if table is None else "it is a WITHOUT ROWID table"
        context.not_checked(f"rows of {name}", why)
        return
    names = [column.name for column in table.columns if column.name in actual.columns]
    columns = Columns(name, {column: index for index, column in enumerate(names, 1)})
    watchers: dict[Look, _Watcher] = {}
    for visit in visits:
        guarded(context, visit.name, partial(_enter, watchers, visit, context, columns))
    looks = list(watchers)
    decode_row = JsonColumns(context, table, columns).decode
    count = 0
    try:
        for row in rows.scan(context.container.connection, name, names, sizes=SIZES_ONLY.get(name, ())):
            rowid, json = row[0], decode_row(row)
            for look in looks:
                try:
                    look(rowid, row, json)
                except Exception as error:  # noqa: BLE001 - one faulty check must not hide what the others find
                    looks = _leave(context, watchers, look, error)
            count += 1
    finally:
        context.stats.rows[name] = count
    for watcher in watchers.values():
        guarded(context, watcher.name, watcher.finish)


Look = Callable[[int, rows.Row, dict[str, Any]], None]


class _Watcher(NamedTuple):
    name: str
    finish: Callable[[], None]


def _enter(watchers: dict[Look, _Watcher], visit: Visit, context: Context, columns: Columns) -> None:
    check = visit.make(context, columns)
    watchers[check.row] = _Watcher(visit.name, check.finish)


def _leave(context: Context, watchers: dict[Look, _Watcher], look: Look, error: Exception) -> list[Look]:
    """Take a check that failed out of the scan, and return the others.

    :raises MemoryError: that is why it failed
    """
    if isinstance(error, MemoryError):
        raise error
    record(context, watchers.pop(look).name, error)
    return list(watchers)


class JsonColumns:
    """Decodes the JSON columns of a row; what cannot be decoded is kept as the error."""

    def __init__(self, context: Context, table: Table, columns: Columns) -> None:
        self._context = context if table.name == "adf_config" else None
        json = (column.name for column in table.columns if column.is_json)
        self._positions = [(name, columns.position[name]) for name in json if name in columns.position]

    def decode(self, row: rows.Row) -> dict[str, Any]:
        """Return `Decoded` or `JsonTextError` by column, for the columns that hold text."""
        result: dict[str, Decoded | JsonTextError] = {}
        for name, position in self._positions:
            text = row[position]
            if type(text) is str:
                if self._context is not None and text == self._context.config_text:
                    known = self._context.config_decoded  # decoded once for all who ask
                    if known is not None:
                        result[name] = known
                        continue
                try:
                    result[name] = decode_column(text)
                except JsonTextError as error:
                    result[name] = error
        return result
