"""A digest tells the same agent from another one, and does not see how the file is laid out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import brotli
import pytest

from adf_format import sample
from adf_format.container import open_readonly
from adf_format.digest import Digest, digest, sorting, table_digest
from adf_format.digest.encoding import json_columns
from adf_format.schemas.ddl import quote_any

VERSIONS = (21, 27, 28, 32)


def connect(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path))


def of(path: Path) -> Digest:
    with open_readonly(path) as container:
        return digest(container)


@pytest.fixture(params=VERSIONS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    sample.build(tmp_path / "ada.adf", request.param)
    return tmp_path / "ada.adf"


def vacuum(connection: apsw.Connection) -> None:
    connection.execute("VACUUM")


def page_size(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA page_size = 8192; VACUUM").fetchall()


def statistics(connection: apsw.Connection) -> None:
    connection.execute("CREATE INDEX extra ON adf_loop(role); ANALYZE")


def rowids(connection: apsw.Connection) -> None:
    for table in ("adf_meta", "adf_files", "adf_inbox"):
        connection.execute(f"UPDATE {table} SET rowid = rowid * 7 + 1000")


def reinserted(connection: apsw.Connection) -> None:
    for table in ("adf_meta", "adf_files", "adf_identity", "adf_tasks", "adf_outbox"):
        rows = connection.execute(f"SELECT * FROM {table} ORDER BY rowid DESC").fetchall()
        connection.execute(f"DELETE FROM {table}")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def marker(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM adf_meta WHERE key = 'adf_clean_close'")
    connection.execute("INSERT INTO adf_meta VALUES ('adf_clean_close', '2030-01-01T00:00:00.000Z', 'readonly')")


def recompressed(connection: apsw.Connection) -> None:
    for rowid, data in connection.execute("SELECT id, data FROM adf_audit").fetchall():
        text = json.dumps(json.loads(brotli.decompress(data)), indent=1, sort_keys=True)
        connection.execute(
            "UPDATE adf_audit SET data = ? WHERE id = ?", (brotli.compress(text.encode(), quality=0), rowid)
        )


def respelled(connection: apsw.Connection) -> None:
    """Another key order and spacing in every JSON column."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        for column in json_columns(table):
            if not connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column)).get:
                continue
            values = connection.execute(f"SELECT rowid, {quote_any(column)} FROM {table}").fetchall()
            for rowid, text in values:
                if isinstance(text, str) and text[:1] in "[{":
                    new = json.dumps(json.loads(text), indent=2, sort_keys=True)
                    connection.execute(f"UPDATE {table} SET {quote_any(column)} = ? WHERE rowid = ?", (new, rowid))


def columns_turned(connection: apsw.Connection) -> None:
    mark = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").get
    for table, key in (("adf_loop", "seq INTEGER PRIMARY KEY AUTOINCREMENT"), ("adf_files", "path TEXT PRIMARY KEY")):
        names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        first, rest = names[0], names[:0:-1]
        connection.execute(f"ALTER TABLE {table} RENAME TO old; CREATE TABLE {table} ({', '.join(rest)}, {key})")
        connection.execute(
            f"INSERT INTO {table} ({', '.join((*rest, first))}) SELECT {', '.join((*rest, first))} FROM old"
        )
        connection.execute("DROP TABLE old")
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'adf_loop'", (mark,))


