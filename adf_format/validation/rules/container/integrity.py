"""What SQLite's own check says, one finding per table, index and kind of damage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adf_format.container import Beside, Integrity, check_integrity
from adf_format.container.integrity import STOPPED, statement
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Depth
from adf_format.validation.rules.container.catalogue import INTEGRITY

LARGE = 4 << 20
"""Bytes of a file from which a thread is worth its start."""

UNAVAILABLE = "the schema needs a function or collation that is not available"

_INDEX = (
    (re.compile(r"row \d+ missing from index (.+)", re.DOTALL), "rows are missing from the index {}"),
    (re.compile(r"row \d+ values differ from index (.+)", re.DOTALL), "the index {} has other values than its table"),
    (re.compile(r"wrong # of entries in index (.+)", re.DOTALL), "the index {} has too many or too few entries"),
    (re.compile(r"non-unique entry in index (.+)", re.DOTALL), "the unique index {} has equal entries"),
    (re.compile(r"rowid not at end-of-record for row \d+ of index (.+)", re.DOTALL), "the index {} has broken entries"),
)
_TREE = re.compile(r"Tree (\d+) (?:page \d+)?(?: ?(?:cell|right child) ?\d*)?: ?(.+)", re.DOTALL)
_PAGE = re.compile(r"Page \d+: (.+)", re.DOTALL)
_COLUMN = re.compile(r"(?:NULL|NUMERIC|TEXT|non-\w+) value in (.+)\.(.+)", re.DOTALL)


def check(context: Context) -> None:
    """Run SQLite's check; virtual tables whose module is not here do not count (STO-020).

    For a large file it runs beside the other checks, and is told after them.
    """
    quick = context.depth == Depth.QUICK
    container = context.container
    beside = container.beside(statement(quick=quick)) if container.source.size >= LARGE else None
    if beside is None:
        _tell(context, check_integrity(container, quick=quick))
    else:
        context.waiting.append(("integrity", lambda: _tell_later(context, beside, quick=quick), beside.close))


def _tell_later(context: Context, beside: Beside, *, quick: bool) -> None:
    _tell(context, check_integrity(context.container, quick=quick, ask=beside.rows))


def _tell(context: Context, found: Integrity) -> None:
    if not (found.whole or found.stopped):
        context.not_checked("integrity of all pages", UNAVAILABLE)
    for table in found.stopped:
        text = STOPPED if table else f"{STOPPED}; tables are checked one by one"
        context.report(INTEGRITY, text, table=table or None)
    for table, _ in found.unchecked:
        context.not_checked(f"integrity of {brief(table)[1:-1]}", UNAVAILABLE)
    owners = dict(_owners(context)) if found.complaints else {}
    for message in found.complaints:
        for line in message.split("\n"):
            _report(context, line, owners)


def _owners(context: Context) -> Iterator[tuple[str, str]]:
    """Yield the table of every index, by name, and of every tree, by the number of its root page."""
    query = "SELECT name, rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0"
    for name, root, table in context.container.connection.execute(query):
        yield str(name), table
        yield f"#{root}", table


def _report(context: Context, line: str, owners: dict[str, str]) -> None:
    if not line or line.startswith("*** in database"):
        return
    if (match := _COLUMN.fullmatch(line)) and context.depth > Depth.QUICK and match[1] in context.version.tables:
        return  # the scan of the table looks at every value, and names the row
    said, owner = _readable(line)
    table = owner if owner in context.structure.tables else owners.get(owner or "")
    context.report(INTEGRITY, said, table=table)


def _readable(line: str) -> tuple[str, str | None]:
    """Return a message without row and page numbers, and the index, table or tree that it is about."""
    for pattern, said in _INDEX:
        if match := pattern.fullmatch(line):
            return said.format(brief(match[1])), match[1]
    if match := _TREE.fullmatch(line):
        return f"a damaged page: {brief(match[2], 80)[1:-1]}", f"#{match[1]}"
    if match := _PAGE.fullmatch(line):
        return f"pages outside every table: {brief(match[1], 80)[1:-1]}", None
    match = _COLUMN.fullmatch(line)
    return brief(line, 120)[1:-1], match[1] if match else None
