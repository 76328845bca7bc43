"""What SQLite's own check says, one finding per table, index and kind of damage."""

from __future__ import annotations

import re
from collections.abc import Iterator

import apsw

from adf_format.schemas.checker import brief
from adf_format.schemas.ddl import quote_any
from adf_format.validation.context import Context, Depth
from adf_format.validation.rules.container.catalogue import INTEGRITY

MOST = 100
"""Messages asked for; SQLite stops there."""

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
    """Run SQLite's check; virtual tables whose module is not here do not count (STO-020)."""
    pragma = "quick_check" if context.depth == Depth.QUICK else "integrity_check"
    try:
        messages = _ask(context, f"PRAGMA {pragma}({MOST})")
    except (apsw.SQLError, apsw.AuthError):
        # An expression in the schema needs a function that is not here: ask for each table by itself
        messages = _each(context, pragma)
    owners = dict(_owners(context))
    for message in messages:
        _report(context, message, owners)


def _ask(context: Context, sql: str) -> list[str]:
    found = [str(row[0]) for row in context.container.connection.execute(sql)]
    return [] if found == ["ok"] else found


def _each(context: Context, pragma: str) -> list[str]:
    found: list[str] = []
    context.not_checked("integrity of all pages", "the schema needs a function that is not available")
    for name in context.structure.tables:
        try:
            found += _ask(context, f"PRAGMA {pragma}({quote_any(name)})")
        except (apsw.SQLError, apsw.AuthError):
            context.not_checked(f"integrity of {name}", "its declaration needs a function that is not available")
    return found


def _owners(context: Context) -> Iterator[tuple[str, str]]:
    """Yield the table of every index, by name, and of every tree, by the number of its root page."""
    query = "SELECT name, rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0"
    for name, root, table in context.container.connection.execute(query):
        yield str(name), table
        yield f"#{root}", table


def _report(context: Context, text: str, owners: dict[str, str]) -> None:
    for line in _messages(text):
        said, owner = _readable(line)
        if said is not None:
            context.report(INTEGRITY, said, table=owners.get(owner or "", owner if _is_table(context, owner) else None))


def _messages(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.startswith("*** in database")]


def _is_table(context: Context, name: str | None) -> bool:
    return name in context.structure.tables


def _readable(line: str) -> tuple[str | None, str | None]:
    """Return a message without row and page numbers, and the index, table or tree that it is about."""
    for pattern, said in _INDEX:
        if match := pattern.fullmatch(line):
            return said.format(brief(match[1])), match[1]
    if match := _TREE.fullmatch(line):
        return f"a damaged page: {brief(match[2], 80)[1:-1]}", f"#{match[1]}"
    if match := _PAGE.fullmatch(line):
        return f"pages outside every table: {brief(match[1], 80)[1:-1]}", None
    if match := _COLUMN.fullmatch(line):
        # Columns of the format are looked at row by row, with the row named
        return None if match[1].startswith("adf_") else f"{brief(line, 80)[1:-1]}", match[1]
    return brief(line, 120)[1:-1], None
