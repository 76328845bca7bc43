"""Migrating, clearing, repairing hostile files: refused with the file untouched, or done with nothing foreign lost."""

# ruff: noqa: E501 - a statement reads better in one line

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import sample
from adf_format.audit import compress
from adf_format.clearing import Request, clear
from adf_format.container import open_readonly
from adf_format.digest import digest
from adf_format.errors import AdfError
from adf_format.migration import migrate
from adf_format.repair import Kind, repair

OLD_AUDIT = (
    "INSERT INTO adf_audit (source, start_at, end_at, entry_count, size_bytes, data, created_at)"
    " VALUES ({source}, 1, 2, 1, 1, {data}, 3)"
)
BOMB = compress("[" + " " * (64 << 20) + "]").hex()
# What a hostile or merely strange file has in it; each may be refused, none may be lost or be carried out
STRANGE: dict[str, str] = {
    "a trigger that deletes transcripts": "CREATE TRIGGER t AFTER UPDATE ON adf_meta BEGIN DELETE FROM adf_loop; END",
    "a trigger on the audit": "CREATE TRIGGER t AFTER INSERT ON adf_audit BEGIN DELETE FROM adf_audit; END",
    "a trigger before deletion": "CREATE TRIGGER t BEFORE DELETE ON adf_loop BEGIN SELECT RAISE(IGNORE); END",
    "a trigger that names an old column": "CREATE TRIGGER t AFTER INSERT ON adf_audit"
    " BEGIN UPDATE local_notes SET id = NEW.id; END",
    "a view of a view of itself": "CREATE VIEW v1 AS SELECT * FROM v2; CREATE VIEW v2 AS SELECT * FROM v1",
    "a view on the audit": "CREATE VIEW v AS SELECT id, length(data) AS n FROM adf_audit",
    "a view on a column of a table that goes": "CREATE VIEW v AS SELECT start_at FROM adf_audit",
    "a table without rowid": "CREATE TABLE mine (a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO mine VALUES ('x', 1)",
    "a table whose columns hide the rowid": "CREATE TABLE mine (rowid, _rowid_, oid); INSERT INTO mine VALUES (1, 2, 3)",
    "generated columns": "CREATE TABLE mine (a, b AS (a * 2) VIRTUAL, c AS (a + 1) STORED); INSERT INTO mine (a) VALUES (2)",
    "a generated column of the transcript": "ALTER TABLE adf_loop ADD COLUMN words AS (length(content_json)) VIRTUAL",
    "a generated column of the audit": "ALTER TABLE adf_audit ADD COLUMN n AS (length(data)) VIRTUAL",
    "unknown columns": "ALTER TABLE adf_loop ADD COLUMN mood TEXT DEFAULT 'calm';"
    " ALTER TABLE adf_audit ADD COLUMN mood BLOB; UPDATE adf_audit SET mood = x'00ff'",
    "an unknown column with a rule": "ALTER TABLE adf_audit ADD COLUMN m TEXT NOT NULL DEFAULT 'x' CHECK (m <> 'y')",
    "a column in another collation": "ALTER TABLE adf_audit ADD COLUMN m TEXT COLLATE NOCASE; UPDATE adf_audit SET m = 'A'",
    "a unique index on a foreign column": "ALTER TABLE adf_audit ADD COLUMN m; UPDATE adf_audit SET m = id;"
    " CREATE UNIQUE INDEX mine ON adf_audit(m)",
    "an index on an expression": "CREATE INDEX mine ON adf_loop(length(content_json)) WHERE role = 'user'",
    "a name that is hardly one": 'CREATE TABLE "main.x""; DROP TABLE adf_loop; --" ("a b" TEXT, "select");'
    ' INSERT INTO "main.x""; DROP TABLE adf_loop; --" VALUES (1, 2)',
    "a table named like another schema": 'CREATE TABLE "old" (a); INSERT INTO "old" VALUES (1)',
    "a table named as our draft": "CREATE TABLE adf_audit_draft (id INTEGER PRIMARY KEY); INSERT INTO adf_audit_draft VALUES (7)",
    "odd affinities": "INSERT INTO adf_logs (level, message, created_at) VALUES (1.5, x'00ff', 'yesterday')",
    "numbers as texts": "UPDATE adf_loop SET created_at = '12e3', tokens = 7 WHERE seq = (SELECT min(seq) FROM adf_loop)",
    "text that is no UTF-8": "UPDATE adf_logs SET message = CAST(x'ff41' AS TEXT)",
    "text with zeros": "UPDATE adf_logs SET message = 'a' || char(0) || 'b'",
    "seqs at the ends of the world": "INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES"
    " (-9223372036854775808, 'user', '[]', 1), (9223372036854775806, 'user', '[]', 1)",
    "a foreign key to the audit": "CREATE TABLE mine (a REFERENCES adf_audit(id) ON DELETE CASCADE);"
    " INSERT INTO mine SELECT id FROM adf_audit",
    "a bomb": OLD_AUDIT.format(source="'loop'", data=f"x'{BOMB}'"),
    "an alien snapshot": OLD_AUDIT.format(source="'from outer space'", data="x'00'"),
    "a snapshot that is text": OLD_AUDIT.format(source="'loop'", data="'text'"),
    "a source that is a number": OLD_AUDIT.format(source="7", data="x'00'"),
    "a large file": "INSERT INTO adf_files (path, content, size, created_at, updated_at)"
    " VALUES ('big', zeroblob(30000000), 30000000, 'x', 'x')",
    "full text search": "CREATE VIRTUAL TABLE mine USING fts5(a); INSERT INTO mine VALUES ('words to find')",
    "a strict table": "CREATE TABLE mine (a INT, b ANY) STRICT; INSERT INTO mine VALUES (1, '1')",
    "an r-tree": "CREATE VIRTUAL TABLE mine USING rtree(id, x0, x1); INSERT INTO mine VALUES (1, 2, 3)",
    "a deep configuration": "UPDATE adf_config SET config_json = json_set(config_json, '$.deep', json('"
    + "[" * 900 + "]" * 900 + "'))",
    "keys twice in the configuration": "UPDATE adf_config SET config_json = '{\"name\":\"Eve\",' || substr(config_json, 2)",
    "statistics": "ANALYZE",
}  # fmt: skip
WRITERS: dict[str, Callable[[Path], Any]] = {
    "migrate": migrate,
    "clear": lambda path: clear(path, Request("all")),
    "repair": lambda path: repair(path, frozenset(Kind)),
}


