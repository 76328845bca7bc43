"""What a statement of the agent may touch. SQLite asks for every table, column and function that it compiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import apsw

from adf_format.container.policy import SAFE_FUNCTIONS

LOCAL = "local_"
READABLE = frozenset(
    {
        "adf_meta", "adf_loop", "adf_inbox", "adf_outbox", "adf_timers", "adf_files", "adf_audit", "adf_tasks",
        "adf_logs", "adf_attestations", "sqlite_master", "sqlite_schema", "json_each", "json_tree",
    }
)  # fmt: skip
"""What `db_query` may read beside `local_*`: not the keys (`adf_identity`), and the configuration by its own tool."""
FUNCTIONS = SAFE_FUNCTIONS | {"random", "randomblob", "last_insert_rowid", "changes", "current_timestamp"}
_RENAMING = frozenset(
    {
        "sqlite_rename_table",
        "sqlite_rename_column",
        "sqlite_rename_test",
        "sqlite_rename_quotefix",
        "sqlite_drop_column",
    }
)  # what ALTER TABLE runs by itself; nobody else can call them
_CATALOG = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_temp_master"})
"""What DDL reads and writes by itself; SQLite lets nobody write there directly."""
_FUNCTIONS_AS_TABLES = frozenset({"json_each", "json_tree"})
_OWN = ("sqlite_", "pragma_", "dbstat")
_READING = frozenset({apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION})
_ROWS = {apsw.SQLITE_INSERT: "insert", apsw.SQLITE_UPDATE: "update", apsw.SQLITE_DELETE: "delete"}
_TABLES = {apsw.SQLITE_CREATE_TABLE: "create", apsw.SQLITE_DROP_TABLE: "drop", apsw.SQLITE_ALTER_TABLE: "alter"}
_INDEXES = {apsw.SQLITE_CREATE_INDEX: "create an index on", apsw.SQLITE_DROP_INDEX: "drop an index of"}


def is_local(name: str | None) -> bool:
    """Whether a table is the agent's own; SQLite does not tell upper from lower case in names."""
    return name is not None and name.lower().startswith(LOCAL)


@dataclass
class Authority:
    """An authorizer for one statement.

    :param writing: False: nothing but reading; True: `local_*` tables, rows and definition, and nothing else
    :param existing: names of all tables and views, in lower case
    :param protections: `security.table_protections`
    :ivar refused: why the statement was refused, once it was
    :ivar inserting: tables, in lower case, that the statement inserts into
    """

    writing: bool
    existing: frozenset[str] = frozenset()
    protections: Mapping[str, str] = field(default_factory=dict)
    refused: str | None = None
    inserting: set[str] = field(default_factory=set)

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _inner: str | None
    ) -> int:
        """Judge one thing that SQLite is about to compile."""
        plain = not self.writing or action in _READING
        why = (self._reading if plain else self._changing)(action, first, second, database)
        if why is None:
            if action == apsw.SQLITE_INSERT:
                self.inserting.add((first or "").lower())
            return apsw.SQLITE_OK
        self.refused = self.refused or why
        return apsw.SQLITE_DENY

    def _reading(self, action: int, first: str | None, second: str | None, database: str | None) -> str | None:
        if action in {apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE}:
            return None
        if action == apsw.SQLITE_READ:
            return self._read(first or "", second or "", database)
        if action == apsw.SQLITE_FUNCTION:
            name = (second or "").lower()
            allowed = name in FUNCTIONS or (self.writing and name in _RENAMING)
            return None if allowed else f"the function {name[:60]} is not available"
        return "only SELECT is allowed here"

    def _read(self, table: str, column: str, database: str | None) -> str | None:
        name = table.lower()
        if name == "sqlite_temp_master" and self.writing:
            return None
        known = _CATALOG | _FUNCTIONS_AS_TABLES if self.writing else READABLE
        readable = is_local(name) or name in known
        if not column and name not in self.existing and not name.startswith(_OWN):
            readable = True  # a WITH clause of the statement itself, counted without a column of it
        if readable and database in {"main", None, ""}:
            return None
        where = "a statement that writes" if self.writing else "db_query"
        return f"{where} cannot read the table {table[:60]!r}"

    def _changing(self, action: int, first: str | None, second: str | None, database: str | None) -> str | None:
        if action in _ROWS and (first or "").lower() in _CATALOG:
            return None
        if action == apsw.SQLITE_ALTER_TABLE:
            database, first = first, second  # here SQLite names the database first
        if database not in {"main", None}:
            return "temporary tables and other databases are not available"
        if action in _INDEXES:
            return self._index(first, second, _INDEXES[action])
        if action == apsw.SQLITE_REINDEX:
            return None
        what = (_ROWS | _TABLES).get(action)
        return self._write(first, what) if what else "only rows, tables and indexes of local_ tables can be changed"

    def _index(self, index: str | None, table: str | None, what: str) -> str | None:
        name = (index or "").lower()
        if name.startswith(("adf_", "idx_adf_")):
            return "names of indexes cannot begin with adf_ or idx_adf_"
        return self._write(table, what)

    def _write(self, table: str | None, what: str) -> str | None:
        if not is_local(table):
            return f"cannot {what} {(table or '')[:60]!r}: only tables whose name begins with local_ can be changed"
        level = self.protections.get((table or "").lower(), "none")
        if level == "authorized":
            return f"{(table or '')[:60]!r} can be changed by authorized code only"
        if level == "append_only" and what not in {"insert", "create", "create an index on", "drop an index of"}:
            return f"{(table or '')[:60]!r} is append-only: cannot {what}"
        return None


def protections(config: Mapping[str, object]) -> dict[str, str]:
    """Read `security.table_protections`, by table in lower case; it concerns `local_` tables only (X27)."""
    security = config.get("security")
    listed = security.get("table_protections") if isinstance(security, dict) else None
    found = listed.items() if isinstance(listed, dict) else ()
    return {name.lower(): level for name, level in found if isinstance(level, str) and is_local(name)}
