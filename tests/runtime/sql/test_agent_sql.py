"""SQL of the agent: what it may read and change, whatever the text looks like (AUD-040, config.md 2.7)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adf_format import sample
from adf_format.loops import Refused
from adf_format.runtime.sql import Result, execute, query, running
from adf_format.runtime.store import Store


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("ada") / "ada.adf"
    sample.build(path, 32)
    return path.read_bytes()


@pytest.fixture
def store(tmp_path: Path, ada: bytes) -> Iterator[Store]:
    path = tmp_path / "ada.adf"
    path.write_bytes(ada)
    opened = Store(path, lambda: 1_767_225_600_000)
    for sql in (
        "CREATE TABLE local_plants (id INTEGER PRIMARY KEY, name TEXT UNIQUE, wet INTEGER DEFAULT 0)",
        "INSERT INTO local_plants (name) VALUES ('rose'), ('fern')",
        "CREATE TABLE local_diary (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT UNIQUE)",
        "INSERT INTO local_diary (text) VALUES ('one'), ('two')",
    ):
        change(opened, sql)
    yield opened
    opened.close()


def read(store: Store, sql: str, *params: Any, most: int = 100) -> Result:
    return query(store, sql, params, most=most)


def change(store: Store, sql: str, *params: Any, protected: dict[str, str] | None = None) -> Result:
    return execute(store, sql, params, protections=protected or {}, most=100)


def fingerprint(store: Store) -> list[Any]:
    """Everything in the file but the agent's own tables."""
    names = [name for (name,) in store.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    kept = [name for name in names if not name.lower().startswith("local_") and name != "sqlite_sequence"]
    rows = [(name, store.connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in kept]
    return [
        rows,
        store.connection.execute("SELECT name, sql FROM sqlite_schema WHERE tbl_name NOT LIKE 'local_%'").fetchall(),
    ]


def test_select_reads_tables_of_the_agent_and_its_own_tables(store: Store) -> None:
    assert read(store, "SELECT name, wet FROM local_plants ORDER BY id").rows == [["rose", 0], ["fern", 0]]
    assert read(store, "SELECT count(*) FROM adf_loop").rows[0][0] > 0
    assert read(
        store, "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n"
    ).rows == [[15]]
    assert read(store, "SELECT ?1 || ?2 AS joined", "a", "b") == Result(("joined",), [["ab"]])
    assert read(store, "SELECT value FROM json_each('[1,2]')").rows == [[1], [2]]
    assert read(
        store, "SELECT name FROM sqlite_master WHERE name LIKE 'local_%' AND type = 'table' ORDER BY 1"
    ).rows == [
        ["local_diary"],
        ["local_notes"],
        ["local_plants"],
    ]
    assert read(store, "VALUES (1e999, NULL, 2.5)").rows == [["inf", None, 2.5]]


def test_aud_040_the_audit_is_read_with_its_blobs_as_base64_and_written_by_nobody(store: Store) -> None:
    (row,) = read(store, "SELECT source, data FROM adf_audit LIMIT 1").rows
    assert row[1].startswith("base64:")
    for sql in ("DELETE FROM adf_audit", "UPDATE adf_audit SET data = x''", "INSERT INTO adf_audit DEFAULT VALUES"):
        with pytest.raises(Refused, match="local_"):
            change(store, sql)


def test_rows_beyond_the_limit_are_told_of(store: Store) -> None:
    found = read(store, "SELECT id FROM local_plants", most=1)
    assert (len(found.rows), found.more) == (1, True)
    assert not read(store, "SELECT id FROM local_plants", most=2).more
    assert read(store, "SELECT id, name FROM local_plants WHERE 0").columns == ("id", "name")


NO_READING = [
    "SELECT * FROM adf_identity",
    "SELECT count(*) FROM adf_identity",
    "WITH RECURSIVE adf_config AS (SELECT 1) SELECT count(*) FROM main.adf_config",
    "SELECT count(*) FROM pragma_database_list",
    "SELECT 1 FROM ADF_Identity",
    'SELECT 1 FROM "adf_identity"',
    "SELECT 1 FROM main.adf_identity",
    "SELECT (SELECT hex(value) FROM adf_identity LIMIT 1)",
    "SELECT 1 WHERE EXISTS (SELECT * FROM adf_identity)",
    "WITH x AS (SELECT * FROM adf_identity) SELECT * FROM x",
    "SELECT * FROM local_plants JOIN adf_identity",
    "SELECT name FROM local_plants UNION SELECT purpose FROM adf_identity",
    "SELECT config_json FROM adf_config",
    "SELECT * FROM pragma_table_info('adf_identity')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM sqlite_temp_master",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT zeroblob(1000000000)",
    "SELECT fts3_tokenizer('simple')",
    "PRAGMA table_info(adf_identity)",
    "PRAGMA writable_schema = 1",
    "PRAGMA journal_mode = DELETE",
    "ATTACH '/tmp/x' AS y",
    "DETACH main",
    "VACUUM INTO '/tmp/x'",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT a",
    "EXPLAIN DELETE FROM adf_loop",
    "DELETE FROM local_plants",
    "DELETE FROM local_plants RETURNING name",
    "WITH x AS (SELECT 1) DELETE FROM local_plants",
    "CREATE TEMP TABLE x (a)",
    "CREATE TABLE local_x (a)",
    "ANALYZE",
    "REINDEX",
    "/* SELECT */ DELETE FROM local_plants",
    "SELECT 1; DELETE FROM local_plants",
    "SELECT 1; SELECT 2",
    "",
    "-- nothing",
    ";",
    "SELEC",
    "SELECT * FROM nothing",
    "SELECT ?",
    "SELECT '\x00",
]

NO_CHANGING = [
    "DELETE FROM adf_loop",
    "INSERT INTO adf_meta VALUES ('a', 'b', 'none')",
    "UPDATE adf_config SET config_json = '{}'",
    "UPDATE ADF_files SET content = ''",
    "REPLACE INTO adf_meta VALUES ('adf_name', 'x', 'none')",
    "DROP TABLE adf_audit",
    "DROP TABLE IF EXISTS adf_audit",
    "ALTER TABLE adf_loop ADD COLUMN x",
    "ALTER TABLE adf_loop RENAME TO local_loop",
    "ALTER TABLE local_plants RENAME TO adf_plants",
    "ALTER TABLE local_plants RENAME TO plants",
    "CREATE TABLE adf_new (a)",
    "CREATE TABLE new (a)",
    "CREATE TABLE temp.local_x (a)",
    "CREATE TEMP TABLE local_x (a)",
    "CREATE TABLE local_x AS SELECT * FROM adf_loop",
    "CREATE TABLE local_x AS SELECT * FROM adf_identity",
    "INSERT INTO local_plants (name) SELECT purpose FROM adf_identity",
    "INSERT INTO local_plants (name) SELECT role FROM adf_loop",
    "UPDATE local_plants SET name = (SELECT value FROM adf_identity)",
    "DELETE FROM local_plants WHERE EXISTS (SELECT 1 FROM adf_identity)",
    "CREATE INDEX local_i ON adf_loop (role)",
    "CREATE INDEX idx_adf_loop_x ON local_plants (name)",
    "CREATE INDEX adf_i ON local_plants (name)",
    "DROP INDEX idx_adf_loop_stream",
    "CREATE VIEW local_v AS SELECT * FROM adf_identity",
    "CREATE TRIGGER local_t AFTER INSERT ON local_plants BEGIN DELETE FROM adf_audit; END",
    "CREATE TRIGGER local_t AFTER INSERT ON adf_loop BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE local_f USING fts5(a)",
    "CREATE TABLE local_x (a REFERENCES adf_loop(seq))",
    "CREATE TABLE local_x (a, FOREIGN KEY (a) REFERENCES adf_audit(id) ON DELETE RESTRICT)",
    "ALTER TABLE local_plants ADD COLUMN l REFERENCES adf_loop(seq)",
    "INSERT INTO sqlite_master VALUES ('table', 'adf_x', 'adf_x', 2, 'CREATE TABLE adf_x (a)')",
    "UPDATE sqlite_master SET sql = 'x'",
    "DELETE FROM sqlite_master WHERE name = 'adf_loop'",
    "DELETE FROM sqlite_schema",
    "INSERT INTO local_plants (name) VALUES (1); DROP TABLE adf_audit",
    "INSERT INTO local_plants (name) VALUES ('x'); INSERT INTO local_plants (name) VALUES ('y')",
    "PRAGMA writable_schema = ON",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA user_version = 7",
    "ATTACH ':memory:' AS other",
    "VACUUM",
    "ANALYZE local_plants",
    "BEGIN",
    "ROLLBACK",
    "RELEASE x",
    "INSERT INTO local_plants (name) VALUES (load_extension('x'))",
    "SELECT sqlite_rename_table('main', 'table', 'adf_loop', '', 'adf_loop', 'x', 0)",
    "SELECT * FROM adf_identity",
]


@pytest.mark.parametrize("sql", NO_READING)
def test_db_query_refuses_everything_else_and_changes_nothing(store: Store, sql: str) -> None:
    before, rows = fingerprint(store), store.connection.execute("SELECT * FROM local_plants").fetchall()
    with pytest.raises(Refused) as caught:
        read(store, sql)
    assert (
        "adf_identity" not in str(caught.value)
        or "cannot read" in str(caught.value)
        or "SQL error" in str(caught.value)
    )
    assert fingerprint(store) == before
    assert store.connection.execute("SELECT * FROM local_plants").fetchall() == rows
    assert store.connection.get_autocommit()


@pytest.mark.parametrize("sql", NO_CHANGING)
def test_db_execute_refuses_whatever_reaches_beyond_local_tables_and_rolls_back(store: Store, sql: str) -> None:
    before, rows = fingerprint(store), store.connection.execute("SELECT * FROM local_plants").fetchall()
    with pytest.raises(Refused):
        change(store, sql)
    assert fingerprint(store) == before
    assert store.connection.execute("SELECT * FROM local_plants").fetchall() == rows
    assert store.connection.get_autocommit()


def test_after_a_refusal_the_store_works_as_before(store: Store) -> None:
    with pytest.raises(Refused):
        change(store, "DROP TABLE adf_loop")
    store.meta.set("status", "fine")
    assert store.meta.get("status") == "fine"


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("INSERT INTO local_plants (name) VALUES ('ivy'), ('oak')", 2),
        ("INSERT INTO LOCAL_plants (name) SELECT name || '2' FROM local_plants", 2),
        ("UPDATE local_plants SET wet = 1 WHERE name = 'rose'", 1),
        ("REPLACE INTO local_plants (id, name) VALUES (1, 'lily')", 1),
        ("DELETE FROM local_plants", 2),
        ("CREATE TABLE local_x (a TEXT, b INTEGER GENERATED ALWAYS AS (length(a)))", 0),
        ("CREATE TABLE IF NOT EXISTS local_plants (a)", 0),
        ("CREATE TABLE local_x (a REFERENCES local_plants(id))", 0),
        ("CREATE INDEX local_i ON local_plants (name)", 0),
        ("CREATE UNIQUE INDEX i2 ON local_plants (lower(name))", 0),
        ("ALTER TABLE local_plants ADD COLUMN height INTEGER", 0),
        ("ALTER TABLE local_plants RENAME TO local_flowers", 0),
        ("ALTER TABLE local_plants RENAME COLUMN wet TO watered", 0),
        ("ALTER TABLE local_plants DROP COLUMN wet", 0),
        ("DROP TABLE local_plants", 0),
        ("DROP TABLE local_diary", 0),
    ],
)
def test_own_tables_are_made_changed_and_dropped(store: Store, sql: str, changes: int) -> None:
    before = fingerprint(store)
    assert change(store, sql).changes == changes
    assert fingerprint(store) == before


