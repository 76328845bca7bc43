"""The one scan of a table: each row is fetched and its JSON decoded once, then shown to every check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from adf_format import rows
from adf_format.jsontext import Decoded, decode_or_error, decode_sure
from adf_format.schemas import Column
from adf_format.schemas.tables import load
from adf_format.validation.context import Batch, Columns, Context, RowVisitor, Visit
from adf_format.validation.faults import failed, guarded

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
    watchers = list(_enter(context, plan.columns, visits))
    found = rows.scan(context.container.connection, name, plan.names, sizes=SIZES_ONLY.get(name, ()))
    context.stats.rows[name] = 0
    for batch in _batches(context, plan, found):
        for watcher in tuple(watchers):
            try:
                if watcher.batch is None or not watcher.batch(batch):
                    look = watcher.check.row
                    for row, json in zip(batch.rows, batch.json, strict=True):
                        look(row[0], row, json)
            except Exception as error:  # noqa: BLE001 - one faulty check must not hide what the others find
                failed(context, watcher.name, error)
                watchers.remove(watcher)
        context.stats.rows[name] += len(batch.rows)
    for watcher in watchers:
        guarded(context, watcher.name, watcher.check.finish)


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


@dataclass(slots=True, eq=False)
class _Watcher:
    name: str
    check: RowVisitor
    batch: Callable[[Batch], bool] | None


def _enter(context: Context, columns: Columns, visits: list[Visit]) -> Iterator[_Watcher]:
    """Yield the checks that begin without an error."""
    for visit in visits:
        try:
            check = visit.make(context, columns)
        except Exception as error:  # noqa: BLE001 - one faulty check must not hide what the others find
            failed(context, visit.name, error)
        else:
            yield _Watcher(visit.name, check, getattr(check, "batch", None))


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
