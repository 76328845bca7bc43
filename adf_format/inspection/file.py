"""An open file, as the sections of an inspection see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw

from adf_format.errors import AdfError
from adf_format.jsontext import decode
from adf_format.schemas.ddl import quote_any
from adf_format.structure import Structure


class MissingError(AdfError):
    """A table or column is not there; the section that needs it has nothing to tell."""


@dataclass
class File:
    """An open file and its structure."""

    connection: apsw.Connection
    structure: Structure

    def rows(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query whose result is known to be small."""
        return list(self.connection.execute(sql, bindings))

    def one(self, sql: str, bindings: tuple[Any, ...] = ()) -> Any:
        """Return the only value of a query."""
        return self.connection.execute(sql, bindings).get

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is an ordinary table with these columns."""
        found = self.structure.tables.get(table)
        return found is not None and all(column in found.columns for column in columns)

    def need(self, table: str, *columns: str) -> None:
        """Stop a section that cannot do without a table.

        :raises MissingError: it is missing, or lacks a column
        """
        if not self.has(table):
            raise MissingError(f"the table {table} is missing")
        if not self.has(table, *columns):
            raise MissingError(f"{table} lacks a column it needs")

    def counts(self, table: str, column: str, limit: int = 12) -> dict[str, int]:
        """Count rows by the value of a column, the most frequent values first."""
        self.need(table, column)
        name = quote_any(column)
        query = f"SELECT {_shown(name)}, count(*) FROM {table} GROUP BY {name} ORDER BY 2 DESC, 1 LIMIT {limit}"
        found: dict[str, int] = {}
        for value, count in self.rows(query):
            key = "" if value is None else str(value)
            found[key] = found.get(key, 0) + count
        return found

    def meta_text(self, key: str) -> str | None:
        """Return a value of `adf_meta` as text, at most 1,000 characters; None if there is none."""
        self.need("adf_meta", "key", "value")
        found = self.one(f"SELECT {_shown('value', 1000)} FROM adf_meta WHERE key = ?", (key,))
        return None if found is None else str(found)

    @cached_property
    def version(self) -> int | None:
        """The storage version written in the file (STO-002), None if there is none or it is no number."""
        text = self.meta_text("adf_schema_version") or self.meta_text("schema_version") or ""
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration; empty without one.

        :raises JsonTextError: it is not JSON
        """
        self.need("adf_config", "id", "config_json")
        text = self.one("SELECT config_json FROM adf_config WHERE id = 1")
        if not isinstance(text, str):
            return {}
        value = decode(text).value
        return value if isinstance(value, dict) else {}


def _shown(column: str, limit: int = 80) -> str:
    """Return SQL for a value as valid text of bounded length: bytes that are not UTF-8 must not stop a report."""
    return f"CASE typeof({column}) WHEN 'blob' THEN hex(substr({column}, 1, 16)) ELSE substr({column}, 1, {limit}) END"


def whole(value: Any) -> int:
    """Return a number from the file as an int, 0 if it is none."""
    if isinstance(value, float):
        return int(value) if abs(value) < 1e18 else 0  # neither infinite nor NaN
    return value if type(value) is int else 0