def test_returning_gives_rows(store: Store) -> None:
    assert change(store, "INSERT INTO local_plants (name) VALUES (?) RETURNING id, name", "ivy").rows == [[3, "ivy"]]


APPEND = {"local_diary": "append_only"}


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE local_diary SET text = 'x'",
        "DELETE FROM local_diary",
        "DELETE FROM Local_Diary WHERE id = 1",
        "DROP TABLE local_diary",
        "ALTER TABLE local_diary RENAME TO local_gone",
        "ALTER TABLE local_diary DROP COLUMN text",
        "REPLACE INTO local_diary (id, text) VALUES (1, 'x')",
        "INSERT OR REPLACE INTO local_diary (text) VALUES ('one')",
        "INSERT INTO local_diary (id, text) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET text = 'x'",
        "REPLACE INTO local_diary (id, text) VALUES (1, 'a'), (9, 'b')",
    ],
)
def test_an_append_only_table_loses_and_changes_no_row(store: Store, sql: str) -> None:
    with pytest.raises(Refused):
        change(store, sql, protected=APPEND)
    assert read(store, "SELECT text FROM local_diary ORDER BY id").rows == [["one"], ["two"]]


@pytest.mark.parametrize("action", ["CASCADE", "SET NULL"])
@pytest.mark.parametrize(
    "sql", ["DELETE FROM local_bed", "UPDATE local_bed SET id = 9", "REPLACE INTO local_bed VALUES (1)"]
)
def test_no_reference_reaches_into_an_append_only_table(store: Store, action: str, sql: str) -> None:
    change(store, "CREATE TABLE local_bed (id INTEGER PRIMARY KEY)")
    change(store, "INSERT INTO local_bed VALUES (1)")
    reference = f"REFERENCES local_bed(id) ON DELETE {action} ON UPDATE {action}"
    protected = {"local_kept": "append_only"}
    change(store, f"CREATE TABLE local_kept (x, bed {reference})", protected=protected)
    change(store, "INSERT INTO local_kept VALUES (1, 1)", protected=protected)
    with contextlib.suppress(Refused):
        change(store, sql, protected=protected)
    assert read(store, "SELECT * FROM local_kept").rows == [[1, 1]]


