"""The SQL of a new file, derived from the table schemas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adf_format.schemas.catalog import storage_version
from adf_format.schemas.tables import Column, Table

KEYWORDS = frozenset({"from", "to", "loop", "key", "index", "order", "group", "table"})


def ddl(version: int) -> list[str]:
    """Return the statements that create every table and index of a storage version, in order.

    :raises UsageError: a version that is not described
    """
    tables = storage_version(version).tables.values()
    return [statement for table in tables for statement in (create_table(table), *create_indexes(table))]


def create_table(table: Table) -> str:
    """Return the CREATE TABLE statement of one table."""
    lines = ",\n  ".join(_column(column, table) for column in table.columns)
    return f"CREATE TABLE {table.name} (\n  {lines}\n)"


def add_column(table: Table, name: str, *, default: str | None = None) -> str:
    """Return the ALTER TABLE statement that adds one column to a table that has rows.

    :param default: SQL text of a value for the rows that are there, for a NOT NULL column that declares none
    """
    column = table.column[name]
    if default is not None and column.default is None:
        column = replace(column, default=default)
    return f"ALTER TABLE {table.name} ADD COLUMN {_column(column, table)}"


def create_indexes(table: Table) -> list[str]:
    """Return the CREATE INDEX statements of one table."""
    return [
        f"CREATE INDEX {index.name} ON {table.name}({', '.join(_key(key, table) for key in index.columns)})"
        for index in table.indexes
    ]


def quote(name: str) -> str:
    """Quote an identifier of our own schemas where SQL asks for it."""
    return f'"{name}"' if name.lower() in KEYWORDS else name


def quote_any(name: str) -> str:
    """Quote any identifier, also one read from a hostile file."""
    return '"' + name.replace('"', '""') + '"'


def _key(key: str, table: Table) -> str:
    return quote(key) if key in table.column else key


def _column(column: Column, table: Table) -> str:
    parts = [quote(column.name), column.type]
    if column.primary_key:
        parts.append("PRIMARY KEY AUTOINCREMENT" if table.autoincrement else "PRIMARY KEY")
    if column.not_null:
        parts.append("NOT NULL")
    if column.default is not None:
        parts.append(f"DEFAULT {column.default}")
    if column.check:
        parts.append(f"CHECK ({column.check})")
    return " ".join(parts)


def rowid_name(columns: Iterable[str]) -> str | None:
    """Return the name that means the rowid in a table with these columns, None if they take all three."""
    taken = {name.lower() for name in columns}
    return next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), None)
