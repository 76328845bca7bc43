"""Everything else in the schema of a file: unknown tables, triggers, foreign keys, the counters of SQLite."""

from __future__ import annotations

from collections.abc import Iterator

from adf_format.schemas.checker import brief
from adf_format.structure import tokens
from adf_format.validation.context import Context
from adf_format.validation.rules.structure import catalogue, history, sqltext

LEFTOVERS = frozenset({"adf_archive", "adf_peers"})
RELICS = frozenset({"adf_usage"})
OWN_PREFIXES = ("local_", "sqlite_")
FOREIGN_KEYS = """
SELECT s.name, f."table" FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
WHERE s.type = 'table' AND s.rootpage > 0 AND f.seq = 0 ORDER BY s.rowid, f.id
"""


def unknown_tables(context: Context) -> None:
    """Report tables and views that this storage version does not have."""
    for kind, name, _, _ in context.structure.objects:
        if kind not in {"table", "view"} or name in context.version.tables:
            continue
        if name in LEFTOVERS:
            context.report(catalogue.TABLE_LEFTOVER, "the table was given up long ago", table=name)
        elif name in history.tables():
            said = f"a table of {history.belongs(history.tables()[name])}"
            context.report(catalogue.OTHER_VERSION, said, table=name)
        elif kind == "table" and name not in RELICS and not name.lower().startswith(OWN_PREFIXES):
            context.report(catalogue.TABLE_UNKNOWN, "a table that the format does not have", table=name)


def triggers(context: Context) -> None:
    """Report triggers that sit on a table of the format, or name one."""
    for kind, name, table, sql in context.structure.objects:
        if kind != "trigger":
            continue
        on = table.lower()
        touched = sorted(_named_tables(context, sql or "") | ({on} & context.structure.tables.keys()))
        if on.startswith("adf_"):
            context.report(catalogue.TRIGGER, f"the trigger {brief(name)} runs on every write", table=table)
        elif touched:
            said = f"the trigger {brief(name)} on {brief(table)} touches {', '.join(touched)}"
            context.report(catalogue.TRIGGER, said, table=table)


def _named_tables(context: Context, sql: str) -> set[str]:
    return {word for token in tokens(sql) for word in sqltext.normal(token)} & context.structure.tables.keys()


def foreign_keys(context: Context) -> None:
    """Report foreign keys from or to a table of the format."""
    for table, target in context.container.connection.execute(FOREIGN_KEYS):
        if table.lower().startswith("adf_") or str(target).lower().startswith("adf_"):
            said = f"a foreign key from {brief(table)} to {brief(target)}"
            context.report(catalogue.FOREIGN_KEY, said, table=table)


def counters(context: Context) -> None:
    """Report tables with AUTOINCREMENT in a file without SQLite's table of counters."""
    names = {name for _, name, _, _ in context.structure.objects}
    if "sqlite_sequence" not in names and any(_autoincrement(context)):
        context.report(
            catalogue.AUTOINCREMENT, "the table is missing, so no AUTOINCREMENT works", table="sqlite_sequence"
        )


def _autoincrement(context: Context) -> Iterator[bool]:
    return (table.autoincrement for table in context.structure.tables.values())
