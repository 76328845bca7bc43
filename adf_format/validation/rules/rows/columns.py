"""Storage class, NOT NULL, closed sets and forms of every column.

`PRAGMA integrity_check` does not report CHECK violations on a read-only connection, and most closed sets of the
format have no CHECK at all (STO-037): so every value is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from types import NoneType
from typing import Any

from adf_format.rows import InvalidText, Oversize, Row
from adf_format.schemas import Column, Problem
from adf_format.schemas.checker import Checker, brief
from adf_format.schemas.ddl import quote_any
from adf_format.schemas.tables import load
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rule import Rule, Severity, rule
from adf_format.validation.scan import SIZES_ONLY

PYTHON_TYPE = {"INTEGER": int, "TEXT": str, "BLOB": bytes}
STORAGE_CLASS = {int: "INTEGER", str: "TEXT", bytes: "BLOB", float: "REAL", type(None): "NULL"}
REMEMBERED = 256  # distinct good values kept per column, so that a pattern is tried once per value

STORAGE = rule(
    "ADF301",
    "wrong-storage-class",
    Severity.ERROR,
    what="Every value has the storage class that its column declares.",
    why="SQLite stores text in an INTEGER column without complaint; a typed reader then fails on the row.",
    source=("STO-019", "STO-030"),
    fires="UPDATE adf_inbox SET received_at = 'yesterday' WHERE id = 'inbox00001'",
    silent="UPDATE adf_inbox SET received_at = '1767225600123' WHERE id = 'inbox00001'",
)
NULLS = rule(
    "ADF302",
    "null-in-required-column",
    Severity.ERROR,
    what="A column that the schema declares NOT NULL holds no NULL.",
    why="A table that was rebuilt without its constraints can hold NULL where every reader expects a value.",
    source=("STO-030", "STO-031"),
    fires=(
        "ALTER TABLE adf_logs RENAME TO old; CREATE TABLE adf_logs (id INTEGER PRIMARY KEY AUTOINCREMENT, level TEXT"
        " DEFAULT 'info', origin TEXT, event TEXT, target TEXT, message TEXT, data TEXT, created_at INTEGER,"
        " loop TEXT); INSERT INTO adf_logs SELECT * FROM old; DROP TABLE old;"
        " UPDATE adf_logs SET message = NULL WHERE id = 1"
    ),
    silent="UPDATE adf_logs SET origin = NULL, event = NULL, data = NULL WHERE id = 1",
)
CLOSED_SET = rule(
    "ADF303",
    "value-outside-closed-set",
    Severity.ERROR,
    what="A column with a closed set of values (role, status, level, protection, 0/1 flags) holds one of them.",
    why="Only code guards most of these sets; a reader that meets another value drops or misfiles the row.",
    source=("STO-037", "CFG 5"),
    fires="UPDATE adf_loop SET role = 'system' WHERE seq = 10",
    silent="UPDATE adf_inbox SET status = 'archived' WHERE id = 'inbox00001'",
)
FORM = rule(
    "ADF304",
    "malformed-value",
    Severity.ERROR,
    what="A column value keeps the form or range that the format demands of it.",
    why="Names and times that break their form cannot be matched or ordered.",
    source=("STO-035", "STO-019"),
    fires="UPDATE adf_inbox SET received_at = -5 WHERE id = 'inbox00001'",
    silent="UPDATE adf_loop SET created_at = 0 WHERE seq = 10",
)
UTF8 = rule(
    "ADF305",
    "text-not-utf8",
    Severity.ERROR,
    what="Text is UTF-8.",
    why="Readers in most languages refuse the whole row.",
    source=("STO-001",),
    fires="UPDATE adf_logs SET message = CAST(x'68e46c6c6f' AS TEXT) WHERE id = 1",
    silent="UPDATE adf_logs SET message = 'hällo' WHERE id = 1",
)
OVERSIZE = rule(
    "ADF306",
    "value-too-large-to-check",
    Severity.WARNING,
    what="A single value stays below the size that this tool is ready to load (128 MiB).",
    why="Such a value is not looked at; most readers cannot load it either.",
    source=("STO-016",),
    fires="UPDATE adf_logs SET data = zeroblob(134217729) WHERE id = 1",
    silent="UPDATE adf_logs SET data = '\"small\"' WHERE id = 1",
)
STORAGE_TOLERATED = rule(
    "ADF307",
    "tolerated-storage-class",
    Severity.WARNING,
    what="A value has the storage class of today's schema, not one that only old runtimes wrote.",
    why="Readers treat it as no value at all, such as a bare number in `tokens`.",
    source=("STO-036", "STO-018"),
    fires=(
        "ALTER TABLE adf_loop DROP COLUMN tokens; ALTER TABLE adf_loop ADD COLUMN tokens INTEGER;"
        " UPDATE adf_loop SET tokens = 123 WHERE seq = 13"
    ),
    silent="UPDATE adf_loop SET tokens = NULL WHERE seq = 13",
)
FORM_TOLERATED = rule(
    "ADF308",
    "unusual-value",
    Severity.WARNING,
    what="A column value has the form that writers give it.",
    why="Readers accept it, but sorting, filtering or showing it may go wrong.",
    source=("STO-019",),
    fires="UPDATE adf_files SET updated_at = 'last week' WHERE path = 'notes/plan.md'",
    silent="UPDATE adf_files SET updated_at = '2026-01-02T03:04:05.678Z' WHERE path = 'notes/plan.md'",
)
OPEN_SET = rule(
    "ADF309",
    "unknown-value-of-open-set",
    Severity.INFO,
    what="A column with an open set of values holds one that is known so far.",
    why="It may be a newer runtime's, or a typing mistake.",
    source=("STO-016", "CFG 5"),
    fires="UPDATE adf_identity SET encryption_algo = 'rot13' WHERE purpose LIKE 'mcp:%'",
    silent="UPDATE adf_identity SET encryption_algo = 'env:credentials' WHERE purpose LIKE 'mcp:%'",
)
RULES: tuple[Rule, ...] = (
    STORAGE, NULLS, CLOSED_SET, FORM, UTF8, OVERSIZE, STORAGE_TOLERATED, FORM_TOLERATED, OPEN_SET,
)  # fmt: skip
_TIERS = {
    "type": (STORAGE, STORAGE_TOLERATED),
    "enum": (CLOSED_SET, FORM_TOLERATED),
}


Accepts = Callable[[Any], object] | None


@dataclass(frozen=True)
class Plan:
    """How to look at the rows of one table: worked out once per table and set of columns.

    :ivar tests: `(position, Python type, nullable, test of the value or None, name)` per column
    :ivar batches: `(position, Python types, test of the value or None)` per column
    :ivar limited: `(position, test)` of the columns with a closed set or a form
    :ivar sizes: `(name, position)` of the columns of which only the size is read
    """

    tests: list[tuple[int, type, bool, Accepts, str]]
    batches: list[tuple[int, frozenset[type], Accepts]]
    limited: list[tuple[int, Callable[[Any], object]]]
    sizes: list[tuple[str, int]]


@lru_cache(maxsize=256)
def _plan(urn: str, names: tuple[str, ...]) -> Plan:
    table = load(urn)
    only_sizes = SIZES_ONLY.get(table.name, ())
    numbered = list(enumerate(names, 1))
    tests = [_test(table.column[name], position) for position, name in numbered if name not in only_sizes]
    batches = [
        (position, frozenset({expected, NoneType} if nullable else {expected}), accepts)
        for position, expected, nullable, accepts, _ in tests
    ]
    limited = [(position, accepts) for position, _, _, accepts, _ in tests if accepts is not None]
    return Plan(tests, batches, limited, [(name, position) for position, name in numbered if name in only_sizes])


class ColumnVisitor:
    """Checks the columns of one table; one instance per scan."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._table = columns.table
        table = context.version.tables[columns.table]
        plan = _plan(table.urn, tuple(columns.position))
        self._tests, self._batches, self._limited = plan.tests, plan.batches, plan.limited
        self._size_positions = plan.sizes
        self._sound: set[tuple[type, ...]] = set()
        self._columns = table.column
        self._urn = table.urn

    def batch(self, batch: Batch) -> bool:
        """Whether all values have the declared storage class and the form asked for."""
        for position, kinds, accepts in self._batches:
            column = batch.columns[position]
            if not kinds.issuperset(map(type, column)):
                return False
            if accepts is not None:
                values = set(column)
                values.discard(None)
                if not all(map(accepts, values)):
                    return False
        return all(None not in batch.columns[position] for _, position in self._size_positions)

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at every column of a row.

        Rows of one table have few distinct combinations of storage classes: one that is known to be sound leaves only
        the columns with a closed set or a form.
        """
        types = tuple(map(type, values))
        if types in self._sound:
            for position, accepts in self._limited:
                value = values[position]
                if value is not None and not accepts(value):
                    break
            else:
                return
        if self._look(rowid, values) and len(self._sound) < REMEMBERED:
            self._sound.add(types)

    def _look(self, rowid: int, values: Row) -> bool:
        """Look at each column by itself; say whether all storage classes are as declared."""
        sound = True
        for position, expected, nullable, accepts, name in self._tests:
            value = values[position]
            if type(value) is expected:
                if accepts is None or accepts(value):
                    continue
            elif value is None and nullable:
                continue
            else:
                sound = False
            self._explain(rowid, self._columns[name], value)
        for name, position in self._size_positions:
            if values[position] is None:
                sound = False
                self._report(NULLS, f"NULL in {name}, which is declared NOT NULL", rowid, name)
        return sound

    def finish(self) -> None:
        """Check the storage class of the columns of which only the size was read."""
        for name, _ in self._size_positions:
            wanted = self._columns[name].type
            query = (
                f"SELECT rowid, typeof({quote_any(name)}) FROM {quote_any(self._table)}"
                f" WHERE typeof({quote_any(name)}) NOT IN ('null', ?)"
            )
            for rowid, found in self._context.container.connection.execute(query, (wanted.lower(),)):
                self._report(STORAGE, f"{found.upper()} where {wanted} is declared", rowid, name)

    def _explain(self, rowid: int, column: Column, value: Any) -> None:
        if isinstance(value, InvalidText):
            self._report(UTF8, "text that is not UTF-8", rowid, column.name)
        elif isinstance(value, Oversize):
            self._report(OVERSIZE, f"value of {value.size:,} bytes was not checked", rowid, column.name)
            self._context.not_checked(f"large values of {self._table}.{column.name}", "above the size limit")
        elif value is None and _required(column):
            self._report(NULLS, f"NULL in {column.name}, which is declared NOT NULL", rowid, column.name)
        elif type(value) is not PYTHON_TYPE[column.type]:
            text = f"{STORAGE_CLASS[type(value)]} where {column.type} is declared"
            tier = column.schema.get("x-adf-severity", {}).get("type", "error")
            broken = STORAGE if tier == "error" else STORAGE_TOLERATED
            self._report(broken, text, rowid, column.name)
        else:
            self._explain_form(rowid, column, value)

    def _explain_form(self, rowid: int, column: Column, value: Any) -> None:
        known = column.schema.get("x-adf-known")
        if known is not None and value not in known:
            self._report(OPEN_SET, f"{brief(value)} is not a known value", rowid, column.name)
        for problem in _checker(self._urn, column.name).problems(value):
            self._report(_rule_of(problem), problem.message, rowid, column.name)

    def _report(self, broken: Rule, message: str, rowid: int, column: str) -> None:
        self._context.report(broken, message, table=self._table, rowid=rowid, column=column)


@cache
def _checker(urn: str, column: str) -> Checker:
    return Checker(load(urn).column[column].schema)


def _rule_of(problem: Problem) -> Rule:
    strict, tolerated = _TIERS.get(problem.keyword, (FORM, FORM_TOLERATED))
    return strict if problem.severity == "error" else tolerated


def _test(column: Column, position: int) -> tuple[int, type, bool, Accepts, str]:
    nullable = not _required(column) and "null" in column.schema["type"]
    return position, PYTHON_TYPE[column.type], nullable, _acceptance(column), column.name


def _required(column: Column) -> bool:
    return column.not_null or column.primary_key


def _acceptance(column: Column) -> Accepts:
    """Return a quick test of a value of the right storage class, or None if any value is fine."""
    schema = column.schema
    if column.type == "BLOB":
        return None
    if "enum" in schema or "x-adf-known" in schema:
        return frozenset(schema.get("enum") or schema["x-adf-known"]).__contains__
    if "pattern" in schema:
        return _remembering(re.compile(schema["pattern"].removeprefix("^").removesuffix("$")).fullmatch)
    keywords = {"minimum", "maximum", "minLength", "maxLength"} & set(schema)
    if keywords == {"minimum"}:
        minimum = schema["minimum"]
        return lambda value: value >= minimum
    if keywords == {"minLength"}:
        shortest = schema["minLength"]
        return lambda value: len(value) >= shortest
    return Checker(schema).is_valid if keywords else None


def _remembering(test: Callable[[str], object]) -> Callable[[str], object]:
    good: set[str] = set()

    def accepts(value: str) -> object:
        if value in good:
            return True
        if not test(value):
            return False
        if len(good) < REMEMBERED:
            good.add(value)
        return True

    return accepts
