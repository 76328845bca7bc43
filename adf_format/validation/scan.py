"""The one scan of a table: each row is fetched and its JSON decoded once, then shown to every check."""

from __future__ import annotations

from typing import Any

from adf_format import rows
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode
from adf_format.schemas import Table
from adf_format.validation.context import Columns, Context, Visit

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
    checks = [visit.make(context, columns) for visit in visits]
    looks = [check.row for check in checks]
    decoders = JsonColumns(table, columns)
    count = 0
    found = rows.scan(context.container.connection, name, names, sizes=SIZES_ONLY.get(name, ()))
    for row in found:
        json = decoders.decode(row)
        for look in looks:
            look(row[0], row, json)
        count += 1
    for check in checks:
        check.finish()
    context.stats.rows[name] = count


class JsonColumns:
    """Decodes the JSON columns of a row; what cannot be decoded is kept as the error."""

    def __init__(self, table: Table, columns: Columns) -> None:
        json = (column.name for column in table.columns if column.is_json)
        self._positions = [(name, columns.position[name]) for name in json if name in columns.position]

    def decode(self, row: rows.Row) -> dict[str, Any]:
        """Return `Decoded` or `JsonTextError` by column, for the columns that hold text."""
        result: dict[str, Decoded | JsonTextError] = {}
        for name, position in self._positions:
            text = row[position]
            if type(text) is str:
                try:
                    result[name] = decode(text)
                except JsonTextError as error:
                    result[name] = error
        return result
