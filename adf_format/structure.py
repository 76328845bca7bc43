"""What tables, columns and indexes a file really has: facts, no judgement.

Compared by name, never by position or SQL text (STO-017). Virtual tables and views are named but never read.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import apsw

from adf_format.schemas.ddl import rowid_name

PRAGMA_COLUMNS = """
SELECT s.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
FROM sqlite_schema s, pragma_table_xinfo(s.name) c
WHERE s.type = 'table' AND s.name GLOB 'adf_*' AND s.rootpage > 0 ORDER BY s.rowid, c.cid
"""
PRAGMA_INDEXES = """
SELECT s.name, i.name, i."unique", i.origin, i.partial, x.name, x.cid
FROM sqlite_schema s, pragma_index_list(s.name) i, pragma_index_xinfo(i.name) x
WHERE s.type = 'table' AND s.name GLOB 'adf_*' AND s.rootpage > 0 AND x.key
ORDER BY s.rowid, i.name, x.seqno
"""
OBJECTS = "SELECT type, name, tbl_name, rootpage > 0, sql FROM sqlite_schema ORDER BY rowid"
KEPT = 64  # structures remembered
LARGEST_KEPT = 1 << 16  # characters of SQL of a structure that is worth remembering
Declaration = tuple[str, str, str, int, str | None]
_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^]]*\]|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|\w+|[^\w\s]""", re.DOTALL
)


@dataclass(frozen=True)
class ActualColumn:
    """One column as SQLite reports it; `hidden` is 0 for an ordinary column, 2 or 3 for a generated one."""

    name: str
    type: str
    not_null: bool
    default: str | None
    primary_key: bool
    hidden: int


@dataclass(frozen=True)
class ActualIndex:
    """One index; a key is a column name, or None for an expression (its text is in `sql`)."""

    name: str
    unique: bool
    origin: str
    partial: bool
    keys: tuple[str | None, ...]
    sql: str | None


@dataclass
class ActualTable:
    """One ordinary table."""

    name: str
    sql: str
    columns: dict[str, ActualColumn] = field(default_factory=dict)
    indexes: dict[str, ActualIndex] = field(default_factory=dict)

    @cached_property
    def autoincrement(self) -> bool:
        """Whether the declaration says AUTOINCREMENT."""
        return "AUTOINCREMENT" in {token.upper() for token in tokens(self.sql)}

    @cached_property
    def without_rowid(self) -> bool:
        """Whether it is a WITHOUT ROWID table, which no table of the format is."""
        words = [token.upper() for token in tokens(self.sql)]
        return any(pair == ("WITHOUT", "ROWID") for pair in itertools.pairwise(words))


@dataclass
class Structure:
    """The schema of a file.

    :ivar tables: ordinary `adf_*` tables by name
    :ivar objects: every `(type, name, table, sql)` of sqlite_schema, in order
    :ivar virtual: names of virtual tables
    :ivar kept: whether it is remembered for other files with the same declarations
    :ivar conclusions: what callers worked out from a structure that is kept, and nothing else
    """

    tables: dict[str, ActualTable] = field(default_factory=dict)
    objects: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    virtual: list[str] = field(default_factory=list)
    kept: bool = False
    conclusions: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def rowids(self) -> dict[str, str | None]:
        """By which name the rowid of each ordinary table can be had: see `rowid_name`."""
        return {name: rowid_name(table.columns) for name, table in self.tables.items()}


_KNOWN: dict[tuple[Declaration, ...], Structure] = {}


def read(connection: apsw.Connection) -> Structure:
    """Read the schema of an open file.

    The structure follows from the declarations alone, and most files of a batch share theirs: the last few are kept.

    :raises apsw.Error: the schema cannot be parsed by SQLite
    """
    declarations = tuple(connection.execute(OBJECTS))
    known = _KNOWN.get(declarations)
    if known is None:
        known = _read(connection, declarations)
        if sum(len(sql or "") for *_, sql in declarations) <= LARGEST_KEPT:
            if len(_KNOWN) >= KEPT:
                del _KNOWN[next(iter(_KNOWN))]
            known.kept = True
            _KNOWN[declarations] = known
    return known


def _read(connection: apsw.Connection, declarations: tuple[Declaration, ...]) -> Structure:
    found = Structure()
    for kind, name, table, stored, sql in declarations:
        found.objects.append((kind, name, table, sql))
        if kind == "table" and not stored:
            found.virtual.append(name)
        elif kind == "table" and name.startswith("adf_"):
            found.tables[name] = ActualTable(name, sql or "")
    _read_columns(connection, found)
    _read_indexes(connection, found)
    return found


def _read_columns(connection: apsw.Connection, found: Structure) -> None:
    for table, name, kind, not_null, default, key, hidden in connection.execute(PRAGMA_COLUMNS):
        found.tables[table].columns[name] = ActualColumn(name, kind, bool(not_null), default, bool(key), hidden)


def _read_indexes(connection: apsw.Connection, found: Structure) -> None:
    sql_of = {name: sql for kind, name, _, sql in found.objects if kind == "index"}
    for table, name, unique, origin, partial, key, _ in connection.execute(PRAGMA_INDEXES):
        indexes = found.tables[table].indexes
        known = indexes.get(name)
        keys = (*known.keys, key) if known else (key,)
        indexes[name] = ActualIndex(name, bool(unique), origin, bool(partial), keys, sql_of.get(name))


@lru_cache(maxsize=1024)
def tokens(sql: str) -> tuple[str, ...]:
    """Split SQL text into tokens, comments left out: enough to compare declarations."""
    return tuple(token for token in _TOKEN.findall(sql) if not token.startswith(("--", "/*")))
