"""The bench on which steps work: schema, rows and configuration of one file, each change recorded with its rule."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

import apsw

from adf_format.audit import javascript_json
from adf_format.creation.agent import iso
from adf_format.errors import AdfError, MigrationError
from adf_format.jsontext import decode
from adf_format.migration.jsondiff import differences
from adf_format.migration.record import Key, Kind, Record, Touch, brief
from adf_format.schemas import OLDEST, Table, storage_version
from adf_format.schemas.ddl import add_column, create_indexes, create_table, quote_any

Config = dict[str, Any]


class Place(Protocol):
    """Where a migration runs: a file being changed, or a rehearsal."""

    @property
    def connection(self) -> apsw.Connection:
        """The database."""

    def transaction(self) -> AbstractContextManager[apsw.Connection]:
        """One transaction."""

    def ddl(self) -> AbstractContextManager[None]:
        """A stretch in which the schema may be changed."""


class Work:
    """One file, seen by the steps.

    :ivar now: time that new rows get, ISO 8601
    :ivar final: version at which the migration ends
    :ivar hashing: whether decoded snapshots are to be hashed
    :ivar step: the step that is running, `27->28`
    """

    def __init__(self, place: Place, *, now: datetime, final: int, hashing: bool = False) -> None:
        self.place = place
        self.connection = place.connection
        self.now = iso(now)
        self.final = final
        self.hashing = hashing
        self.step = ""
        self.record = Record()
        self.snapshot_done: Callable[[int], None] = lambda _count: None

    def note(self, rule: str, kind: Kind, table: str, **facts: Any) -> None:
        """Record a change."""
        self.record.touches.append(Touch(rule, self.step, kind, table, **facts))

    # --- schema

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if there is no such table."""
        return {name for (name,) in self.connection.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))}

    def has(self, kind: str, name: str) -> bool:
        """Whether the schema has a `table` or an `index` of a name."""
        query = "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?"
        return self.connection.execute(query, (kind, name)).get is not None

    def count(self, table: str) -> int:
        """Count the rows of a table."""
        return int(self.connection.execute(f"SELECT count(*) FROM {quote_any(table)}").get)

    def change_schema(self, statement: str) -> None:
        """Run one statement of DDL."""
        with self.place.ddl():
            self.connection.execute(statement)

    def add_column(
        self, rule: str, table: str, column: str, version: int, *, default: str | None = None, value: Any = None
    ) -> bool:
        """Add a column as a version declares it, unless it is there; tells whether it was added.

        :param default: SQL text for old rows where the declaration has none
        :param value: what the old rows then hold
        """
        if column in self.columns(table):
            return False
        self.change_schema(add_column(described(table, version), column, default=default))
        self.note(rule, "column-added", table, rows=self.count(table), column=column, after=value)
        return True

    def create_table(self, rule: str, table: str, version: int) -> None:
        """Create a table with its indexes as a version declares it, unless it is there."""
        if self.has("table", table):
            return
        self.change_schema(create_table(described(table, version)))
        self.note(rule, "table-added", table, rows=0)
        self.create_indexes(rule, table, version)

    def create_indexes(self, rule: str, table: str, version: int, *names: str) -> None:
        """Create the indexes of a table (or those named) as a version declares them, as far as they are missing."""
        found = described(table, version)
        for index, statement in zip(found.indexes, create_indexes(found), strict=True):
            if (not names or index.name in names) and not self.has("index", index.name):
                self.change_schema(statement)
                self.note(rule, "index-added", table, rows=0, column=index.name)

    def drop(self, rule: str, kind: str, name: str) -> None:
        """Drop a table or an index, if it is there."""
        if not self.has(kind, name):
            return
        query = "SELECT tbl_name FROM sqlite_schema WHERE type = ? AND name = ?"
        table = str(self.connection.execute(query, (kind, name)).get)
        rows = self.count(name) if kind == "table" else 0
        self.change_schema(f"DROP {kind} {quote_any(name)}")
        if kind == "table":
            self.note(rule, "table-dropped", table, rows=rows)
        else:
            self.note(rule, "index-dropped", table, rows=0, column=name)

    # --- rows

    def set_value(self, rule: str, table: str, key_column: str, key: Key, column: str, value: Any) -> bool:
        """Give one column of one row a value; tells whether it differs from before."""
        where = f"FROM {quote_any(table)} WHERE {quote_any(key_column)} = ?"
        before = self.connection.execute(f"SELECT {quote_any(column)} {where}", (key,)).get
        if before == value and type(before) is type(value):
            return False
        update = f"UPDATE {quote_any(table)} SET {quote_any(column)} = ? WHERE {quote_any(key_column)} = ?"
        self.connection.execute(update, (value, key))
        self.note(rule, "row-changed", table, key=key, column=column, before=brief(before), after=brief(value))
        return True

    def set_meta(self, rule: str, key: str, value: str) -> None:
        """Give a key of `adf_meta` a value; it is added if it is missing."""
        if self.connection.execute("SELECT 1 FROM adf_meta WHERE key = ?", (key,)).get is not None:
            self.set_value(rule, "adf_meta", "key", key, "value", value)
            return
        self.connection.execute("INSERT INTO adf_meta (key, value) VALUES (?, ?)", (key, value))
        self.note(rule, "row-added", "adf_meta", key=key, after=brief(value))

    def remove_meta(self, rule: str, key: str) -> None:
        """Remove a key of `adf_meta`, if it is there."""
        before = self.connection.execute("SELECT value FROM adf_meta WHERE key = ?", (key,)).fetchall()
        if before:
            self.connection.execute("DELETE FROM adf_meta WHERE key = ?", (key,))
            self.note(rule, "row-removed", "adf_meta", key=key, before=brief(before[0][0]))

    def meta(self, key: str) -> Any:
        """Return a value of `adf_meta`, None without one."""
        return self.connection.execute("SELECT value FROM adf_meta WHERE key = ?", (key,)).get

    # --- configuration

    def config(self) -> Config:
        """Return the configuration.

        :raises MigrationError: it is missing or not a JSON object
        """
        text = self._config_text()
        try:
            value = decode(text).value
        except AdfError as error:
            raise MigrationError(f"the configuration is not JSON: {error.message}", place="adf_config") from None
        if not isinstance(value, dict):
            raise MigrationError("the configuration is not a JSON object", place="adf_config")
        return value

    def edit_config(self, rule: str, edit: Callable[[Config], object], *, always: bool = False) -> None:
        """Let a function change the configuration in place; it is written as JavaScript would (MIG-008, AUD-010).

        Numbers that JavaScript would round keep their digits. Nothing is written if nothing changed.

        :param always: write it in any case
        :raises MigrationError: as `config`
        """
        before, after = self.config(), self.config()
        edit(after)
        changes = list(differences(before, after))
        if not (changes or always):
            return
        old, new = self._config_text(), javascript_json(after, exact=True)
        if old == new:
            return
        if decode(old).duplicates:
            self.record.notes.append("the configuration held keys twice; the last of each counts, as in JavaScript")
        self.connection.execute("UPDATE adf_config SET config_json = ? WHERE id = 1", (new,))
        for pointer, was, became in changes or [("", old, new)]:
            facts = {"key": 1, "column": "config_json", "pointer": pointer}
            self.note(rule, "row-changed", "adf_config", before=_shown(was), after=_shown(became), **facts)

    def _config_text(self) -> str:
        text = self.connection.execute("SELECT config_json FROM adf_config WHERE id = 1").get
        if not isinstance(text, str):
            raise MigrationError("there is no configuration", place="adf_config")
        return text

    @contextlib.contextmanager
    def best_effort(self, rule: str) -> Iterator[None]:
        """A part of a step whose failure does not stop the step; nothing of it stays then."""
        self.connection.execute("SAVEPOINT best_effort")
        known = len(self.record.touches)
        try:
            yield
        except (AdfError, apsw.SQLError, apsw.ConstraintError, UnicodeDecodeError) as error:
            self.connection.execute("ROLLBACK TO best_effort")
            del self.record.touches[known:]
            reason = error.message if isinstance(error, AdfError) else str(error)
            self.record.notes.append(f"{rule} was left out: {reason}")
        self.connection.execute("RELEASE best_effort")


def described(table: str, version: int) -> Table:
    """Return a table as a version describes it; the oldest description stands for versions before it."""
    return storage_version(max(version, OLDEST)).tables[table]


def _shown(value: Any) -> Any:
    """Return a JSON value for a receipt: long ones by size and hash, numbers too long for readers as text."""
    if isinstance(value, str):
        return brief(value)
    text = javascript_json(value, exact=True)
    if len(text) > 1000:
        return brief(text)
    return text if isinstance(value, Decimal) else value
