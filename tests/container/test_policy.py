from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from container_support import beside, make, untouched

from adf_format.container import Limits, check_integrity, open_readonly, translate
from adf_format.errors import DamagedError, LimitError, UnreadableError

DENIED = [
    "INSERT INTO t (b) VALUES (1)",
    "UPDATE t SET b = 1",
    "DELETE FROM t",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "CREATE TEMP VIEW x AS SELECT 1",
    "DROP TABLE t",
    "ALTER TABLE t RENAME TO u",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO '/tmp/never-made-by-adf-format'",
    "ATTACH ':memory:' AS other",
    "ATTACH '/tmp/never-made-by-adf-format' AS other",
    "DETACH main",
    "SELECT load_extension('x')",
    "SELECT randomblob(10)",
    "SELECT random()",
    "SELECT fts5(1)",
    "PRAGMA writable_schema=ON",
    "PRAGMA writable_schema",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA page_size=512",
    "PRAGMA user_version=5",
    "PRAGMA cell_size_check=OFF",
    "PRAGMA trusted_schema=ON",
    "PRAGMA temp_store_directory='/tmp'",
    "PRAGMA mmap_size=100000000",
    "PRAGMA cache_size=5",
    "PRAGMA wal_checkpoint",
    "PRAGMA optimize",
    "PRAGMA incremental_vacuum",
    "PRAGMA module_list",
    "CREATE VIRTUAL TABLE x USING dbstat",
]
ALLOWED = [
    "SELECT count(*), min(a), max(b), sum(length(b)), group_concat(substr(hex(b), 1, 2)) FROM t",
    "SELECT json_valid('{}'), json_extract('{\"a\":1}', '$.a'), '{\"a\":1}' ->> 'a', json_type('1')",
    "SELECT value FROM json_each('[1, 2]') UNION ALL SELECT key FROM json_tree('{}')",
    "SELECT row_number() OVER (ORDER BY a), lag(b) OVER () FROM t",
    "SELECT a FROM t WHERE b LIKE 'row%' AND b GLOB 'row*'",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT sum(i) FROM n",
    "SELECT name FROM pragma_table_xinfo('t')",
    "SELECT name FROM sqlite_schema",
    "SELECT sum(pgsize) FROM dbstat",
    "PRAGMA table_list",
    "PRAGMA table_xinfo(t)",
    "PRAGMA index_list('t')",
    "PRAGMA foreign_key_check",
    "PRAGMA quick_check(5)",
    "PRAGMA encoding",
    "PRAGMA journal_mode",
    "PRAGMA compile_options",
    "PRAGMA schema_version",
    "SAVEPOINT a; RELEASE a",
    "BEGIN; COMMIT",
]


@pytest.mark.parametrize("sql", DENIED)
def test_denied(folder: Path, sql: str) -> None:
    path = make(folder / "a.adf")
    with untouched(folder), open_readonly(path) as container, pytest.raises(apsw.Error):
        container.connection.execute(sql).fetchall()
    assert not Path("/tmp/never-made-by-adf-format").exists()  # noqa: S108


@pytest.mark.parametrize("sql", ALLOWED)
def test_allowed(folder: Path, sql: str) -> None:
    path = make(folder / "a.adf")
    with untouched(folder), open_readonly(path) as container:
        container.connection.execute(sql).fetchall()


def test_functions_of_our_own(folder: Path) -> None:
    with open_readonly(make(folder / "a.adf")) as container:
        container.connection.create_scalar_function("adff_twice", lambda x: x * 2, 1, deterministic=True)
        assert container.connection.execute("SELECT adff_twice(a) FROM t LIMIT 1").fetchall() == [(2,)]


def test_settings(folder: Path) -> None:
    with open_readonly(make(folder / "a.adf"), Limits(cache_bytes=2 << 20)) as container:
        connection = container.connection
        assert connection.pragma("cache_size") == -2048
        assert connection.pragma("cell_size_check") == 1
        assert connection.pragma("mmap_size") in {0, None}
        assert connection.limit(apsw.SQLITE_LIMIT_ATTACHED) == 0
        assert connection.limit(apsw.SQLITE_LIMIT_WORKER_THREADS) == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        assert connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1) == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1) == 0
        assert connection.readonly("main")