def test_a_conflict_that_rolls_back_leaves_everything_as_it_was(store: Store) -> None:
    before = fingerprint(store)
    with pytest.raises(Refused, match="UNIQUE"):
        change(store, "INSERT OR ROLLBACK INTO local_plants (name) VALUES ('new'), ('rose')")
    assert store.connection.get_autocommit()
    assert len(read(store, "SELECT * FROM local_plants").rows) == 2
    assert fingerprint(store) == before


def test_a_table_whose_own_conflicts_replace_is_append_only_all_the_same(store: Store) -> None:
    protected = {"local_kept": "append_only"}
    change(store, "CREATE TABLE local_kept (x UNIQUE ON CONFLICT REPLACE, y)", protected=protected)
    change(store, "INSERT INTO local_kept VALUES (1, 'a')", protected=protected)
    with pytest.raises(Refused, match="append-only"):
        change(store, "INSERT INTO local_kept VALUES (1, 'b')", protected=protected)
    assert read(store, "SELECT * FROM local_kept").rows == [[1, "a"]]


def test_a_name_for_authorized_code_is_not_taken_by_a_rename(store: Store) -> None:
    with pytest.raises(Refused, match="authorized code"):
        change(store, "ALTER TABLE local_plants RENAME TO local_Safe", protected={"local_safe": "authorized"})
    assert len(read(store, "SELECT * FROM local_plants").rows) == 2


