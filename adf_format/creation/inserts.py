"""One row into one table, by column name: the table schema says what the storage version has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import apsw

from adf_format.audit import javascript_json
from adf_format.errors import SchemaError
from adf_format.schemas import LATEST, OLDEST, Table, storage_version
from adf_format.schemas.ddl import quote


def insert(connection: apsw.Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a row given by column name; columns that other storage versions have are left out.

    Objects and arrays become JSON text, as JavaScript writes it.

    :raises SchemaError: a column that no storage version has
    """
    unknown = row.keys() - _known(table.name)
    if unknown:
        raise SchemaError(f"{table.name} has no column {min(unknown)!r}")
    values = {name: _stored(value) for name, value in row.items() if name in table.column}
    names = ", ".join(quote(name) for name in values)
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", tuple(values.values()))


@cache
def _known(table: str) -> frozenset[str]:
    versions = (storage_version(number).tables for number in range(OLDEST, LATEST + 1))
    return frozenset(name for tables in versions if table in tables for name in tables[table].column)


def _stored(value: Any) -> Any:
    return javascript_json(value) if isinstance(value, (dict, list)) else value
