"""Carrying out fixes on a scratch copy, and keeping a record of every change.

Fixes build on each other: the second sees what the first has done. What comes out is a list of changes, each with
the value before and after, which is shown, and later replayed on the file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import apsw

from adf_format import rows
from adf_format.audit import javascript_json
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.repair.fix import Fix
from adf_format.schemas.ddl import quote_any
from adf_format.validation.context import Context

Action = Literal["update", "insert", "delete", "index"]


@dataclass(frozen=True)
class RawText:
    """Text that is not UTF-8, as its bytes."""

    data: bytes


@dataclass(frozen=True)
class Change:
    """One change.

    :ivar fixes: what demanded it, in order
    :ivar key: value of the row's primary key, for people
    :ivar column: column of an update
    :ivar old: value before; of a row that goes, its values by column
    :ivar new: value after; of a row that comes, its values by column; the statement that makes an index
    """

    action: Action
    fixes: tuple[Fix, ...]
    table: str
    rowid: int | None = None
    key: Any = None
    column: str | None = None
    old: Any = field(default=None, repr=False)
    new: Any = field(default=None, repr=False)


class Mend:
    """A scratch copy under repair.

    :ivar connection: of the scratch copy; only to be read directly
    :ivar context: what validation knows of the file as it was at the start of this round
    :ivar changes: what has been done so far
    """

    def __init__(self, connection: apsw.Connection, changes: list[Change]) -> None:
        self.connection = connection
        self.context: Context
        self.changes = changes
        self.fix: Fix

    @property
    def version(self) -> int:
        """The storage version whose rules apply."""
        return self.context.version.number

    def value(self, table: str, rowid: int, column: str) -> Any:
        """Return a value; bytes of text that is not UTF-8 as `RawText`.

        :raises LookupError: no such row
        """
        return value(self.connection, table, rowid, column)

    def update(self, table: str, rowid: int | None, column: str | None, new: Any) -> None:
        """Change one value; nothing happens if it is there already, or the row is not."""
        if rowid is None or column is None:
            return
        try:
            old = self.value(table, rowid, column)
        except LookupError:
            return
        if type(old) is type(new) and old == new:
            return
        self._record(Change("update", (self.fix,), table, rowid, self._key(table, rowid), column, old, new))

    def delete(self, table: str, rowid: int) -> None:
        """Delete a row."""
        columns = self.columns(table)
        try:
            old = {name: self.value(table, rowid, name) for name in columns}
        except LookupError:
            return
        self._record(Change("delete", (self.fix,), table, rowid, self._key(table, rowid), None, old, None))

    def insert(self, table: str, values: Mapping[str, Any]) -> None:
        """Insert a row."""
        self._record(Change("insert", (self.fix,), table, None, next(iter(values.values())), None, None, dict(values)))

    def index(self, table: str, statement: str) -> None:
        """Create an index."""
        self._record(Change("index", (self.fix,), table, None, None, None, None, statement))

    def json(self, table: str, rowid: int | None, column: str | None) -> Any:
        """Return the decoded JSON of a value, `None` if it is none."""
        if rowid is None or column is None:
            return None
        try:
            text = self.value(table, rowid, column)
            return decode(text).value if isinstance(text, str) else None
        except (JsonTextError, LookupError):
            return None

    def edit(self, table: str, rowid: int | None, column: str | None, change: Callable[[Any], bool]) -> None:
        """Change the JSON of a value and write it back as JavaScript would.

        :param change: changes the decoded value in place, and says whether it did
        """
        decoded = self.json(table, rowid, column)
        if decoded is not None and change(decoded):
            self.update(table, rowid, column, javascript_json(decoded, exact=True))

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's ordinary columns."""
        query = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid"
        return [name for (name,) in self.connection.execute(query, (table,))]

    def _key(self, table: str, rowid: int) -> Any:
        query = "SELECT name FROM pragma_table_xinfo(?) WHERE pk = 1 OR name = 'name' ORDER BY pk DESC"
        name = self.connection.execute(query, (table,)).get
        name = name[0] if isinstance(name, tuple) else name
        if name is None:
            return rowid
        found = self.value(table, rowid, name)
        return found if isinstance(found, (int, str)) else rowid

    def _record(self, change: Change) -> None:
        apply(self.connection, change)
        before = next((one for one in self.changes if _same_place(one, change)), None)
        if before is None:
            self.changes.append(change)
            return
        fixes = before.fixes if change.fixes[0] in before.fixes else before.fixes + change.fixes
        self.changes[self.changes.index(before)] = replace(before, new=change.new, fixes=fixes)


def _same_place(one: Change, other: Change) -> bool:
    place = (other.table, other.rowid, other.column)
    return one.action == other.action == "update" and (one.table, one.rowid, one.column) == place


def value(connection: apsw.Connection, table: str, rowid: int, column: str) -> Any:
    """Return one value of one row; errors as in `Mend.value`."""
    key = rows.rowid_of(connection, table)
    where = f"FROM {quote_any(table)} WHERE {key} = ?"
    try:
        found = connection.execute(f"SELECT {quote_any(column)} {where}", (rowid,)).fetchone()
    except UnicodeDecodeError:
        return RawText(connection.execute(f"SELECT CAST({quote_any(column)} AS BLOB) {where}", (rowid,)).get)
    if found is None:
        raise LookupError(f"{table} has no row {rowid}")
    return found[0]


def apply(connection: apsw.Connection, change: Change) -> None:
    """Carry out one change."""
    table = quote_any(change.table)
    if change.action == "index":
        _make_index(connection, change.new)
    elif change.action == "insert":
        names, marks = ", ".join(map(quote_any, change.new)), ", ".join("?" * len(change.new))
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(change.new.values()))
    elif change.action == "delete":
        key = rows.rowid_of(connection, change.table)
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (change.rowid,))
    else:
        key = rows.rowid_of(connection, change.table)
        update = f"UPDATE {table} SET {quote_any(str(change.column))} = ? WHERE {key} = ?"
        connection.execute(update, (change.new, change.rowid))


def _make_index(connection: apsw.Connection, statement: str) -> None:
    """Run one of our own statements; SQLite's work on the schema asks for things that are denied else."""
    before = connection.authorizer
    connection.authorizer = None
    try:
        connection.execute(statement)
    finally:
        connection.authorizer = before
