"""Schema of the file: tables, columns and indexes compared by name with those of its storage version (STO-017)."""

from __future__ import annotations

from adf_format.validation.context import Context, Depth, Pass
from adf_format.validation.rules.structure import catalogue, history, indexes, objects, tables

WHAT = "tables, columns and indexes"


def compare(context: Context) -> None:
    """Compare the schema with the storage version; not for versions that are not described."""
    if context.stored is None:
        context.not_checked(WHAT, "the storage version is not known")
    elif context.undescribed:
        context.not_checked(WHAT, context.undescribed)
    else:
        _tables(context)
        objects.unknown_tables(context)


def _tables(context: Context) -> None:
    kinds = {name: kind for kind, name, _, _ in context.structure.objects if kind in {"table", "view"}}
    for name, wanted in context.version.tables.items():
        actual = context.structure.tables.get(name)
        if actual is not None:
            tables.compare(context.report, wanted, actual)
            indexes.compare(context.report, wanted, actual)
        elif name in kinds:
            kind = "view" if kinds[name] == "view" else "virtual table"
            context.report(catalogue.TABLE_KIND, f"a {kind} has the name of this table", table=name)
        else:
            came = history.arrived(history.tables()[name])
            context.report(catalogue.TABLE_MISSING, f"the table is missing{came}", table=name)


def extras(context: Context) -> None:
    """Look for triggers, foreign keys and a missing table of counters, whatever the storage version."""
    objects.triggers(context)
    objects.foreign_keys(context)
    objects.counters(context)


_EXTRAS = (catalogue.TRIGGER, catalogue.FOREIGN_KEY, catalogue.AUTOINCREMENT)
_COMPARED = (
    catalogue.TABLE_MISSING,
    catalogue.TABLE_KIND,
    catalogue.COLUMN_MISSING,
    catalogue.COLUMN_TYPE,
    catalogue.COLUMN_SPELLING,
    catalogue.NOT_NULL_MISSING,
    catalogue.NOT_NULL_ADDED,
    catalogue.DEFAULT,
    catalogue.PRIMARY_KEY,
    catalogue.AUTOINCREMENT,
    catalogue.CHECK,
    catalogue.INDEX_MISSING,
    catalogue.INDEX_DIFFERS,
    catalogue.UNIQUE,
    catalogue.COLUMN_UNKNOWN,
    catalogue.COLUMN_DEMANDED,
    catalogue.COLUMN_GENERATED,
    catalogue.OTHER_VERSION,
    catalogue.INDEX_UNKNOWN,
    catalogue.TABLE_UNKNOWN,
    catalogue.TABLE_LEFTOVER,
    catalogue.CLAUSE,
    catalogue.STRICT,
)
PASSES = (
    Pass(WHAT, _COMPARED, compare, depth=Depth.QUICK, structural=True),
    Pass("triggers and foreign keys", _EXTRAS, extras, depth=Depth.QUICK, structural=True),
)
