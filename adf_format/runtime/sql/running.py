"""One statement of the agent, run on the store's connection under its own authority, within limits."""

from __future__ import annotations

import base64
import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from adf_format.loops import Refused
from adf_format.runtime.sql.authority import LOCAL, Authority, is_local
from adf_format.schemas.ddl import quote_any

if TYPE_CHECKING:
    from adf_format.runtime.store import Store

MOST_MS = 5_000
"""Longest run of one statement: it holds up all loops of the agent."""
MOST_BYTES = 16 << 20
"""Longest value that a statement may make or see."""
_STEPS = 20_000
_DEPTH = 100
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema"


@dataclass(frozen=True)
class Result:
    """What a statement gave.

    :ivar rows: rows with JSON values; BLOBs as `base64:…`
    :ivar more: whether there are rows beyond those that were asked for
    :ivar changes: rows that were inserted, updated or deleted
    """

    columns: tuple[str, ...]
    rows: list[list[Any]]
    more: bool = False
    changes: int = 0


def query(store: Store, sql: str, params: Sequence[Any] = (), *, most: int) -> Result:
    """Run one SELECT.

    :param most: rows to return at most
    :raises Refused: it is none, reads what it may not, is wrong, or takes too long
    """
    return _run(store, Authority(writing=False, existing=_names(store.connection)), sql, params, most)


def execute(store: Store, sql: str, params: Sequence[Any] = (), *, protections: Mapping[str, str], most: int) -> Result:
    """Run one statement that changes `local_*` tables, as a whole or not at all.

    :param protections: level of each protected table, by name in lower case
    :raises Refused: as `query`, and where the change would reach beyond the agent's own tables
    """
    with store.transaction() as connection:
        authority = Authority(writing=True, existing=_names(connection), protections=protections)
        before, own, counted = _foreign(connection), set(_tables(connection)), dict(_counts(connection, protections))
        earlier = connection.total_changes()
        found = _run(store, authority, sql, params, most)
        changed = connection.total_changes() - earlier
        _contained(connection, before)
        _named(set(_tables(connection)) - own, protections)
        _appended(connection, counted, authority.inserting, changed)
    return Result(found.columns, found.rows, found.more, changed)


def _run(store: Store, authority: Authority, sql: str, params: Sequence[Any], most: int) -> Result:
    connection = store.connection
    with store.authorized(authority), _limited(connection):
        try:
            return _fetched(connection, sql, params, most)
        except apsw.AuthError:
            raise Refused(authority.refused or "the statement is not allowed") from None
        except apsw.InterruptError:
            raise Refused(f"the statement took longer than {MOST_MS / 1000:g} s and was stopped") from None
        except (apsw.Error, OverflowError, UnicodeError, TypeError) as error:
            raise Refused(f"SQL error: {str(error)[:300]}") from None


def _fetched(connection: apsw.Connection, sql: str, params: Sequence[Any], most: int) -> Result:
    statements: list[tuple[str, ...]] = []

    def only_one(cursor: apsw.Cursor, _statement: str, _bindings: Any) -> bool:
        if not cursor.has_vdbe:
            return True  # a comment
        if statements:
            raise Refused("one statement at a time")
        statements.append(tuple(str(column[0]) for column in cursor.get_description()))
        return True

    cursor = connection.cursor()
    cursor.exec_trace = only_one
    cursor.execute(sql, tuple(params))
    rows: list[list[Any]] = []
    more = False
    for row in cursor:  # to the end, so that a second statement is met and a change is complete
        if len(rows) < most:
            rows.append([_shown(value) for value in row])
        else:
            more = True
    if not statements:
        raise Refused("there is no statement")
    return Result(statements[0], rows, more)


@contextlib.contextmanager
def _limited(connection: apsw.Connection) -> Iterator[None]:
    """Bound time, size and depth for a stretch."""
    limits = {apsw.SQLITE_LIMIT_LENGTH: MOST_BYTES, apsw.SQLITE_LIMIT_EXPR_DEPTH: _DEPTH}
    before = {category: connection.limit(category, value) for category, value in limits.items()}
    deadline = time.monotonic() + MOST_MS / 1000
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS, id="agent-sql")
    try:
        yield
    finally:
        connection.set_progress_handler(None, id="agent-sql")
        for category, value in before.items():
            connection.limit(category, value)


def _shown(value: Any) -> Any:
    if isinstance(value, bytes):
        return "base64:" + base64.b64encode(value).decode()
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _names(connection: apsw.Connection) -> frozenset[str]:
    return frozenset(str(row[1]).lower() for row in connection.execute(_OBJECTS))


def _tables(connection: apsw.Connection) -> list[str]:
    return [str(row[1]) for row in connection.execute(_OBJECTS) if row[0] == "table"]


def _foreign(connection: apsw.Connection) -> set[tuple[Any, ...]]:
    """Return everything in the schema that does not belong to a table of the agent's own."""
    return {tuple(row) for row in connection.execute(_OBJECTS) if not is_local(str(row[2]))}


def _contained(connection: apsw.Connection, before: set[tuple[Any, ...]]) -> None:
    """Refuse what the authorizer cannot see: a table renamed out of its place, a reference that ties others down."""
    if _foreign(connection) != before:
        raise Refused(f"the change reaches beyond tables whose name begins with {LOCAL}")
    for name in _tables(connection):
        if is_local(name):
            for row in connection.execute(f"PRAGMA foreign_key_list({quote_any(name)})").fetchall():
                if not is_local(str(row[2])):
                    raise Refused(f"{name[:60]!r} cannot refer to {str(row[2])[:60]!r}: it would hold up its deletions")


def _named(new: set[str], protections: Mapping[str, str]) -> None:
    """Refuse a table that takes a name which is kept for authorized code: by a rename too."""
    for name in new:
        if protections.get(name.lower()) == "authorized":
            raise Refused(f"{name[:60]!r} can be changed by authorized code only")


def _counts(connection: apsw.Connection, protections: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield the number of rows of each append-only table, by its name in lower case."""
    for name in _tables(connection):
        if protections.get(name.lower()) == "append_only":
            yield name.lower(), int(connection.execute(f"SELECT count(*) FROM {quote_any(name)}").get)


def _appended(connection: apsw.Connection, counted: Mapping[str, int], inserting: set[str], changed: int) -> None:
    """Refuse whatever took rows from an append-only table behind the authorizer's back: SQLite neither asks about rows
    that INSERT OR REPLACE removes nor counts them, so the table has grown by less than was inserted."""
    for name, count in counted.items():
        expected = count + (changed if name in inserting else 0)
        if int(connection.execute(f"SELECT count(*) FROM {quote_any(name)}").get) != expected:
            raise Refused(f"{name[:60]!r} is append-only: rows would be lost")
