"""3xx: every row against the schema of its table, and the JSON in its columns."""

from adf_format.schemas import LATEST, storage_version
from adf_format.validation.context import Pass, Visit
from adf_format.validation.rules.rows import columns, json_columns, meta, values

_TABLES = tuple(storage_version(LATEST).tables)

VISITS: tuple[Visit, ...] = (
    *(Visit(f"columns of {table}", columns.RULES, table, columns.ColumnVisitor) for table in _TABLES),
    *(
        Visit(f"JSON of {table}", json_columns.RULES, table, json_columns.JsonVisitor)
        for table in _TABLES
        if any(column.is_json for column in storage_version(LATEST).tables[table].columns)
    ),
    *values.VISITS,
)
PASSES: tuple[Pass, ...] = meta.PASSES
