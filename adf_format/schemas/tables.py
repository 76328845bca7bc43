"""A table of the format as a value: columns and indexes, read from its schema document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from adf_format.schemas.store import document


@dataclass(frozen=True)
class Column:
    """One column: its SQL declaration and the JSON Schema of its value.

    :ivar type: declared SQL type
    :ivar default: SQL text of the DEFAULT, or None
    :ivar check: SQL text of the CHECK expression, or None
    :ivar unit: `epoch-ms`, `iso-8601`, `boolean` or None
    :ivar schema: JSON Schema of the value, as a JSON document
    """

    name: str
    type: str
    not_null: bool
    default: str | None
    check: str | None
    primary_key: bool
    unit: str | None
    schema: Mapping[str, Any]

    @property
    def content(self) -> str | None:
        """URN of the schema of the JSON text in this column, or None if it is not JSON."""
        urn = self.schema.get("contentSchema", {}).get("$ref")
        return str(urn) if urn else None

    @property
    def is_json(self) -> bool:
        """Whether the column holds JSON text."""
        return self.schema.get("contentMediaType") == "application/json"


@dataclass(frozen=True)
class Index:
    """One index; `columns` are names or SQL expressions."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One table at the storage version in which it last changed."""

    name: str
    urn: str
    columns: tuple[Column, ...]
    indexes: tuple[Index, ...]
    autoincrement: bool

    @cached_property
    def column(self) -> dict[str, Column]:
        """Columns by name."""
        return {column.name: column for column in self.columns}

    @cached_property
    def primary_key(self) -> Column:
        """The primary key column; every table of the format has exactly one."""
        return next(column for column in self.columns if column.primary_key)


@cache
def load(urn: str) -> Table:
    """Read a table from its schema document."""
    schema = document(urn)
    declared = schema["x-adf-table"]
    return Table(
        name=declared["name"],
        urn=urn,
        columns=tuple(_column(name, value) for name, value in schema["properties"].items()),
        indexes=tuple(Index(index["name"], tuple(index["columns"])) for index in declared["indexes"]),
        autoincrement=declared.get("autoincrement", False),
    )


def _column(name: str, schema: Mapping[str, Any]) -> Column:
    declared = schema["x-adf-column"]
    return Column(
        name=name,
        type=declared["type"],
        not_null=declared.get("notNull", False),
        default=declared.get("default"),
        check=declared.get("check"),
        primary_key=declared.get("primaryKey", False),
        unit=declared.get("unit"),
        schema=schema,
    )
