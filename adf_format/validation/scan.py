"""The one scan of a table: each row is fetched and its JSON decoded once, then shown to every check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from adf_format import rows
from adf_format.jsontext import Decoded, decode_or_error, decode_sure
from adf_format.schemas import Column
from adf_format.schemas.tables import load
from adf_format.validation.context import Batch, Columns, Context, Visit
from adf_format.validation.faults import guarded, record

MANY = 64  # rows that are decoded and shown together
HEAVY = 1 << 20  # characters of text after which a group is full
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
    plan = _plan(table.urn, tuple(column.name for column in table.columns if column.name in actual.columns))
    watchers: dict[Look, _Watcher] = {}
    for visit in visits:
        guarded(context, visit.name, partial(_enter, watchers, visit, context, plan.columns))
    found = rows.scan(context.container.connection, name, plan.names, sizes=SIZES_ONLY.get(name, ()))
    context.stats.rows[name] = 0
    for batch in _batches(context, plan, found):
        for look, watcher in tuple(watchers.items()):
            try:
                if watcher.batch is None or not watcher.batch(batch):
                    for row, json in zip(batch.rows, batch.json, strict=True):
                        look(row[0], row, json)
            except Exception as error:  # noqa: BLE001 - one faulty check must not hide what the others find
                _leave(context, watchers, look, error)
        context.stats.rows[name] += len(batch.rows)
    for watcher in watchers.values():
        guarded(context, watcher.name, watcher.finish)


@dataclass(frozen=True)
class Plan:
    """How to read the rows of one table: worked out once per table and set of columns.

    :ivar names: columns to fetch, in schema order
    :ivar heavy: positions of the texts that may be long
    :ivar json: name and position of the columns that hold JSON; the configuration is decoded by the context
    """

    names: tuple[str, ...]
    columns: Columns
    heavy: tuple[int, ...]
    json: tuple[tuple[str, int], ...]


@lru_cache(maxsize=256)
def _plan(urn: str, names: tuple[str, ...]) -> Plan:
    table = load(urn)
    numbered = [(table.column[name], position) for position, name in enumerate(names, 1)]
    heavy = tuple(position for column, position in numbered if _may_be_long(column))
    json = tuple((column.name, at) for column, at in numbered if column.is_json and table.name != "adf_config")
    position = {column.name: at for column, at in numbered}
    return Plan(names, Columns(table.name, MappingProxyType(position)), heavy, json)


Look = Callable[[int, rows.Row, dict[str, Any]], None]


class _Watcher(NamedTuple):
    name: str
    batch: Callable[[Batch], bool] | None
    finish: Callable[[], None]


def _enter(watchers: dict[Look, _Watcher], visit: Visit, context: Context, columns: Columns) -> None:
    check = visit.make(context, columns)
    watchers[check.row] = _Watcher(visit.name, getattr(check, "batch", None), check.finish)


def _leave(context: Context, watchers: dict[Look, _Watcher], look: Look, error: Exception) -> None:
    """Take a check that failed out of the scan; the others go on.

    :raises MemoryError: that is why it failed
    """
    if isinstance(error, MemoryError):
        raise error
    record(context, watchers.pop(look).name, error)


def _batches(context: Context, plan: Plan, found: Iterable[rows.Row]) -> Iterator[Batch]:
    """Yield the rows in groups of bounded size; what was fetched before an error is still handed out."""
    heavy = plan.heavy
    group: list[rows.Row] = []
    weight = 0
    try:
        for row in found:
            group.append(row)
            for position in heavy:
                value = row[position]
                if type(value) is str:
                    weight += len(value)
            if weight > HEAVY or len(group) == MANY:
                yield _batch(context, plan, group)
                group, weight = [], 0
    except Exception:
        if group:
            yield _batch(context, plan, group)
        raise
    if group:
        yield _batch(context, plan, group)


def _may_be_long(column: Column) -> bool:
    return column.type == "TEXT" and "enum" not in column.schema and "pattern" not in column.schema


def _batch(context: Context, plan: Plan, group: list[rows.Row]) -> Batch:
    by_column = list(zip(*group, strict=True))
    values: dict[str, list[Any]] = {}
    for name, position in plan.json:
        sure = decode_sure(by_column[position])
        if sure is not None:
            values[name] = sure
    if plan.columns.table == "adf_config":
        return Batch(group, by_column, lambda: [_configuration(context, plan.columns, row) for row in group], values)
    return Batch(group, by_column, partial(_json, plan.json, by_column, values), values)


def _json(
    json_columns: Iterable[tuple[str, int]], by_column: list[tuple[Any, ...]], values: dict[str, list[Any]]
) -> list[dict[str, Any]]:
    """Return the decoded JSON columns row by row."""
    json: list[dict[str, Any]] = [{} for _ in by_column[0]]
    for name, position in json_columns:
        sure = iter(values[name]) if name in values else None
        for row, text in zip(json, by_column[position], strict=True):
            if type(text) is str:
                row[name] = decode_or_error(text) if sure is None else Decoded(next(sure))
    return json


def _configuration(context: Context, columns: Columns, row: rows.Row) -> dict[str, Any]:
    """Return the configuration as it was decoded once for all who ask, for the row that holds it."""
    position = columns.position.get("config_json")
    if position is None or row[position] != context.config_text or context.config_decoded is None:
        return {}
    return {"config_json": context.config_decoded}