def _made(path: Path, statements: str) -> None:
    sample.build(path, 27)
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()


def _foreign(path: Path) -> dict[str, Any]:
    """Everything that no version of the format knows: tables, other things of the schema, columns, keys."""
    with open_readonly(path) as container:
        found = digest(container).tables
        known = {name for name in found if name.startswith("adf_") and name != "adf_audit_draft"} | {"sqlite_sequence"}
        query = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '%adf^_%' ESCAPE '^'"
        connection = container.connection
        return {
            "tables": {name: one for name, one in found.items() if name not in known},
            "schema": set(connection.execute(query)),
            "columns": {
                table: _column(connection, table, column)
                for table, column in (("adf_audit", "m"), ("adf_audit", "mood"), ("adf_audit", "n"), ("adf_loop", "words"))
                if _has(connection, table, column)
            },
        }  # fmt: skip


def _has(connection: apsw.Connection, table: str, column: str) -> bool:
    return connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ?", (table, column)).get is not None


def _column(connection: apsw.Connection, table: str, column: str) -> list[Any]:
    return connection.execute(
        f"SELECT {column}, typeof({column}) FROM {table} WHERE rowid < 100 ORDER BY rowid"
    ).fetchall()


def _audit(path: Path) -> dict[int, bytes]:
    with open_readonly(path) as container:
        query = "SELECT id, CAST(data AS BLOB) FROM adf_audit"
        return {number: hashlib.sha256(data).digest() for number, data in container.connection.execute(query)}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", STRANGE)
def test_refused_and_untouched_or_done_and_nothing_foreign_lost(name: str, writer: str, tmp_path: Path) -> None:
    path = tmp_path / "agent.adf"
    _made(path, STRANGE[name])
    before, foreign, audit = path.read_bytes(), _foreign(path), _audit(path)
    try:
        WRITERS[writer](path)
    except AdfError:
        refused = True
    else:
        refused = False
    if refused:
        assert path.read_bytes() == before
        assert [one.name for one in tmp_path.iterdir()] == ["agent.adf"]
        return
    after = _foreign(path)
    assert after["tables"] == foreign["tables"]
    gone = foreign["schema"] - after["schema"]
    assert all(name == "a view on a column of a table that goes" for _ in gone), gone
    if writer == "clear":  # the rows of the transcript were to go
        foreign["columns"].pop("adf_loop", None)
    for place, values in foreign["columns"].items():
        assert after["columns"][place][: len(values)] == values
    assert {number: data for number, data in _audit(path).items() if number in audit} == audit