BOMB = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_bomb_stops_at_the_deadline(folder: Path) -> None:
    path = make(folder / "a.adf")
    begun = time.monotonic()
    with open_readonly(path, Limits(deadline_s=0.3)) as container:
        with pytest.raises(LimitError, match=r"time limit of 0\.3 s"):
            container.connection.execute(BOMB).fetchall()
        assert 0.2 < time.monotonic() - begun < 5
        with pytest.raises(LimitError):
            container.connection.execute(BOMB).fetchall()


INTERRUPT = """
import os, signal, sys, threading
from adf_format.container import open_readonly
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    open_readonly(sys.argv[1]).connection.execute(sys.argv[2]).fetchall()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_is_noticed_inside_a_statement(folder: Path) -> None:
    path = make(folder / "a.adf")
    command = [sys.executable, "-c", INTERRUPT, str(path), BOMB]
    assert subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout == "interrupted\n"


def test_views_and_triggers_do_not_run(folder: Path) -> None:
    script = (
        "CREATE VIEW adf_loop AS SELECT * FROM v2; CREATE VIEW v2 AS SELECT * FROM adf_loop;"
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM t; END"
    )
    with open_readonly(make(folder / "a.adf", rows=0, script=script)) as container:
        for sql in ("SELECT * FROM adf_loop", "SELECT * FROM v2"):
            with pytest.raises(apsw.SQLError):
                container.connection.execute(sql).fetchall()
        assert check_integrity(container).findings == ()


def test_large_values_are_refused(folder: Path) -> None:
    path = make(folder / "a.adf", script="INSERT INTO t (b) VALUES (zeroblob(100000))")
    with open_readonly(path, Limits(max_value_bytes=50000)) as container:
        with pytest.raises(apsw.TooBigError) as caught:
            container.connection.execute("SELECT b FROM t").fetchall()
        error = translate(caught.value, path, "t")
    assert isinstance(error, LimitError)
    assert str(error).startswith(f"{path}: t: a value, row or statement is larger")


MISSING_MODULE = "CREATE VIRTUAL TABLE local_v USING vec0(embedding float[4])"
VIRTUAL = [
    "CREATE VIRTUAL TABLE local_v USING fts5(x); INSERT INTO local_v VALUES ('hello')",
    "CREATE VIRTUAL TABLE local_v USING rtree(id, a, b); INSERT INTO local_v VALUES (1, 2, 3)",
    (
        "CREATE TABLE local_v_chunks (x); PRAGMA writable_schema=ON;"
        f"INSERT INTO sqlite_schema VALUES ('table', 'local_v', 'local_v', 0, '{MISSING_MODULE}')"
    ),
]


@pytest.mark.parametrize("script", VIRTUAL)
def test_virtual_tables_are_passed_over(folder: Path, script: str) -> None:
    """FTS5 and R-Tree are dropped on purpose: they are then like `vec0`, whose module nobody has (STO-020)."""
    path = make(folder / "a.adf", script=script)
    with untouched(folder), open_readonly(path) as container:
        assert check_integrity(container) == check_integrity(container, quick=True)
        assert check_integrity(container).findings == ()
        assert check_integrity(container).unchecked == ()
        kinds = container.connection.execute("SELECT type FROM pragma_table_list WHERE name = 'local_v'").fetchall()
        assert kinds == [("virtual",)]
        with pytest.raises(apsw.SQLError, match="no such module"):
            container.connection.execute("SELECT * FROM local_v").fetchall()


def test_tables_only_their_own_program_understands(folder: Path) -> None:
    path = make(folder / "a.adf")
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("own", lambda _x: 1, 1, deterministic=True)
    connection.create_collation("odd", lambda a, b: (a > b) - (a < b))
    connection.execute(
        'CREATE TABLE "local ""q" (a CHECK (own(a) = 1)); CREATE INDEX i1 ON "local ""q" (own(a));'
        "CREATE TABLE local_c (a COLLATE odd); CREATE INDEX i2 ON local_c (a); INSERT INTO local_c VALUES (1), ('x')"
    )
    connection.close()
    with open_readonly(path) as container:
        result = check_integrity(container)
    assert result.findings == ()
    assert [name for name, _ in result.unchecked] == ['local "q', "local_c"]
    with open_readonly(path, Limits(deadline_s=0.0)) as container:
        container.connection.set_progress_handler(lambda: True, 1)
        with pytest.raises(LimitError, match="interrupted"):
            check_integrity(container)
    assert "own" in result.unchecked[0][1]


def test_many_tables_and_columns(folder: Path) -> None:
    columns = ", ".join(f"c{number}" for number in range(1900))
    tables = "".join(f"CREATE TABLE local_{n} (a INTEGER PRIMARY KEY, b); " for n in range(400))
    with open_readonly(make(folder / "a.adf", script=f"CREATE TABLE wide ({columns}); {tables}")) as container:
        assert check_integrity(container).findings == ()


def test_damage_is_found(folder: Path) -> None:
    path = make(folder / "a.adf", rows=500)
    with path.open("r+b") as stream:
        stream.seek(4096 * 6)
        stream.write(b"\xa5" * 4096)
    with untouched(folder), open_readonly(path) as container:
        findings = check_integrity(container, most=3).findings
        assert 0 < len(findings) <= 4
        with pytest.raises(apsw.CorruptError) as caught:
            container.connection.execute("SELECT sum(length(b)) FROM t").fetchall()
    assert isinstance(translate(caught.value, path), DamagedError)


def test_the_check_keeps_the_deadline(folder: Path) -> None:
    path = make(folder / "a.adf", rows=20000)
    with open_readonly(path, Limits(deadline_s=0.0)) as container, pytest.raises(LimitError):
        check_integrity(container)


def test_translate_knows_everything() -> None:
    path = Path("a.adf")
    kept = DamagedError("x")
    assert translate(kept, path) is kept
    cases: list[tuple[BaseException, str]] = [
        (apsw.BusyError("b"), "LockedError"),
        (apsw.LockedError("b"), "LockedError"),
        (apsw.NotADBError("b"), "DamagedError"),
        (apsw.FullError("b"), "LimitError"),
        (apsw.InterruptError("b"), "LimitError"),
        (apsw.NoMemError("b"), "LimitError"),
        (apsw.PermissionsError("b"), "UnreadableError"),
        (apsw.CantOpenError("b"), "UnreadableError"),
        (apsw.ReadOnlyError("b"), "UnreadableError"),
        (apsw.AuthError("b"), "UnreadableError"),
        (apsw.IOError("b"), "UnreadableError"),
        (apsw.SQLError("no such\nmodule"), "UnreadableError"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "DamagedError"),
        (MemoryError(), "LimitError"),
        (ValueError(), "UnreadableError"),
        (OSError(28, "No space left on device"), "LimitError"),
        (OSError(13, "Permission denied"), "UnreadableError"),
        (OSError(2, "No such file"), "MissingFileError"),
        (OSError(5, "Input/output error"), "UnreadableError"),
    ]
    for exc, name in cases:
        error = translate(exc, path, "adf_loop")
        assert type(error).__name__ == name, exc
        assert isinstance(error, UnreadableError)
        assert "\n" not in str(error)
        assert error.place == "adf_loop"
    short = apsw.IOError("disk I/O error")
    short.extendedresult = apsw.SQLITE_IOERR_SHORT_READ
    assert isinstance(translate(short, path), DamagedError)


def test_text_that_is_not_unicode(folder: Path) -> None:
    path = make(folder / "a.adf", script="INSERT INTO t (b) VALUES (CAST(x'ff' AS TEXT))")
    with open_readonly(path) as container, pytest.raises(UnicodeDecodeError) as caught:
        container.connection.execute("SELECT b FROM t").fetchall()
    assert isinstance(translate(caught.value, path), DamagedError)


def test_stdlib_sqlite_can_still_use_the_file(folder: Path) -> None:
    path = make(folder / "a.adf")
    with open_readonly(path) as container:
        other = sqlite3.connect(path)
        other.execute("INSERT INTO t (b) VALUES (1)")
        other.commit()
        other.close()
        assert container.changed()
    assert not beside(path, "-wal").exists()
