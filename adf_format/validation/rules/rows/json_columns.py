"""The JSON in TEXT columns: that it is JSON, and that it has the shape of its schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adf_format.errors import JsonTextError, JsonTooLargeError
from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas import Checker, Problem, checker
from adf_format.schemas.checker import list_checker
from adf_format.schemas.tables import load
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.explained import explained
from adf_format.validation.rule import Rule, Severity, rule
from adf_format.validation.rules.rows.columns import OVERSIZE

LEGACY_TEXT = {("adf_timers", "scope"): ("system", "agent", "document")}  # bare text that readers still accept
EXPLAINED = 2000  # violations in one column that are explained one by one; further broken values are counted

NOT_JSON = rule(
    "ADF310",
    "column-not-json",
    Severity.ERROR,
    what="A column that holds JSON holds JSON.",
    why="A row whose `content_json` cannot be parsed makes every audited clear and every compaction fail.",
    source=("AUD-035", "STO-019"),
    fires='UPDATE adf_loop SET content_json = \'[{"type":"text","text":"cut\' WHERE seq = 10',
    silent="UPDATE adf_loop SET content_json = '[]' WHERE seq = 10",
)
SHAPE = rule(
    "ADF311",
    "json-shape",
    Severity.ERROR,
    what="JSON in a column has the shape that the format gives it.",
    why="Readers take the shape for granted: blocks with their keys, schedules with their mode.",
    source=("ROW-001", "ROW-002", "CFG 4"),
    fires='UPDATE adf_loop SET content_json = \'[{"type":"text"}]\' WHERE seq = 10',
    silent='UPDATE adf_loop SET content_json = \'[{"type":"text","text":"hi","mood":"calm"}]\' WHERE seq = 10',
)
SHAPE_TOLERATED = rule(
    "ADF312",
    "json-shape-tolerated",
    Severity.WARNING,
    what="JSON in a column has the shape that current writers give it.",
    why="Real runtimes read it, often as if the value were absent; others may not.",
    source=("CFG 4", "STO-036"),
    fires='UPDATE adf_loop SET content_json = \'[{"type":"hologram"}]\' WHERE seq = 10',
    silent=(
        'UPDATE adf_loop SET content_json = \'[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]\''
        " WHERE seq = 10"
    ),
)
DUPLICATE_KEYS = rule(
    "ADF313",
    "duplicate-json-keys",
    Severity.WARNING,
    what="An object in a JSON column names each key once.",
    why="JavaScript keeps the last value, other readers the first: two readers see two different rows.",
    source=("STO-019", "AUD-010"),
    fires='UPDATE adf_loop SET content_json = \'[{"type":"text","text":"a","text":"b"}]\' WHERE seq = 10',
    silent='UPDATE adf_loop SET content_json = \'[{"type":"text","text":"a","more":"a"}]\' WHERE seq = 10',
)
NULL_OPTIONAL = rule(
    "ADF314",
    "null-for-optional-json-key",
    Severity.WARNING,
    what="An optional key that is unset is left out, not written as null.",
    why="The specification shows null there, the reference runtime's own validation refuses it.",
    source=("CFG K9", "CFG 4.1"),
    fires='UPDATE adf_timers SET schedule_json = \'{"mode":"interval","every_ms":60000,"end_at":null}\' WHERE id = 2',
    silent='UPDATE adf_timers SET schedule_json = \'{"mode":"interval","every_ms":60000}\' WHERE id = 2',
)
NOT_JSON_TOLERATED = rule(
    "ADF315",
    "column-not-json-tolerated",
    Severity.WARNING,
    what="A JSON column that readers treat as absent when it is malformed is well-formed all the same.",
    why="What was written there is lost to every reader, in silence.",
    source=("CFG 4.1", "CFG 4.4"),
    fires="UPDATE adf_timers SET scope = 'agent' WHERE id = 1",
    silent="UPDATE adf_timers SET scope = '[\"agent\"]' WHERE id = 1",
)
RULES: tuple[Rule, ...] = (
    OVERSIZE,
    NOT_JSON,
    SHAPE,
    SHAPE_TOLERATED,
    DUPLICATE_KEYS,
    NULL_OPTIONAL,
    NOT_JSON_TOLERATED,
)


def _anything(value: object) -> bool:  # noqa: ARG001 - JSON without a schema
    return True


@dataclass(frozen=True)
class Plan:
    """The checks of the JSON columns of one table: worked out once per table and set of columns.

    :ivar checks: the schema of each column that has one
    :ivar quick: name and fast path of each column
    :ivar many: the same for a list of values
    """

    checks: dict[str, Checker]
    quick: list[tuple[str, Callable[[Any], bool]]]
    many: list[tuple[str, Callable[[Any], bool]]]


@lru_cache(maxsize=256)
def _plan(urn: str, names: tuple[str, ...]) -> Plan:
    found = [(one.name, one.content) for one in load(urn).columns if one.is_json and one.name in names]
    checks = {name: checker(content) for name, content in found if content}
    quick = [(name, checks[name].quick if content else _anything) for name, content in found]
    return Plan(
        checks, quick, [(name, list_checker(content).quick if content else _anything) for name, content in found]
    )


class JsonVisitor:
    """Checks the JSON columns of one table."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._table = columns.table
        self._positions = columns.position
        plan = _plan(context.version.tables[columns.table].urn, tuple(columns.position))
        self._checks, self._quick, self._many = plan.checks, plan.quick, plan.many
        self._explained: dict[str, int] = {}
        self._unexplained: dict[str, int] = {}

    def batch(self, batch: Batch) -> bool:
        """Whether all values are JSON of the shape asked for."""
        try:
            return all(
                name in batch.values and (not batch.values[name] or many(batch.values[name]))
                for name, many in self._many
            )
        except (ValueError, TypeError, OverflowError):
            return False  # a value that the fast path cannot hold

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at the JSON of one row."""
        for name, quick in self._quick:
            decoded = json.get(name)
            if decoded is None:
                continue
            try:
                if type(decoded) is Decoded and not decoded.duplicates and quick(decoded.value):
                    continue
            except (ValueError, TypeError, OverflowError):
                pass  # a value that the fast path cannot hold
            self._look(rowid, name, decoded, values)

    def _look(self, rowid: int, name: str, decoded: Decoded | JsonTextError, values: Row) -> None:
        if isinstance(decoded, JsonTextError):
            self._not_json(rowid, name, decoded, values[self._positions[name]])
            return
        if decoded.duplicates:
            keys = ", ".join(sorted(set(decoded.duplicates)))[:60]
            self._report(DUPLICATE_KEYS, f"an object names {keys!a} more than once", rowid, name)
        check = self._checks.get(name)
        if check is not None and not check.is_valid(decoded.value):
            self._explain(rowid, name, check, decoded.value)

    def finish(self) -> None:
        """Say how many broken values were counted without an explanation."""
        for name, count in self._unexplained.items():
            text = f"{count:,} further values break the schema and were not explained one by one"
            self._context.report(SHAPE, text, table=self._table, column=name)

    def _not_json(self, rowid: int, name: str, error: JsonTextError, text: str) -> None:
        if isinstance(error, JsonTooLargeError):
            self._report(OVERSIZE, error.message, rowid, name)
            self._context.not_checked(f"JSON in {self._table}.{name}", "a value above the size limit")
            return
        column = self._context.version.tables[self._table].column[name]
        tier = column.schema.get("x-adf-severity", {}).get("contentMediaType", "error")
        if text in LEGACY_TEXT.get((self._table, name), ()):
            tier = "warning"
        self._report(NOT_JSON if tier == "error" else NOT_JSON_TOLERATED, f"not JSON: {error.message}", rowid, name)

    def _explain(self, rowid: int, name: str, check: Checker, value: Any) -> None:
        left = EXPLAINED - self._explained.get(name, 0)
        if left <= 0:
            self._unexplained[name] = self._unexplained.get(name, 0) + 1
            return
        for problem in explained(self._context, check, value, f"JSON in {self._table}.{name}", left):
            self._explained[name] = self._explained.get(name, 0) + 1
            broken = rule_of(problem, value)
            self._report(broken, problem.message, rowid, name, problem.pointer or None)

    def _report(self, broken: Rule, message: str, rowid: int, column: str, pointer: str | None = None) -> None:
        self._context.report(broken, message, table=self._table, rowid=rowid, column=column, pointer=pointer)


def rule_of(problem: Problem, value: Any) -> Rule:
    """Choose the rule for a violation: null for an optional key is milder than another wrong type."""
    if problem.keyword == "type" and problem.optional and at(value, problem.pointer) is None:
        return NULL_OPTIONAL
    return SHAPE if problem.severity == "error" else SHAPE_TOLERATED


def at(value: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer that is known to exist."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
