"""Every single change to the declarations of every storage version is noticed, or is one of those that are legal.

The changes are not listed by hand: they are made from the table schemas, one at a time, for each table, column,
constraint and index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import apsw
import pytest
from family_support import Reports

from adf_format import structure
from adf_format.schemas import Column, Index, Table, storage_version
from adf_format.schemas.ddl import create_indexes, create_table, quote
from adf_format.validation.rules.structure import catalogue as rules
from adf_format.validation.rules.structure import indexes, tables

VERSIONS = (21, 24, 27, 28, 29, 32)  # those in which a table, column or index changed or a release came out
TYPES = ("INTEGER", "TEXT", "BLOB", "REAL")
SAME_AFFINITY = {"INTEGER": "BIGINT", "TEXT": "VARCHAR(40)", "BLOB": "LONGBLOB"}

# The whole list of legal differences (STO-018 and what does no harm); everything else must be reported.
TOLERATED = {
    "retyped adf_loop.tokens INTEGER",
    "default added adf_loop.created_at 0",
    "not null added on the primary key",
    "autoincrement added adf_config.id",
    "index key spelled with ASC and quotes",
    "check spelled in another way",
    "default spelled in another way",
    "type spelled in lower case",
    "column moved to the end",
    "column adf_files.protected added",
}


class Mutation(NamedTuple):
    """One change: what it is, the statements of the changed table, the rules that must report, exactly."""

    name: str
    statements: list[str]
    expected: set[str]


def declared(table: Table, edit: Callable[[str], str] = lambda sql: sql) -> list[str]:
    return [edit(create_table(table)), *create_indexes(table)]


def with_column(table: Table, changed: Column) -> Table:
    columns = tuple(changed if column.name == changed.name else column for column in table.columns)
    numbered = changed.primary_key and changed.type == "INTEGER"
    return replace(
        table,
        columns=columns,
        autoincrement=table.autoincrement and (numbered or changed.name != table.primary_key.name),
    )


def uses(index: Index, column: str) -> bool:
    return any(column in key.replace("(", " ").replace(",", " ").split() for key in index.columns)


def dropped_columns(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        rest = tuple(one for one in table.columns if one is not column)
        kept = tuple(index for index in table.indexes if not uses(index, column.name))
        left = replace(table, columns=rest, indexes=kept, autoincrement=table.autoincrement and not column.primary_key)
        expected = {rules.COLUMN_MISSING.id}
        expected |= {rules.INDEX_MISSING.id} if kept != table.indexes else set()
        expected |= {rules.PRIMARY_KEY.id} if column.primary_key else set()
        expected |= {rules.AUTOINCREMENT.id} if column.primary_key and table.autoincrement else set()
        yield Mutation(f"dropped {table.name}.{column.name}", declared(left), expected)


def renamed_columns(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        if column.primary_key or any(uses(index, column.name) for index in table.indexes):
            continue
        columns = tuple(replace(one, name="other", check=None) if one is column else one for one in table.columns)
        demanded = column.not_null and column.default is None
        expected = {rules.COLUMN_MISSING.id, rules.COLUMN_UNKNOWN.id}
        expected |= {rules.COLUMN_DEMANDED.id} if demanded else set()
        yield Mutation(f"renamed {table.name}.{column.name}", declared(replace(table, columns=columns)), expected)


def retyped_columns(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        for kind in (*TYPES, SAME_AFFINITY[column.type], ""):
            if kind == column.type:
                continue
            changed = with_column(table, replace(column, type=kind))
            name = f"retyped {table.name}.{column.name} {kind}"
            alike = kind == SAME_AFFINITY[column.type] or (kind == "" and column.type == "BLOB")
            expected = {rules.COLUMN_SPELLING.id if alike else rules.COLUMN_TYPE.id}
            if column.primary_key and column.type == "INTEGER":
                expected |= {rules.PRIMARY_KEY.id}  # no longer the rowid
            expected |= {rules.AUTOINCREMENT.id} if changed.autoincrement != table.autoincrement else set()
            yield Mutation(name, declared(changed), set() if name in TOLERATED else expected)
        edit = edited(f"{quote(column.name)} {column.type}", f"{quote(column.name)} {column.type.lower()}")
        yield Mutation("type spelled in lower case", declared(table, edit), set())


def edited(old: str, new: str) -> Callable[[str], str]:
    def edit(sql: str) -> str:
        assert f"  {old}" in sql, (old, sql)
        return sql.replace(f"  {old}", f"  {new}", 1)

    return edit


def nullability(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        changed = with_column(table, replace(column, not_null=not column.not_null))
        if column.primary_key:
            yield Mutation("not null added on the primary key", declared(changed), set())
        else:
            rule = rules.NOT_NULL_MISSING if column.not_null else rules.NOT_NULL_ADDED
            yield Mutation(f"not null turned round {table.name}.{column.name}", declared(changed), {rule.id})


def defaults(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        if column.primary_key:
            continue
        wrong = {None, "'other'", "0", "-1", "(1 + 1)"} - {column.default}
        for default in sorted(wrong, key=str):
            name = f"default added {table.name}.{column.name} {default}"
            changed = with_column(table, replace(column, default=default))
            yield Mutation(name, declared(changed), set() if name in TOLERATED else {rules.DEFAULT.id})
        for same in spellings_of_default(column.default):
            changed = with_column(table, replace(column, default=same))
            yield Mutation("default spelled in another way", declared(changed), set())


def spellings_of_default(default: str | None) -> list[str]:
    if default is None:
        return ["NULL", "(null)"]
    bare = default.strip("'")
    if default == "0":
        return ["(0)", "((0))", "+0", "FALSE"]
    return [f"({default})"] + ([f'"{bare}"'] if '"' not in bare else [])


def keys(table: Table) -> Iterator[Mutation]:
    key = table.primary_key
    without = with_column(table, replace(key, primary_key=False))
    expected = {rules.PRIMARY_KEY.id} | ({rules.AUTOINCREMENT.id} if table.autoincrement else set())
    yield Mutation(f"primary key dropped {table.name}", declared(without), expected)
    for column in table.columns:
        if column is not key:
            moved = with_column(without, replace(column, primary_key=True))
            yield Mutation(f"primary key moved to {table.name}.{column.name}", declared(moved), expected)
            both = f"PRIMARY KEY ({quote(key.name)}, {quote(column.name)})"
            yield Mutation(
                f"primary key widened {table.name}.{column.name}",
                declared(without, lambda sql, both=both: f"{sql[:-2]},\n  {both}\n)"),  # type: ignore[misc]
                expected,
            )
    if key.type == "INTEGER":
        descending = declared(
            replace(table, autoincrement=False), lambda sql: sql.replace("PRIMARY KEY", "PRIMARY KEY DESC", 1)
        )
        yield Mutation(f"primary key not the rowid {table.name}", descending, expected)
        numbered = replace(table, autoincrement=not table.autoincrement)
        name = f"autoincrement {'dropped' if table.autoincrement else 'added'} {table.name}.{key.name}"
        found = {rules.AUTOINCREMENT.id} if table.autoincrement else set()
        yield Mutation(name, declared(numbered), found)


def checks(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        if column.check:
            for wrong in (None, f"{quote(column.name)} IS NOT NULL", f"NOT ({column.check})"):
                changed = with_column(table, replace(column, check=wrong))
                yield Mutation(f"check {wrong} {table.name}.{column.name}", declared(changed), {rules.CHECK.id})
            for same in spellings_of_check(column):
                changed = with_column(table, replace(column, check=same))
                yield Mutation("check spelled in another way", declared(changed), set())
        else:
            changed = with_column(table, replace(column, check=f"{quote(column.name)} <> 'x'"))
            yield Mutation(f"check added {table.name}.{column.name}", declared(changed), {rules.CHECK.id})


def spellings_of_check(column: Column) -> list[str]:
    assert column.check is not None
    spelled = [f"({column.check})", column.check.replace(column.name, f'"{column.name}"', 1), column.check.upper()]
    if " IN (" in column.check:
        head, _, items = column.check.partition("(")
        backwards = ",".join(reversed(items.rstrip(")").split(",")))
        spelled = [*spelled[:2], f"{head}({backwards})"]
    return spelled


def uniqueness(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        if column.primary_key:
            continue
        once = f"CREATE UNIQUE INDEX once ON {table.name}({quote(column.name)})"
        yield Mutation(
            f"unique index {table.name}.{column.name}", [*declared(table), once], {rules.UNIQUE.id, "ADF219"}
        )
        old = f"{quote(column.name)} {column.type}"
        yield Mutation(
            f"unique column {table.name}.{column.name}",
            declared(table, edited(old, f"{old} UNIQUE")),
            {rules.UNIQUE.id},
        )


def other_columns(table: Table) -> Iterator[Mutation]:
    for column in table.columns:
        old = f"{quote(column.name)} {column.type}"
        if column.type == "TEXT":
            yield Mutation(
                f"collated {table.name}.{column.name}",
                declared(table, edited(old, f"{old} COLLATE NOCASE")),
                {rules.CLAUSE.id},
            )
        if not column.primary_key:
            computed = declared(table, edited(old, f"{old} GENERATED ALWAYS AS (NULL) VIRTUAL"))
            if column.default is None:
                yield Mutation(f"computed {table.name}.{column.name}", computed, {rules.COLUMN_GENERATED.id})
    last = f",\n  trace_id TEXT{{}}\n) /* {table.name} */"
    for words, more in (("", set()), (" NOT NULL", {rules.COLUMN_DEMANDED.id}), (" NOT NULL DEFAULT ''", set())):
        added = declared(table, lambda sql, words=words: sql[:-2] + last.format(words))  # type: ignore[misc]
        yield Mutation(f"column added {table.name}{words}", added, {rules.COLUMN_UNKNOWN.id} | more)
    movable = table.columns[-2]
    columns = (*(one for one in table.columns if one is not movable), movable)
    yield Mutation("column moved to the end", declared(replace(table, columns=columns)), set())
    if table.name == "adf_files":
        added = declared(table, lambda sql: f"{sql[:-2]},\n  protected INTEGER DEFAULT 0\n)")
        yield Mutation("column adf_files.protected added", added, set())


def indexed(table: Table) -> Iterator[Mutation]:
    for at, index in enumerate(table.indexes):
        base = create_indexes(table)
        rest = [create_table(table), *base[:at], *base[at + 1 :]]
        yield Mutation(f"index dropped {index.name}", rest, {rules.INDEX_MISSING.id})
        wrong = {rules.INDEX_DIFFERS.id}
        body = base[at].split("(", 1)[1]
        head = f"CREATE INDEX {index.name} ON {table.name}("
        yield Mutation(f"index partial {index.name}", [*rest, f"{base[at]} WHERE rowid > 0"], wrong)
        yield Mutation(f"index descending {index.name}", [*rest, f"{head}{body[:-1]} DESC)"], wrong)
        yield Mutation(f"index collated {index.name}", [*rest, f"{head}{body[:-1]} COLLATE NOCASE)"], wrong)
        yield Mutation(f"index longer {index.name}", [*rest, f"{head}{body[:-1]}, {table.primary_key.name})"], wrong)
        yield Mutation(f"index elsewhere {index.name}", [*rest, f"{head}{table.primary_key.name})"], wrong)
        if len(index.columns) > 1:
            turned = create_indexes(replace(table, indexes=(replace(index, columns=index.columns[::-1]),)))
            yield Mutation(f"index turned {index.name}", [*rest, *turned], wrong)
        unique = base[at].replace("CREATE INDEX", "CREATE UNIQUE INDEX")
        keyed = table.primary_key.name in index.columns
        yield Mutation(f"index unique {index.name}", [*rest, unique], set() if keyed else {rules.UNIQUE.id})
        if all(key in table.column for key in index.columns):
            spelled = ", ".join(f'"{key}" ASC' for key in index.columns)
            same = f'CREATE INDEX IF NOT EXISTS "{index.name}" ON "{table.name}" ({spelled})'
            yield Mutation("index key spelled with ASC and quotes", [*rest, same], set())
    extra = f"CREATE INDEX mine ON {table.name}({table.primary_key.name})"
    yield Mutation(f"index added {table.name}", [*declared(table), extra], {rules.INDEX_UNKNOWN.id})


def options(table: Table) -> Iterator[Mutation]:
    bare = replace(table, autoincrement=False)
    strict = declared(table, lambda sql: sql + " STRICT")
    yield Mutation(f"strict {table.name}", strict, {rules.STRICT.id})
    expected = {rules.TABLE_KIND.id} | ({rules.AUTOINCREMENT.id} if table.autoincrement else set())
    expected |= {rules.PRIMARY_KEY.id} if table.primary_key.type == "INTEGER" else set()
    yield Mutation(f"without rowid {table.name}", declared(bare, lambda sql: sql + " WITHOUT ROWID"), expected)
    key = f"{quote(table.primary_key.name)} {table.primary_key.type} PRIMARY KEY"
    replacing = declared(table, edited(key, f"{key} ON CONFLICT REPLACE"))
    yield Mutation(f"replacing {table.name}", replacing, {rules.CLAUSE.id})


KINDS = (
    dropped_columns,
    renamed_columns,
    retyped_columns,
    nullability,
    defaults,
    keys,
    checks,
    uniqueness,
    other_columns,
    indexed,
    options,
)


def found(table: Table, statements: list[str]) -> set[str]:
    """Ids of the rules that report on one table made by some statements."""
    connection = apsw.Connection(":memory:")
    for statement in statements:
        connection.execute(statement)
    actual = structure.read(connection).tables[table.name]
    reports = Reports()
    tables.compare(reports, table, actual)
    indexes.compare(reports, table, actual)
    return reports.ids


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("version", VERSIONS)
def test_each_change_is_reported_by_exactly_the_rules_for_it(version: int, kind: Callable[[Table], object]) -> None:
    mutations = [(table, one) for table in storage_version(version).tables.values() for one in kind(table)]
    assert mutations
    wrong = {
        one.name: (got, one.expected)
        for table, one in mutations
        if (got := found(table, one.statements)) != one.expected
    }
    assert not wrong


@pytest.mark.parametrize("version", VERSIONS)
def test_every_legal_difference_is_on_the_list_and_the_list_has_no_other(version: int) -> None:
    silent = {
        one.name
        for kind in KINDS
        for table in storage_version(version).tables.values()
        for one in kind(table)
        if not one.expected
    }
    on_key = {name for name in silent if name.startswith("index unique ")}  # unique with the primary key in it
    assert silent - on_key == TOLERATED
    assert on_key <= {"index unique idx_adf_loop_loop_seq", "index unique idx_adf_loop_stream"}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_tables_of_a_version_differ_in_nothing_from_themselves(version: int) -> None:
    for table in storage_version(version).tables.values():
        assert found(table, declared(table)) == set()


@pytest.mark.parametrize("stamped", VERSIONS)
@pytest.mark.parametrize("made", VERSIONS)
def test_a_version_number_without_its_tables_is_noticed(stamped: int, made: int) -> None:
    """Except where two versions have the same tables (T6)."""
    wanted, actual = storage_version(stamped).tables, storage_version(made).tables
    reported = {
        rule
        for name, table in wanted.items()
        for rule in (found(table, declared(actual[name])) if name in actual else {rules.TABLE_MISSING.id})
    }
    surplus = actual.keys() - wanted.keys()
    assert bool(reported or surplus) == (stamped != made)
    lost = {(name, column.name) for name, table in wanted.items() for column in table.columns}
    lost -= {(name, column.name) for name, table in actual.items() for column in table.columns}
    assert bool(reported & {rules.COLUMN_MISSING.id, rules.TABLE_MISSING.id}) == bool(lost)
