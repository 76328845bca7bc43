"""Each entry of a snapshot against the schema of its source."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from adf_format.audit import javascript_json
from adf_format.schemas import Problem, checker, document
from adf_format.schemas.store import resolve
from adf_format.validation.explained import explained
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.audit.examples import FILE, archived, entry, quoted
from adf_format.validation.rules.audit.model import AuditRow, Source

VIOLATIONS = 200  # of one entry that are explained one by one
EXPLAINED = 500  # broken entries of one row that are explained one by one; the rest is counted

_REPEATED = javascript_json([entry(3)]).replace('"seq":3', '"seq":3,"seq":3')

SHAPE = rule(
    "ADF506",
    "snapshot-shape",
    Severity.ERROR,
    what="A snapshot has the shape of its source: an array of rows for transcripts, one object for a message or file.",
    why="Readers tell by the source, not by the content, what they find; an entry without its keys cannot be restored.",
    source=("AUD-020", "AUD-022", "AUD-023", "AUD-024", "AUD-025", "AUD-026"),
    fires=archived([{"seq": 3, "role": "user"}]),
    silent=archived([entry(3, mood="calm")]),
)
TOLERATED = rule(
    "ADF507",
    "snapshot-shape-tolerated",
    Severity.WARNING,
    what="A snapshot has the shape that current writers give it.",
    why="Real runtimes read it, often as if the value were absent; others may not.",
    source=("AUD-020", "STO-036", "CFG 4.10"),
    fires=archived([entry(3, tokens=123)]),
    silent=archived([entry(3, tokens={"input": 3, "output": 1})]),
)
FILE_SIZE = rule(
    "ADF532",
    "archived-file-size",
    Severity.WARNING,
    what="The bytes of an archived file are as many as its `size` says.",
    why="One of the two is wrong: the file was cut, or its base64 text was.",
    source=("AUD-024",),
    fires=archived(FILE | {"size": 5}, "file"),
    silent=archived(FILE | {"content_base64": "", "size": 0}, "file"),
)
DUPLICATES = rule(
    "ADF533",
    "duplicate-keys-in-snapshot",
    Severity.WARNING,
    what="An object in a snapshot names each key once.",
    why="JavaScript keeps the last value, other readers the first: two readers restore two different rows.",
    source=("AUD-010",),
    fires=archived([entry(3)], data=f"brotli({quoted(_REPEATED)})", size_bytes=len(_REPEATED)),
    silent=archived([entry(3, more={"seq": 3})]),
)
RULES = (SHAPE, TOLERATED, FILE_SIZE, DUPLICATES)


@lru_cache(maxsize=64)
def shape_of(form: str, container: str) -> Shape:
    """Return the schema of the entries of a source, by its format and kind of root."""
    return Shape(form, array=container == "array")


class Shape:
    """The schema of the entries of one source."""

    def __init__(self, form: str, *, array: bool) -> None:
        schema = resolve(document(form))
        self._checker = checker(f"{form}#/items" if array else form)
        self._required = frozenset(resolve(schema["items"] if array else schema).get("required", ()))

    def check(self, row: AuditRow, value: Any, pointer: str, before: int) -> bool:
        """Report what is wrong with one entry; `before` broken entries of the row came first. False if anything is."""
        if self._checker.is_valid(value):
            return True
        if before < EXPLAINED:
            for problem in explained(row.context, self._checker, value, "entries of snapshots", VIOLATIONS):
                broken = SHAPE if self._severe(problem, value) else TOLERATED
                row.report(broken, problem.message, "data", pointer + problem.pointer or None)
        return False

    def _severe(self, problem: Problem, value: Any) -> bool:
        """Whether a required value is wrong; null for an optional key is what other writers may do."""
        if problem.severity != "error":
            return False
        parts = problem.pointer.split("/")[1:]
        return problem.keyword != "type" or not parts or parts[-1] in self._required or _at(value, parts) is not None


def check_file(row: AuditRow, value: dict[str, Any]) -> None:
    """Compare the size of an archived file with its base64 text."""
    text, size = value.get("content_base64"), value.get("size")
    if not isinstance(text, str) or type(size) is not int:
        return
    if len(text) % 4:
        row.report(FILE_SIZE, "the base64 text does not end with a whole group", "data", "/content_base64")
    elif (found := len(text) // 4 * 3 - text[-2:].count("=")) != size:
        row.report(FILE_SIZE, f"{found} bytes are archived, size says {size}", "data", "/size")


def report_root(row: AuditRow, source: Source, found: str) -> None:
    """Report a root of the wrong kind."""
    row.report(SHAPE, f"{found} where {source.container} is expected", "data")


def _at(value: Any, parts: list[str]) -> Any:
    for part in parts:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def report_unexplained(row: AuditRow, broken: int) -> None:
    """Say how many broken entries were counted without an explanation."""
    if broken > EXPLAINED:
        row.report(SHAPE, f"{broken - EXPLAINED:,} further entries break the schema, not explained one by one", "data")
