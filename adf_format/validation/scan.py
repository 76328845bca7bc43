"""The one scan of a table: each row is fetched and its JSON decoded once, then shown to every check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from adf_format import rows
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode_column
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
    json_columns = _json_columns(table, columns)
    count = 0
    try:
        for row in rows.scan(context.container.connection, name, names, sizes=SIZES_ONLY.get(name, ())):
            rowid = row[0]
            json: dict[str, Any] = _configuration(context, columns, row) if name == "adf_config" else {}
            for column, position in json_columns:
                text = row[position]
                if type(text) is str:
                    try:
                        json[column] = decode_column(text)
                    except JsonTextError as error:
                        json[column] = error
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


def _json_columns(table: Table, columns: Columns) -> list[tuple[str, int]]:
    """Return name and position of the columns that hold JSON; the configuration is decoded by the context."""
    json = (column.name for column in table.columns if column.is_json and table.name != "adf_config")
    return [(name, columns.position[name]) for name in json if name in columns.position]


def _configuration(context: Context, columns: Columns, row: rows.Row) -> dict[str, Any]:
    """Return the configuration as it was decoded once for all who ask, for the row that holds it."""
    position = columns.position.get("config_json")
    if position is None or row[position] != context.config_text or context.config_decoded is None:
        return {}
    return {"config_json": context.config_decoded}