def test_rows_may_come_from_json(store: Store) -> None:
    sql = "INSERT INTO local_plants (name) SELECT value FROM json_each(?)"
    assert change(store, sql, '["ivy", "oak"]').changes == 2


def test_an_append_only_table_grows_and_other_tables_are_free(store: Store) -> None:
    assert change(store, "INSERT INTO local_diary (text) VALUES ('three')", protected=APPEND).changes == 1
    assert change(store, "INSERT OR IGNORE INTO local_diary (text) VALUES ('three')", protected=APPEND).changes == 0
    assert change(store, "REPLACE INTO local_plants (id, name) VALUES (1, 'x')", protected=APPEND).changes == 1


def test_a_table_for_authorized_code_is_read_only_here(store: Store) -> None:
    protected = {"local_plants": "authorized"}
    for sql in ("INSERT INTO local_plants (name) VALUES ('x')", "DROP TABLE local_plants"):
        with pytest.raises(Refused, match="authorized code"):
            change(store, sql, protected=protected)
    assert len(read(store, "SELECT * FROM local_plants").rows) == 2


def test_a_statement_without_end_is_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_MS", 50)
    endless = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(Refused, match="took longer"):
        read(store, endless)
    with pytest.raises(Refused, match="took longer"):
        change(store, f"INSERT INTO local_plants (wet) {endless}")
    assert len(read(store, "SELECT * FROM local_plants").rows) == 2


def test_a_value_without_measure_is_refused(store: Store) -> None:
    with pytest.raises(Refused, match="too big"):
        read(store, "SELECT replace(printf('%.*c', 1000000, 'x'), 'x', printf('%.*c', 1000, 'y'))")
    assert store.connection.limit(apsw.SQLITE_LIMIT_LENGTH) > running.MOST_BYTES, "only for the stretch"


WORDS = (
    "SELECT INSERT INTO UPDATE DELETE FROM REPLACE WITH x AS ( ) * , ; WHERE SET VALUES TABLE CREATE DROP ALTER"
    " RENAME TO adf_identity adf_loop adf_audit local_plants local_x sqlite_master main. temp. 1 'a' name wet = id"
    " RETURNING -- /* */ PRAGMA EXPLAIN VIEW TRIGGER INDEX ON IF EXISTS ATTACH BEGIN END UNION ALL"
)
PIECES = st.sampled_from(WORDS.split())


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=14).map(" ".join))
def test_whatever_is_put_together_touches_nothing_but_own_tables(store: Store, sql: str) -> None:
    before = fingerprint(store)
    for run in (read, change):
        with contextlib.suppress(Refused):
            run(store, sql)
        assert store.connection.get_autocommit()
    assert fingerprint(store) == before
