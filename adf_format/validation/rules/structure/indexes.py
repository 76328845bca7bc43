"""The indexes of one table against its schema."""

from __future__ import annotations

from adf_format.schemas import Index, Table
from adf_format.schemas.checker import brief
from adf_format.structure import ActualIndex, ActualTable
from adf_format.structure import tokens as split
from adf_format.validation.rules.structure import catalogue, history, sqltext
from adf_format.validation.rules.structure.tables import Report


def compare(report: Report, wanted: Table, actual: ActualTable) -> None:
    """Report missing, different, unknown and wrongly unique indexes of a table."""
    known = {index.name for index in wanted.indexes}
    for index in wanted.indexes:
        found = actual.indexes.get(index.name)
        if found is None:
            came = history.arrived(history.indexes()[index.name])
            report(catalogue.INDEX_MISSING, f"the index {index.name} is missing{came}", table=actual.name)
        else:
            _index(report, index, found, actual.name)
    for found in actual.indexes.values():
        _unique(report, wanted, found, actual.name)
        if found.name not in known and found.origin == "c":
            _unknown(report, found, actual.name)


def _index(report: Report, wanted: Index, found: ActualIndex, table: str) -> None:
    keys, partial = sqltext.index_keys(found.sql or "")
    if keys != [sqltext.key(split(key)) for key in wanted.columns]:
        said = brief(", ".join(" ".join(words) for words in keys), 80)[1:-1]
        report(
            catalogue.INDEX_DIFFERS,
            f"the index {wanted.name} is on ({said}), not on ({', '.join(wanted.columns)})",
            table=table,
        )
    if partial:
        report(catalogue.INDEX_DIFFERS, f"the index {wanted.name} leaves rows out by a WHERE", table=table)


def _unique(report: Report, wanted: Table, found: ActualIndex, table: str) -> None:
    if not found.unique or found.origin == "pk" or wanted.primary_key.name in found.keys:
        return
    keys = ", ".join("an expression" if key is None else key for key in found.keys)
    kind = "a UNIQUE constraint" if found.origin == "u" else f"the unique index {brief(found.name)}"
    report(catalogue.UNIQUE, f"{kind} allows each value of ({brief(keys)[1:-1]}) only once", table=table)


def _unknown(report: Report, found: ActualIndex, table: str) -> None:
    versions = history.indexes().get(found.name)
    if versions:
        said = f"the index {found.name} is one of {history.belongs(versions)}"
        report(catalogue.OTHER_VERSION, said, table=table)
    else:
        report(catalogue.INDEX_UNKNOWN, f"the format does not have the index {brief(found.name)}", table=table)
