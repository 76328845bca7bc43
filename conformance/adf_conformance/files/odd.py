"""One oddity of a file: a legal shape that readers must take, or a single fault."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adf_conformance.files.encoding import json_text

Change = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True)
class Oddity:
    """A change to a file that is otherwise plain.

    :ivar sql: statements that make it
    :ivar change: code that makes it
    :ivar on_file: what is done to the file once it is closed
    :ivar since: oldest, :ivar until: newest storage version that it makes sense for
    """

    slug: str
    sql: tuple[str, ...] = ()
    change: Change | None = None
    on_file: Callable[[Path], None] | None = None
    since: int = 21
    until: int = 99

    def fits(self, version: int) -> bool:
        """Say whether it makes sense at a storage version."""
        return self.since <= version <= self.until

    def apply(self, connection: sqlite3.Connection) -> None:
        """Change an open file."""
        for statement in self.sql:
            connection.execute(statement)
        if self.change:
            self.change(connection)


def config_edit(edit: Callable[[dict[str, Any]], object]) -> Change:
    """Return a change of the configuration."""

    def change(connection: sqlite3.Connection) -> None:
        (text,) = connection.execute("SELECT config_json FROM adf_config").fetchone()
        config = json.loads(text)
        edit(config)
        connection.execute("UPDATE adf_config SET config_json = ?", (json_text(config),))

    return change


def unconstrained(table: str, words: str, *statements: str) -> Change:
    """Return a change that a constraint forbids: it is taken out of the schema for as long as the change takes."""

    def change(connection: sqlite3.Connection) -> None:
        (declared,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        _declare(connection, table, declared.replace(words, ""))
        for statement in statements:
            connection.execute(statement)
        _declare(connection, table, declared)

    return change


def _declare(connection: sqlite3.Connection, table: str, sql: str) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, table))
    connection.execute("PRAGMA writable_schema = RESET")


def rebuilt(table: str, edit: Callable[[str], str]) -> Change:
    """Return a change of the declaration of a table: it is made again, with its rows and indexes."""

    def change(connection: sqlite3.Connection) -> None:
        wanted = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type = 'table' DESC"
        declared, *indexes = [sql for (sql,) in connection.execute(wanted, (table,))]
        connection.execute(f'ALTER TABLE "{table}" RENAME TO odd_old')
        connection.execute(edit(declared))
        common = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        names = ", ".join(f'"{name}"' for name in common)
        connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM odd_old')
        connection.execute("DROP TABLE odd_old")
        for index in indexes:
            connection.execute(index)

    return change
