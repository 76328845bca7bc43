"""Files made to hurt, one by one: each ends in findings or one clear refusal, within the limits of the arena."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import brotli
import pytest

from adf_format.sample import build
from robustness.arena import Arena

Change = Callable[[apsw.Connection], object]
DEEP = 2


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("rich") / "rich.adf"
    build(path, 32, "rich")
    return path.read_bytes()


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with Arena(tmp_path, seconds=60.0) as found:
        yield found


def declared(name: str, kind: str, sql: str, table: str | None = None) -> Change:
    """Put a declaration into the schema that SQLite would not take by itself."""

    def change(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
            (kind, name, table or name, sql),
        )

    return change


def run(sql: str, *values: Any) -> Change:
    return lambda connection: connection.execute(sql, values).fetchall()


def several(*changes: Change) -> Change:
    return lambda connection: [change(connection) for change in changes]


def bomb(connection: apsw.Connection) -> None:
    """A snapshot of a few kilobytes that unpacks to two gigabytes."""
    packer = brotli.Compressor(quality=5)
    parts = [packer.process(b'[{"seq":1,"role":"user","content_json":[{"type":"text","text":"')]
    megabytes = b"a" * (16 << 20)
    parts += [packer.process(megabytes) for _ in range(128)]
    connection.execute("UPDATE adf_audit SET data = ? WHERE id = 1", (b"".join([*parts, packer.finish()]),))


def many_columns(connection: apsw.Connection) -> None:
    names = ", ".join(f"more{number}" for number in range(1985))
    connection.execute(f"ALTER TABLE adf_logs RENAME TO old; CREATE TABLE adf_logs (id INTEGER PRIMARY KEY, {names})")


def many_tables(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'adf_logs'").get
    connection.executemany(
        "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', ?1, ?1, ?2, ?3)",
        ((f"adf_more{number}", root, f"CREATE TABLE adf_more{number} (x)") for number in range(50_000)),
    )


def replaced(table: str, sql: str) -> Change:
    return several(run(f"DROP TABLE {table}"), run(sql))


def big_config(connection: apsw.Connection) -> None:
    config = json.loads(connection.execute("SELECT config_json FROM adf_config").get)
    config["instructions"] = "word " * 4_000_000
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))


def wide_config(connection: apsw.Connection) -> None:
    config = json.loads(connection.execute("SELECT config_json FROM adf_config").get)
    config["tools"] = [{"name": f"t{number}", "enabled": 1} for number in range(100_000)]
    config["loops"] = [{"name": f"Loop {number}"} for number in range(100_000)]
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))


def many_findings(connection: apsw.Connection) -> None:
    count = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
    insert = "INSERT INTO adf_logs (level, message, data, created_at)"
    connection.execute(f"{count} {insert} SELECT 'loud' || i, 'm', '{{\"a\":', -i FROM n")


def names_of_terror(connection: apsw.Connection) -> None:
    config = json.loads(connection.execute("SELECT config_json FROM adf_config").get)
    config["loops"][0]["name"] = "gar\u001b[31m\u001b]0;owned\u0007dener\u202e\u0000\ud800"
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))
    connection.execute("UPDATE adf_loop SET loop = CAST(x'611b5b326a00ff' AS TEXT) WHERE loop = 'gardener'")
    connection.execute(
        "UPDATE adf_files SET path = CAST(x'6e6f7465730a1b5d303b68690700' AS TEXT) WHERE path LIKE 'notes%'"
    )
    connection.execute("UPDATE adf_meta SET key = CAST(x'eda080' AS TEXT) WHERE key = 'status'")
    connection.execute('CREATE TABLE "adf_\x1b[2J\n" (x)')


NESTED = "[" * 100_000 + "]" * 100_000
CASES: dict[str, Change] = {
    "brotli bomb": bomb,
    "cyclic views": several(
        declared("local_one", "view", "CREATE VIEW local_one AS SELECT * FROM local_two"),
        declared("local_two", "view", "CREATE VIEW local_two AS SELECT * FROM local_one"),
    ),
    "view that counts for ever, named like a table": replaced(
        "adf_loop",
        "CREATE VIEW adf_loop AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq FROM n",
    ),
    "triggers": several(
        run("CREATE TRIGGER t1 AFTER INSERT ON adf_loop BEGIN DELETE FROM adf_audit; END"),
        run("CREATE TRIGGER t2 BEFORE UPDATE ON adf_meta BEGIN SELECT randomblob(1000000000); END"),
    ),
    "nested JSON in every column": several(
        run("UPDATE adf_loop SET content_json = ?, tokens = ?", NESTED, NESTED),
        run("UPDATE adf_timers SET schedule_json = ?, scope = ?", NESTED, NESTED),
        run("UPDATE adf_tasks SET args = ?", NESTED),
    ),
    "nested config": run("UPDATE adf_config SET config_json = ?", '{"a":' * 100_000 + "1" + "}" * 100_000),
    "nested snapshot": run("UPDATE adf_audit SET data = ? WHERE id = 1", brotli.compress(NESTED.encode(), quality=1)),
    "text of 200 MB": run("UPDATE adf_logs SET message = CAST(zeroblob(200000000) AS TEXT) WHERE id = 1"),
    "blob of 200 MB for a text": run("UPDATE adf_loop SET content_json = zeroblob(200000000) WHERE seq = 10"),
    "file of 200 MB": run("UPDATE adf_files SET content = zeroblob(200000000) WHERE path = 'README.md'"),
    "2,000 columns": many_columns,
    "50,000 tables": many_tables,
    "virtual table named like a table": several(
        run("DROP TABLE adf_logs"), declared("adf_logs", "table", "CREATE VIRTUAL TABLE adf_logs USING fts5(message)")
    ),
    "virtual table of an unknown module": several(
        run("DROP TABLE adf_logs"), declared("adf_logs", "table", "CREATE VIRTUAL TABLE adf_logs USING nobody_knows(x)")
    ),
    "generated columns": replaced(
        "adf_logs",
        "CREATE TABLE adf_logs (id INTEGER PRIMARY KEY AUTOINCREMENT, level TEXT AS (hex(zeroblob(1000))) VIRTUAL,"
        " message TEXT AS (printf('%.*c', 100000000, 'x')) VIRTUAL, data TEXT, created_at INTEGER);"
        " INSERT INTO adf_logs (created_at) VALUES (1), (2), (3)",
    ),
    "expensive index expression": run("CREATE INDEX local_slow ON adf_logs (length(printf('%.*c', 1000000, message)))"),
    "table without rowid": replaced(
        "adf_loop", "CREATE TABLE adf_loop (seq INTEGER PRIMARY KEY, role TEXT, content_json TEXT) WITHOUT ROWID"
    ),
    "column named rowid": replaced(
        "adf_logs", "CREATE TABLE adf_logs (rowid TEXT, oid TEXT, _rowid_ TEXT, id INTEGER, message TEXT)"
    ),
    "config of 20 MB": big_config,
    "config with 100,000 wrong loops and tools": wide_config,
    "100,000 findings": many_findings,
    "terrible names": names_of_terror,
    "long number": run("UPDATE adf_tasks SET args = ?", '{"n":' + "9" * 1_000_000 + "}"),
    "long number in a version": run("UPDATE adf_meta SET value = ? WHERE key = 'adf_schema_version'", "3" * 1_000_000),
    "huge number": run("UPDATE adf_tasks SET args = ?", '{"n":1e999999999}'),
    "long key": run("UPDATE adf_tasks SET args = ?", json.dumps({"k" * 1_000_000: [{"k" * 1_000_000: 1}] * 3})),
    "many keys": run("UPDATE adf_loop SET tokens = ?", json.dumps({f"k{number}": -1 for number in range(200_000)})),
    "twice the same key": run("UPDATE adf_tasks SET args = ?", "{" + '"k":1,' * 100_000 + '"k":1}'),
    "100,000 broken blocks": run(
        "UPDATE adf_loop SET content_json = ? WHERE seq = 10",
        json.dumps([{"type": "text", "text": n} for n in range(100_000)]),
    ),
    "cron of a million fields": run(
        "UPDATE adf_timers SET schedule_json = ?", json.dumps({"mode": "cron", "cron": "* " * 1_000_000})
    ),
    "pattern that backtracks": run(
        "UPDATE adf_meta SET value = ? WHERE key = 'adf_did'", "did:" + "a" * 1_000_000 + "\n"
    ),
    "secret hunter's nightmare": run(
        "UPDATE adf_loop SET content_json = ? WHERE seq = 10",
        json.dumps([{"type": "text", "text": "-----BEGIN " * 300_000 + "sk-" * 300_000}]),
    ),
    "largest numbers": several(
        run("UPDATE adf_loop SET seq = 9223372036854775807 WHERE seq = 19"),
        run("UPDATE adf_loop SET seq = -9223372036854775808 WHERE seq = 10"),
        run("UPDATE adf_logs SET created_at = 9e300"),
        run("UPDATE adf_audit SET start_seq = -9223372036854775808, end_seq = 9223372036854775807 WHERE id = 1"),
        run("UPDATE sqlite_sequence SET seq = 9e18 WHERE name = 'adf_loop'"),
    ),
    "default that cannot be parsed": declared("adf_more", "table", "CREATE TABLE adf_more (x DEFAULT (no such"),
    "schema of nulls": several(
        run("PRAGMA writable_schema = ON"),
        run("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (NULL, NULL, NULL, NULL, NULL)"),
    ),
    "schema of blobs": several(
        run("PRAGMA writable_schema = ON"),
        run("INSERT INTO sqlite_schema VALUES (x'ff', x'fe', x'fd', 'many', x'fc')"),
    ),
    "two tables on one page": several(
        run("PRAGMA writable_schema = ON"),
        run(
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'adf_logs')"
            " WHERE name = 'adf_loop'"
        ),
    ),
    "wrong encoding": several(run("PRAGMA writable_schema = ON"), run("PRAGMA encoding = 'UTF-16'")),
    "sqlite_sequence of text": run("UPDATE sqlite_sequence SET seq = 'many', name = x'00'"),
}
HEAVY = {"50,000 tables", "100,000 findings"}
SILENT = {  # legal, however unpleasant
    "expensive index expression",
    "wrong encoding",
    "file of 200 MB",
    "long number",
    "huge number",
    "long key",
    "secret hunter's nightmare",
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_is_answered_within_the_limits(name: str, rich: bytes, tmp_path: Path, arena: Arena) -> None:
    """At every depth: no crash, no hang, at most 512 MB, nothing left behind, bounded output, no raw escapes."""
    path = tmp_path / "hostile.adf"
    path.write_bytes(rich)
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON"
    ).fetchall()
    CASES[name](connection)
    connection.close()
    for depth in range(DEEP + 1) if name not in HEAVY else (1,):
        answer = arena.judge(path, depth)
        assert "traceback" not in answer, f"depth {depth}: {answer['traceback']}"
        assert len(json.dumps(answer)) < 2_000_000
        said = str(answer.get("error")) + "".join(finding["message"] for finding in answer["findings"])
        assert not any(char in said for char in "\x1b\x07\0\u202e"), "raw control characters in a message"
        if depth:
            assert answer.get("error") or answer["findings"] or name in SILENT
