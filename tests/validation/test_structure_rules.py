"""Rules on the schema as a whole: what is out of place, what is legal beside it, and when nothing can be said."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from family_support import build, inspect, rules, told
from hypothesis import given
from hypothesis import strategies as st

from adf_format.schemas import LATEST, OLDEST
from adf_format.validation.context import Depth
from adf_format.validation.rules import structure
from adf_format.validation.rules.structure import history, sqltext

VERSIONS = range(OLDEST, LATEST + 1)
STAMP = "UPDATE adf_meta SET value = '{}' WHERE key = 'adf_schema_version'"


def declare(name: str, sql: str, kind: str = "table") -> tuple[str, ...]:
    """Statements that put a declaration into the schema as it is, whether or not SQLite could run it."""
    quoted = sql.replace("'", "''")
    return (
        "PRAGMA writable_schema = ON",
        f"INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', '{name}', 0, '{quoted}')",
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fresh_file_of_any_version_gives_no_finding(tmp_path: Path, version: int) -> None:
    assert told(build(tmp_path / "a.adf", version=version), structure) == []


def test_a_migrated_file_gives_no_finding(tmp_path: Path) -> None:
    """Renamed tables have quoted names, added columns stand last, relics of old runtimes are there (STO-017)."""
    path = build(
        tmp_path / "a.adf",
        "ALTER TABLE adf_tasks ADD COLUMN approval_meta TEXT",
        "ALTER TABLE adf_loop ADD COLUMN ord INTEGER",
        "DROP TABLE adf_audit",
        "CREATE TABLE adf_audit_new (id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, start_seq INTEGER,"
        " end_seq INTEGER, ref TEXT, entry_count INTEGER NOT NULL, size_bytes INTEGER NOT NULL, data BLOB NOT NULL,"
        " created_at INTEGER NOT NULL)",
        "ALTER TABLE adf_audit_new RENAME TO adf_audit",
        "CREATE INDEX idx_adf_audit_source_start ON adf_audit(source, start_seq)",
        "ALTER TABLE adf_timers ADD COLUMN expired INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE adf_attestations (id INTEGER PRIMARY KEY AUTOINCREMENT, issuer TEXT NOT NULL, subject TEXT NOT"
        " NULL, role TEXT NOT NULL, issued_at TEXT NOT NULL, expires_at TEXT, scope TEXT, signature TEXT NOT NULL,"
        " raw_json TEXT NOT NULL)",
        "CREATE INDEX idx_adf_attestations_subject ON adf_attestations(subject)",
        "ALTER TABLE adf_files ADD COLUMN protected INTEGER DEFAULT 0",
        "CREATE TABLE adf_usage (day TEXT, tokens INTEGER)",
        STAMP.format(28),
        version=21,
    )
    assert told(path, structure) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_each_missing_table_is_named_and_nothing_else(tmp_path: Path, version: int) -> None:
    for name in history.tables():
        if name == "adf_meta" or version not in history.tables()[name]:
            continue
        found = told(build(tmp_path / f"{name}.adf", f"DROP TABLE {name}", version=version), structure)
        assert [(rule, table) for rule, table, _ in found] == [("ADF201", name)]


@pytest.mark.parametrize(
    "put",
    [
        ("CREATE VIEW adf_logs AS SELECT 1 AS id",),
        declare("adf_logs", "CREATE VIRTUAL TABLE adf_logs USING vec0(x)"),
        ("CREATE TABLE adf_logs (id INTEGER PRIMARY KEY, message TEXT) WITHOUT ROWID",),
    ],
)
def test_a_name_of_the_format_belongs_to_an_ordinary_table(tmp_path: Path, put: tuple[str, ...]) -> None:
    path = build(tmp_path / "a.adf", "DROP TABLE adf_logs", *put)
    assert "ADF202" in rules(path, structure)
    assert "ADF201" not in rules(path, structure)


def test_vector_tables_and_full_text_tables_of_the_agent_are_legal(tmp_path: Path) -> None:
    path = build(
        tmp_path / "a.adf",
        "CREATE VIRTUAL TABLE local_search USING fts5(text)",
        "CREATE TABLE local_vectors_chunks (id INTEGER PRIMARY KEY, vectors BLOB)",
        *declare("local_vectors", "CREATE VIRTUAL TABLE local_vectors USING vec0(embedding float[4])"),
    )
    assert told(path, structure) == []


@pytest.mark.parametrize("stored", ["20", "13", "1", "33", "1000", "nonsense", ""])
def test_versions_that_are_not_described_are_not_compared_and_that_is_said(tmp_path: Path, stored: str) -> None:
    path = build(tmp_path / "a.adf", "DROP TABLE adf_logs", "CREATE TABLE adf_new (x)", STAMP.format(stored))
    found, context = inspect(path, structure)
    assert found == []
    assert [entry["what"] for entry in context.stats.not_checked] == [structure.WHAT]


@pytest.mark.parametrize("stored", ["13", "32", "99", "?"])
def test_triggers_and_foreign_keys_are_found_whatever_the_version(tmp_path: Path, stored: str) -> None:
    path = build(
        tmp_path / "a.adf",
        "CREATE TRIGGER t AFTER INSERT ON adf_loop BEGIN SELECT 1; END",
        "CREATE TABLE local_x (seq REFERENCES adf_loop(seq))",
        STAMP.format(stored),
    )
    assert {"ADF222", "ADF223"} <= rules(path, structure, Depth.QUICK)


@pytest.mark.parametrize(
    ("body", "fires"),
    [
        ("ON local_a BEGIN DELETE FROM adf_loop; END", True),
        ("ON local_a BEGIN UPDATE [ADF_FILES] SET size = 0; END", True),
        ('ON local_a WHEN (SELECT count(*) FROM "adf_meta") BEGIN SELECT 1; END', True),
        ("ON local_a BEGIN INSERT INTO local_a SELECT 'adf_loop'; END", False),
        ("ON local_a BEGIN SELECT 1 /* adf_loop */; END", False),
        ("ON local_a BEGIN SELECT adf_loops FROM local_a; END", False),
    ],
)
def test_a_trigger_counts_when_it_can_reach_a_table_of_the_format(tmp_path: Path, body: str, fires: bool) -> None:
    path = build(tmp_path / "a.adf", "CREATE TABLE local_a (adf_loops)", f"CREATE TRIGGER t AFTER INSERT {body}")
    assert rules(path, structure) == ({"ADF222"} if fires else set())


def test_a_foreign_key_between_tables_of_the_agent_is_legal(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "CREATE TABLE local_a (x PRIMARY KEY)", "CREATE TABLE b (x REFERENCES local_a(x))")
    assert rules(path, structure) == {"ADF220"}  # b has no prefix


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE INDEX idx_adf_audit_source ON adf_audit(source)", "storage versions up to 27"),
        ("ALTER TABLE adf_audit ADD COLUMN start_at INTEGER", "storage versions up to 27"),
        ("ALTER TABLE adf_timers ADD COLUMN loop TEXT", "storage version 29"),
        ("CREATE INDEX idx_adf_outbox_created ON adf_outbox(created_at)", "storage version 32"),
    ],
)
def test_what_is_of_another_version_is_said_with_that_version(tmp_path: Path, statement: str, said: str) -> None:
    found = told(build(tmp_path / "a.adf", statement, version=28), structure)
    assert [rule for rule, _, _ in found] == ["ADF218"]
    assert found[0][2].endswith(said)


def test_a_table_before_its_time_is_of_another_version(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "CREATE TABLE adf_attestations (id INTEGER PRIMARY KEY)", version=21)
    assert told(path, structure) == [("ADF218", "adf_attestations", "a table of storage version 24")]


def test_a_raised_version_number_names_what_the_migration_would_have_made(tmp_path: Path) -> None:
    """A file of version 27 that says 28 (T6)."""
    messages = {message for _, _, message in told(build(tmp_path / "a.adf", STAMP.format(28), version=27), structure)}
    assert "the column is missing; it came with storage version 28" in messages


def test_the_table_of_counters_is_needed(tmp_path: Path) -> None:
    path = build(
        tmp_path / "a.adf", "PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE name = 'sqlite_sequence'"
    )
    assert ("ADF210", "sqlite_sequence") in {(rule, table) for rule, table, _ in told(path, structure)}


def test_hundreds_of_strange_objects_give_a_bounded_report_in_bounded_time(tmp_path: Path) -> None:
    tables = (f"CREATE TABLE adf_x{at} (a UNIQUE, b REFERENCES adf_x{at}(a))" for at in range(500))
    found, context = inspect(build(tmp_path / "a.adf", *tables), structure)
    assert len(found) <= 100
    assert context.collector.left_out == {"ADF220": 450, "ADF223": 450}


def test_names_in_another_case_are_other_names(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "DROP TABLE adf_logs", "CREATE TABLE ADF_LOGS (x)")
    assert rules(path, structure) == {"ADF201", "ADF220"}


@pytest.mark.parametrize(
    ("declared", "affinity"),
    [
        ("INT", "INTEGER"),
        ("FLOATING POINT", "INTEGER"),
        ("CHARINT", "INTEGER"),
        ("VARCHAR(9)", "TEXT"),
        ("CLOB", "TEXT"),
        ("", "BLOB"),
        ("BLOB", "BLOB"),
        ("DOUBLE", "REAL"),
        ("STRING", "NUMERIC"),
        ("BOOLEAN", "NUMERIC"),
    ],
)
def test_affinity_is_the_one_that_sqlite_gives(declared: str, affinity: str) -> None:
    assert sqltext.affinity(declared) == affinity


@given(st.sampled_from(["INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC"]), st.sampled_from(["12", "1.5", "x", ""]))
def test_a_value_in_a_column_of_the_same_affinity_is_stored_alike(affinity: str, value: str) -> None:
    """Why another spelling of a type is no error: SQLite stores the same storage class."""
    connection = apsw.Connection(":memory:")
    spelled = {"INTEGER": "BIGINT", "TEXT": "VARCHAR(9)", "BLOB": "LONGBLOB", "REAL": "DOUBLE", "NUMERIC": "DECIMAL"}
    assert sqltext.affinity(spelled[affinity]) == affinity
    connection.execute(f"CREATE TABLE t (a {affinity}, b {spelled[affinity]})")
    connection.execute("INSERT INTO t VALUES (?, ?)", (value, value))
    assert connection.execute("SELECT typeof(a) = typeof(b) FROM t").get == 1


SQL = st.text(alphabet="ab()'\"`[],=. CHECKcheck\n-/*", max_size=60)


@given(SQL)
def test_any_text_can_be_taken_apart(text: str) -> None:
    """Declarations come from the file: none may raise, however malformed."""
    sqltext.normal(text)
    sqltext.default(text)
    sqltext.checks(text)
    sqltext.index_keys(text)
    sqltext.table_options(text)


@given(st.lists(st.sampled_from(["a", "=", "==", "1", "'x'", "(", ")", "in", ","]), max_size=12))
def test_normalising_a_check_twice_changes_nothing(words: list[str]) -> None:
    once = sqltext.check(words)
    assert sqltext.check(once) == once