def null_column(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE adf_inbox ADD COLUMN more TEXT")


@pytest.mark.parametrize(
    "change",
    [vacuum, page_size, statistics, rowids, reinserted, marker, recompressed, respelled, columns_turned, null_column],
)
def test_layout_does_not_matter(agent: Path, change: Callable[[apsw.Connection], None]) -> None:
    before, bytes_before = of(agent), agent.read_bytes()
    connection = connect(agent)
    change(connection)
    connection.close()
    assert agent.read_bytes() != bytes_before
    after = of(agent)
    assert (after.sha256, after.differing(before)) == (before.sha256, [])


def test_a_row_in_the_log_counts_like_one_in_the_file(agent: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.adf"
    other.write_bytes(agent.read_bytes())
    insert = "INSERT INTO adf_logs (level, message, created_at) VALUES ('info', 'hi', 1)"
    connection, plain = connect(agent), connect(other)
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").fetchall()
    connection.execute(insert)
    plain.execute(insert)
    plain.close()
    assert Path(f"{agent}-wal").stat().st_size
    assert of(agent) == of(other)
    connection.close()


def test_the_text_encoding_of_the_database_does_not_matter(tmp_path: Path) -> None:
    digests = []
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        connection = apsw.Connection("")
        connection.execute(
            f"PRAGMA encoding = '{encoding}'; CREATE TABLE adf_meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID"
        )
        connection.execute(
            "CREATE TABLE local_a (t); INSERT INTO local_a VALUES ('h\u00e9 \U0001f600'), (NULL), (x'00')"
        )
        connection.execute("INSERT INTO adf_meta VALUES ('k\u00e9y', 'v')")
        digests.append(digest(connection))
    assert digests[0] == digests[1] == digests[2]


def cells(connection: apsw.Connection) -> Iterator[tuple[str, str, int, Any]]:
    """One filled value of every column of every table, and one that is NULL where there is one."""
    tables = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence')"
    )
    for (table,) in connection.execute(tables).fetchall():
        for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall():
            name = quote_any(column)
            for test in ("IS NOT NULL", "IS NULL"):
                where = f"{name} {test}" + (" AND key <> 'adf_clean_close'" if table == "adf_meta" else "")
                found = connection.execute(f"SELECT rowid, {name} FROM {table} WHERE {where} LIMIT 1").fetchall()
                yield from ((table, column, rowid, value) for rowid, value in found)


def other_value(value: Any) -> Any:
    match value:
        case None:
            return ""
        case int():
            return value + 1
        case float():
            return value * 2
        case bytes():
            return value + b"\0"
    if value[:1] in "[{":
        inner = json.loads(value)
        return json.dumps([*inner, 0] if isinstance(inner, list) else {**inner, "x": 0})
    return value + " "


def test_every_single_value_counts(agent: Path) -> None:
    connection = connect(agent)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    before = digest(connection)
    seen = 0
    for table, column, rowid, value in cells(connection):
        connection.execute("SAVEPOINT one")
        update = f"UPDATE {table} SET {quote_any(column)} = ? WHERE rowid = ?"
        try:
            connection.execute(update, (other_value(value), rowid))
        except apsw.ConstraintError:
            connection.execute("ROLLBACK TO one; RELEASE one")
            continue
        after = digest(connection)
        assert after.sha256 != before.sha256, (table, column)
        assert after.differing(before) == [table], (table, column)
        connection.execute("ROLLBACK TO one; RELEASE one")
        seen += 1
    assert seen > 120
    assert digest(connection) == before


@pytest.mark.parametrize("change", [lambda old: old + 0.0, str, lambda old: str(old).encode(), lambda _: None])
def test_the_type_of_a_value_counts(change: Callable[[int], Any]) -> None:
    def made(value: Any) -> Digest:
        connection = apsw.Connection("")
        connection.execute("CREATE TABLE local_a (v)")
        connection.execute("INSERT INTO local_a VALUES (?)", (value,))
        return digest(connection)

    assert made(7) != made(change(7))


def test_where_a_value_stands_counts() -> None:
    def made(*values: Any) -> str:
        connection = apsw.Connection("")
        connection.execute("CREATE TABLE local_a (a, b, c)")
        connection.execute("INSERT INTO local_a VALUES (?, ?, ?)", values)
        return digest(connection).sha256

    texts = [
        ("x", None, None),
        (None, "x", None),
        ("x", "x", None),
        ("xx", None, None),
        ("x", "", "x"),
        ("", "xx", None),
    ]
    assert len({made(*values) for values in texts}) == len(texts)


def test_rows_are_counted_and_equal_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "IN_MEMORY", 10)
    rows = [(random.Random(1).choice("abc"), index % 7) for index in range(95)]

    def made(rows: list[tuple[str, int]]) -> Digest:
        connection = apsw.Connection("")
        connection.execute("CREATE TABLE local_a (a, b)")
        connection.executemany("INSERT INTO local_a VALUES (?, ?)", rows)
        return digest(connection)

    spilled = made(rows)
    assert spilled.tables["local_a"].rows == 95
    assert made(rows[::-1]) == spilled
    assert made([*rows, rows[0]]) != spilled
    monkeypatch.setattr(sorting, "IN_MEMORY", 1000)
    assert made(rows) == spilled


def test_a_damaged_snapshot_counts_by_its_bytes(agent: Path) -> None:
    connection = connect(agent)
    connection.execute("UPDATE adf_audit SET data = x'0011' WHERE id = 1")
    one = digest(connection)
    connection.execute("UPDATE adf_audit SET data = x'0012' WHERE id = 1")
    other = digest(connection)
    assert one.differing(other) == ["adf_audit"]


@pytest.mark.parametrize("rowid", ["", "WITHOUT ROWID"])
def test_text_that_is_not_utf8_counts_by_its_bytes(rowid: str) -> None:
    def made(text: str) -> Digest:
        connection = apsw.Connection("")
        connection.execute(f"CREATE TABLE local_a (k TEXT PRIMARY KEY, v) {rowid}")
        connection.execute(f"INSERT INTO local_a VALUES ('k', {text})")
        return digest(connection)

    values = ["CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)", "x'ff'", "'\u00ff'"]
    assert len({made(value).sha256 for value in values}) == len(values)


def test_virtual_tables_are_named_and_not_read() -> None:
    connection = apsw.Connection("")
    connection.execute("CREATE TABLE local_a (v); CREATE VIRTUAL TABLE local_v USING rtree(id, a, b)")
    before = digest(connection)
    connection.execute("INSERT INTO local_v VALUES (1, 2, 3)")
    after = digest(connection)
    assert after == before
    assert after.left_out["local_v"] == "virtual table"
    assert {name for name in after.left_out if name != "local_v"} == {
        f"local_v_{end}" for end in ("node", "parent", "rowid")
    }
    connection.execute("DROP TABLE local_v")
    assert digest(connection).sha256 != before.sha256


def test_tables_that_are_there_count_even_empty() -> None:
    connection = apsw.Connection("")
    connection.execute("CREATE TABLE local_a (v)")
    before = digest(connection)
    connection.execute("CREATE TABLE local_b (v)")
    assert digest(connection).differing(before) == ["local_b"]


def test_columns_can_be_left_out(agent: Path) -> None:
    connection = connect(agent)
    before = table_digest(connection, "adf_files", omit=frozenset({"updated_at"}))
    connection.execute("UPDATE adf_files SET updated_at = 'x'")
    assert table_digest(connection, "adf_files", omit=frozenset({"updated_at"})) == before
    assert digest(connection, omit={"adf_files": frozenset({"updated_at"})}).tables["adf_files"] == before
