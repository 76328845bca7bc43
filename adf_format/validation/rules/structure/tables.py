"""One table against its schema: columns, keys, constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from adf_format.schemas import Column, Table
from adf_format.schemas.checker import brief
from adf_format.structure import ActualColumn, ActualTable, tokens
from adf_format.validation.rules.structure import catalogue, history, sqltext

Report = Callable[..., None]
TOLERATED_TYPES = {("adf_loop", "tokens"): "INTEGER"}
TOLERATED_DEFAULTS = {("adf_loop", "created_at"): ("0",)}
RELICS = {("adf_files", "protected")}


def compare(report: Report, wanted: Table, actual: ActualTable) -> None:
    """Report every difference that counts between a table and its schema, indexes left out."""
    if actual.without_rowid:
        report(catalogue.TABLE_KIND, "the table is declared WITHOUT ROWID", table=actual.name)
    for column in wanted.columns:
        found = actual.columns.get(column.name)
        if found is None:
            came = history.arrived(history.columns()[wanted.name, column.name])
            report(catalogue.COLUMN_MISSING, f"the column is missing{came}", table=actual.name, column=column.name)
        else:
            _column(report, wanted.name, column, found)
    for found in actual.columns.values():
        if found.name not in wanted.column:
            _unknown(report, wanted.name, found)
    _key(report, wanted, actual)
    _checks(report, wanted, actual)
    _clauses(report, actual)


def _column(report: Report, table: str, wanted: Column, found: ActualColumn) -> None:
    place = {"table": table, "column": wanted.name}
    if found.hidden:
        report(catalogue.COLUMN_GENERATED, "the column is computed, not stored", **place)
    _type(report, wanted, found, place)
    if wanted.not_null and not found.not_null:
        report(catalogue.NOT_NULL_MISSING, "NOT NULL is missing", **place)
    if found.not_null and not wanted.not_null and not wanted.primary_key:
        report(catalogue.NOT_NULL_ADDED, "the column is declared NOT NULL, but may be empty", **place)
    default = sqltext.default(found.default)
    tolerated = default is not None and TOLERATED_DEFAULTS.get((table, wanted.name)) == default
    if default != sqltext.default(wanted.default) and not tolerated:
        report(catalogue.DEFAULT, f"{_said(found.default)} where {_said(wanted.default)} is expected", **place)


def _said(default: str | None) -> str:
    return "no DEFAULT" if default is None else f"DEFAULT {brief(default)[1:-1]}"


def _type(report: Report, wanted: Column, found: ActualColumn, place: dict[str, str]) -> None:
    declared = " ".join(found.type.split()).upper()
    if declared in (wanted.type, TOLERATED_TYPES.get((place["table"], wanted.name))):
        return
    said = f"declared {brief(found.type)} where {wanted.type} is expected"
    alike = sqltext.affinity(declared) == wanted.type
    report(catalogue.COLUMN_SPELLING if alike else catalogue.COLUMN_TYPE, said, **place)


def _unknown(report: Report, table: str, found: ActualColumn) -> None:
    place = {"table": table, "column": found.name}
    if found.not_null and found.default is None and not found.hidden and not found.primary_key:
        report(
            catalogue.COLUMN_DEMANDED,
            "a column that the format does not have must be given a value in every INSERT",
            **place,
        )
    versions = history.columns().get((table, found.name))
    if versions:
        report(catalogue.OTHER_VERSION, f"a column of {history.belongs(versions)}", **place)
    elif (table, found.name) not in RELICS:
        report(catalogue.COLUMN_UNKNOWN, "a column that the format does not have", **place)


def _key(report: Report, wanted: Table, actual: ActualTable) -> None:
    keys = [column.name for column in actual.columns.values() if column.primary_key]
    key = wanted.primary_key
    if keys != [key.name]:
        said = " and ".join(brief(name) for name in keys) or "none"
        report(catalogue.PRIMARY_KEY, f"the primary key is {said}, not {brief(key.name)}", table=actual.name)
    elif key.type == "INTEGER" and any(index.origin == "pk" for index in actual.indexes.values()):
        report(catalogue.PRIMARY_KEY, "the primary key is not the rowid", table=actual.name, column=key.name)
    if wanted.autoincrement and not actual.autoincrement:
        report(catalogue.AUTOINCREMENT, "AUTOINCREMENT is missing", table=actual.name, column=key.name)


def _checks(report: Report, wanted: Table, actual: ActualTable) -> None:
    found = sqltext.checks(actual.sql)
    for column in wanted.columns:
        if not column.check or column.name not in actual.columns:
            continue
        expected = sqltext.check(tokens(column.check))
        if expected in found:
            found.remove(expected)
            continue
        instead = next((other for other in found if column.name in other), None)
        if instead:
            found.remove(instead)
        said = f"CHECK ({_shown(instead)}) instead of" if instead else "missing:"
        report(catalogue.CHECK, f"{said} CHECK ({column.check})", table=actual.name, column=column.name)
    for extra in found:
        named = next((name for name in wanted.column if name in extra), None)
        if named:
            report(
                catalogue.CHECK,
                f"the format has no CHECK ({_shown(extra)})",
                table=actual.name,
                column=named,
            )


def _shown(words: sqltext.Tokens) -> str:
    return brief(" ".join(words), 80)[1:-1]


def _clauses(report: Report, actual: ActualTable) -> None:
    words = [word.upper() for word in tokens(actual.sql)]
    for clause in _foreign_clauses(words):
        report(catalogue.CLAUSE, f"the declaration has {clause}", table=actual.name)
    if "STRICT" in sqltext.table_options(actual.sql):
        report(catalogue.STRICT, "the table is declared STRICT", table=actual.name)


def _foreign_clauses(words: list[str]) -> Iterator[str]:
    if "COLLATE" in words:
        yield "COLLATE"
    if any(pair == ("ON", "CONFLICT") for pair in pairwise(words)):
        yield "ON CONFLICT"
