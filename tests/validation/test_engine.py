"""One file is validated to its end: damage, limits and faults of ours in one check hide nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from core_files import build, check, findings

from adf_format import structure
from adf_format.schemas import LATEST, OLDEST
from adf_format.validation import engine
from adf_format.validation.context import Context, Depth, Pass, Visit
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.report import FileReport
from adf_format.validation.rules.config.shape import STORED_LOOP_NAME
from adf_format.validation.rules.references.timers import INTERRUPTED
from adf_format.validation.rules.rows.columns import CLOSED_SET

BAD_ROLE = "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('system', '[]', 0)"
BAD_FLAG = (
    "INSERT INTO adf_files (path, content, mime_type, size, protection, authorized, created_at, updated_at)"
    " VALUES ('a.md', x'', 'text/markdown', 0, 'none', 7, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')"
)


def unchecked(report: FileReport) -> dict[str, str]:
    return {one["what"]: one["why"] for one in report.stats.not_checked}


# --- a sound file


@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_an_empty_agent_has_no_error_and_every_table_was_read(tmp_path: Path, version: int) -> None:
    report = check(build(tmp_path / "a.adf", version=version))
    assert report.error is None
    assert report.valid, report.findings
    assert report.schema_version == version
    assert report.stats.rows["adf_meta"] == 3
    assert "rows of adf_loop" not in unchecked(report)


def test_a_row_that_breaks_the_schema_is_found_with_its_place(tmp_path: Path) -> None:
    report = check(build(tmp_path / "a.adf", BAD_ROLE, BAD_ROLE), [CLOSED_SET.id])
    (one,) = report.findings
    assert (one.table, one.rowid, one.column, one.count) == ("adf_loop", 1, "role", 2)
    assert not report.valid


# --- what cannot be opened


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00", bytes(4096)])
def test_what_is_no_file_of_the_format_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.adf"
    path.write_bytes(content)
    report = validate_file(path)
    assert report.error is not None
    assert report.error.startswith(str(path))
    assert len(report.error.splitlines()) == 1
    assert (report.valid, report.schema_version, report.findings) == (False, None, [])


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert "a.adf" in (validate_file(tmp_path / "a.adf").error or "")


def test_a_name_in_the_schema_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "CREATE TABLE local_xyz (a TEXT)")
    path.write_bytes(path.read_bytes().replace(b"local_xyz", b"local_\xff\xfe\xfd"))
    report = validate_file(path)
    assert report.error is not None
    assert len(report.error.splitlines()) == 1


# --- damage


def damaged(path: Path, table: str) -> Path:
    """Overwrite the root page of a table with zeros."""
    connection = apsw.Connection(str(path))
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    size = connection.execute("PRAGMA page_size").get
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = bytes(size)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("table", ["adf_loop", "adf_logs", "adf_identity"])
def test_a_damaged_table_is_named_and_hides_no_other(tmp_path: Path, table: str) -> None:
    path = damaged(build(tmp_path / "a.adf", BAD_FLAG), table)
    report = validate_file(path)
    assert "ADF102" in findings(report)
    assert f"rows of {table}" in unchecked(report)
    assert any(one.rule == CLOSED_SET.id and one.table == "adf_files" for one in report.findings)
    assert report.stats.rows["adf_files"] == 1


def test_rows_before_a_damaged_page_are_counted_and_looked_at(tmp_path: Path) -> None:
    long = (
        "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('system', json_array(printf('%3000c', 'x')), 0)"
    )
    path = build(tmp_path / "a.adf", *[long] * 50)
    connection = apsw.Connection(str(path))
    pages = [
        row[0] for row in connection.execute("SELECT pageno FROM dbstat WHERE name = 'adf_loop' AND pagetype = 'leaf'")
    ]
    connection.close()
    content = bytearray(path.read_bytes())
    content[(pages[20] - 1) * 4096 : pages[20] * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    report = validate_file(path)
    assert 0 < report.stats.rows["adf_loop"] < 50
    assert any(one.rule == CLOSED_SET.id and one.table == "adf_loop" for one in report.findings)
    assert "rows of adf_loop" in unchecked(report)


# --- what is missing


def test_checks_of_a_missing_table_are_named_and_the_others_run(tmp_path: Path) -> None:
    report = check(build(tmp_path / "a.adf", BAD_ROLE, "DROP TABLE adf_identity", "DROP TABLE adf_files"))
    assert unchecked(report)["rows of adf_identity"] == "the table adf_identity is missing"
    assert unchecked(report)["files of the mind"] == "the table adf_files is missing"
    assert CLOSED_SET.id in findings(report)


def test_checks_of_a_missing_column_are_named_and_the_others_run(tmp_path: Path) -> None:
    report = check(build(tmp_path / "a.adf", "ALTER TABLE adf_tasks DROP COLUMN completed_at", BAD_ROLE))
    assert unchecked(report)["times of tasks"] == "adf_tasks lacks a column it needs"
    assert CLOSED_SET.id in findings(report)


def test_a_table_without_rowid_is_named_as_unchecked(tmp_path: Path) -> None:
    report = check(
        build(
            tmp_path / "a.adf",
            "DROP TABLE adf_tasks",
            "CREATE TABLE adf_tasks (id TEXT PRIMARY KEY, status TEXT) WITHOUT ROWID",
        )
    )
    assert unchecked(report)["rows of adf_tasks"] == "it is a WITHOUT ROWID table"
    assert report.error is None


def test_a_table_that_the_storage_version_does_not_have_is_not_judged(tmp_path: Path) -> None:
    table = "CREATE TABLE adf_attestations (id INTEGER PRIMARY KEY, role TEXT)"
    report = check(build(tmp_path / "a.adf", table, "INSERT INTO adf_attestations VALUES (1, 'x')", version=21))
    assert unchecked(report)["rows of adf_attestations"] == "this storage version does not have it"
    assert not [one for one in report.findings if one.table == "adf_attestations" and one.rule.startswith("ADF3")]


def test_columns_that_hide_the_rowid_are_named_as_unchecked(tmp_path: Path) -> None:
    adds = [
        "DROP TABLE adf_logs",
        "CREATE TABLE adf_logs (id TEXT, level TEXT, rowid TEXT, _rowid_ TEXT, oid TEXT)",
    ]
    report = check(build(tmp_path / "a.adf", *adds, BAD_ROLE))
    assert unchecked(report)["rows of adf_logs"] == "columns hide the rowid"
    assert report.error is None
    assert CLOSED_SET.id in findings(report)


# --- versions


@pytest.mark.parametrize(("written", "version"), [("33", 33), ("17", 17), ("999999999", 999999999), ("0", 0)])
def test_a_version_that_is_not_described_is_checked_as_far_as_rules_reach(
    tmp_path: Path, written: str, version: int
) -> None:
    path = build(
        tmp_path / "a.adf", f"UPDATE adf_meta SET value = '{written}' WHERE key = 'adf_schema_version'", BAD_ROLE
    )
    report = check(path)
    assert report.error is None
    assert report.schema_version == version
    assert CLOSED_SET.id in findings(report)


@pytest.mark.parametrize("written", ["", "v32", "3e1", "٣٢", "9999999999", "-1", "32 "])
def test_text_that_is_no_decimal_number_is_no_version(tmp_path: Path, written: str) -> None:
    path = build(tmp_path / "a.adf", f"UPDATE adf_meta SET value = '{written}' WHERE key = 'adf_schema_version'")
    report = check(path)
    assert report.schema_version is None
    assert report.error is None


@pytest.mark.parametrize(
    ("keys", "version"),
    [({"schema_version": "21"}, 21), ({"schema_version": "20", "adf_schema_version": "28"}, 28), ({}, None)],
)
def test_sto_002_the_old_name_of_the_key_counts_when_the_new_one_is_missing(
    keys: dict[str, str], version: int | None
) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE adf_meta (key TEXT PRIMARY KEY, value TEXT)")
    connection.executemany("INSERT INTO adf_meta VALUES (?, ?)", keys.items())
    assert engine.stored_version(connection) == version


def test_a_version_stored_as_a_number_is_read_too_but_bytes_are_no_text() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE adf_meta (key TEXT PRIMARY KEY, value)")
    for value, version in ((28, 28), (b"28", None), (b"\xff", None), (None, None)):
        connection.execute("INSERT OR REPLACE INTO adf_meta VALUES ('adf_schema_version', ?)", (value,))
        assert engine.stored_version(connection) == version


def test_a_version_that_is_not_utf8_is_no_version(tmp_path: Path) -> None:
    sql = "UPDATE adf_meta SET value = CAST(x'3332ff' AS TEXT) WHERE key = 'adf_schema_version'"
    report = check(build(tmp_path / "a.adf", sql))
    assert (report.schema_version, report.error) == (None, None)


# --- facts that rules share


def facts(path: Path, added: Callable[[Any], None]) -> list[Any]:
    """What a context says about the keys of `adf_meta` and the configuration of a file."""
    seen: list[Any] = []

    def look(context: Context) -> None:
        seen.extend([context.meta, context.config_text, context.config, context.declared_loops])

    added(Pass("a look", (INTERRUPTED,), look))
    assert check(path, [INTERRUPTED.id]).error is None
    return seen


def test_facts_of_a_file_without_keys_or_configuration_are_empty(
    tmp_path: Path, added: Callable[[Pass | Visit], None]
) -> None:
    path = build(tmp_path / "a.adf", BAD_ROLE, "DROP TABLE adf_meta", "CREATE TABLE adf_meta (key TEXT PRIMARY KEY)")
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE adf_config; CREATE TABLE adf_config (id INTEGER PRIMARY KEY)")
    connection.close()
    assert facts(path, added) == [{}, None, {}, frozenset()]
    report = check(path)
    assert report.schema_version is None
    assert CLOSED_SET.id in findings(report)


@pytest.mark.parametrize("text", ["'{'", "'[]'", "x'00'", "5"])
def test_a_configuration_that_cannot_be_read_counts_as_empty(
    tmp_path: Path, added: Callable[[Pass | Visit], None], text: str
) -> None:
    path = build(tmp_path / "a.adf", f"UPDATE adf_config SET config_json = {text}")
    _, _, config, loops = facts(path, added)
    assert (config, loops) == ({}, frozenset())


def test_the_row_of_the_configuration_is_the_one_with_id_1(
    tmp_path: Path, added: Callable[[Pass | Visit], None]
) -> None:
    _, text, config, _ = facts(build(tmp_path / "a.adf", "DELETE FROM adf_config"), added)
    assert (text, config) == (None, {})


def test_declared_loops_are_those_with_a_name_but_main(tmp_path: Path, added: Callable[[Pass | Visit], None]) -> None:
    loops = '[{"name":"a"},{"name":"main"},{"name":5},"b",{}]'
    path = build(tmp_path / "a.adf", f"UPDATE adf_config SET config_json = '{{\"loops\":{loops}}}'")
    assert facts(path, added)[3] == {"a"}


# --- depth and selection


@pytest.mark.parametrize(("depth", "skipped"), [(Depth.QUICK, True), (Depth.DEFAULT, False), (Depth.DEEP, False)])
def test_what_a_depth_leaves_out_is_named(tmp_path: Path, depth: Depth, skipped: bool) -> None:
    report = check(build(tmp_path / "a.adf", BAD_ROLE), depth=depth)
    assert report.stats.depth == depth.name.lower()
    assert (CLOSED_SET.id in findings(report)) is not skipped
    assert ("columns of adf_loop" in unchecked(report)) is skipped


def test_a_deep_check_leaves_nothing_out_for_want_of_depth(tmp_path: Path) -> None:
    report = check(build(tmp_path / "a.adf"), depth=Depth.DEEP)
    assert not [why for why in unchecked(report).values() if why.startswith("only with")]


def test_only_the_checks_of_chosen_rules_run(tmp_path: Path) -> None:
    report = check(build(tmp_path / "a.adf", BAD_ROLE, "UPDATE adf_meta SET protection = 'none'"), [CLOSED_SET.id])
    assert set(findings(report)) == {CLOSED_SET.id}
    assert check(tmp_path / "a.adf", []).stats.rows == {}


# --- faults of ours


def explode(*_arguments: Any) -> None:
    raise ZeroDivisionError("a fault\nof ours")


class Exploding:
    """A check that fails at a chosen moment."""

    def __init__(self, at: str, rows: int = 0) -> None:
        self.at, self.left = at, rows

    def __call__(self, *_arguments: Any) -> Exploding:
        if self.at == "make":
            explode()
        return self

    def row(self, *_arguments: Any) -> None:
        if self.at == "row" and self.left == 0:
            explode()
        self.left -= 1

    def finish(self) -> None:
        if self.at == "finish":
            explode()


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Pass | Visit], None]]:
    """Put a check of the test before those of the package; choices made for other tests are forgotten."""
    monkeypatch.setattr(structure, "_KNOWN", {})

    def add(one: Pass | Visit) -> None:
        if isinstance(one, Pass):
            known = engine.passes()
            monkeypatch.setattr(engine, "passes", lambda: (one, *known))
        else:
            visits = engine.visitors
            monkeypatch.setattr(
                engine, "visitors", lambda table: ((one,) if one.table == table else ()) + visits(table)
            )

    return add


def test_a_fault_in_one_check_is_told_and_the_others_run(tmp_path: Path, added: Callable[[Any], None]) -> None:
    added(Pass("a faulty check", (INTERRUPTED,), explode))
    report = check(build(tmp_path / "a.adf", BAD_ROLE))
    assert CLOSED_SET.id in findings(report)
    assert report.error is not None
    assert "internal error while checking a faulty check: ZeroDivisionError: a fault of ours" in report.error
    assert "a faulty check" in unchecked(report)
    assert not report.valid


@pytest.mark.parametrize(("at", "rows"), [("make", 0), ("row", 0), ("row", 1), ("finish", 0)])
def test_a_fault_on_a_row_leaves_the_other_checks_of_that_table(
    tmp_path: Path, added: Callable[[Any], None], at: str, rows: int
) -> None:
    added(Visit("a faulty check", (INTERRUPTED,), "adf_loop", Exploding(at, rows)))
    report = check(build(tmp_path / "a.adf", BAD_ROLE, BAD_ROLE, BAD_ROLE))
    (one,) = [one for one in report.findings if one.rule == CLOSED_SET.id]
    assert one.count == 3
    assert "a faulty check" in (report.error or "")
    assert report.stats.rows["adf_loop"] == 3


def test_several_faults_are_counted(tmp_path: Path, added: Callable[[Any], None]) -> None:
    for name in ("first", "second", "third"):
        added(Pass(name, (INTERRUPTED,), explode))
    assert "and 2 more" in (check(build(tmp_path / "a.adf")).error or "")


def test_lack_of_memory_is_left_to_the_caller(tmp_path: Path, added: Callable[[Any], None]) -> None:
    def hungry(_context: Context) -> None:
        raise MemoryError

    added(Pass("hungry", (INTERRUPTED,), hungry))
    with pytest.raises(MemoryError):
        check(build(tmp_path / "a.adf"))


def test_lack_of_memory_on_a_row_is_left_to_the_caller(tmp_path: Path, added: Callable[[Any], None]) -> None:
    class Hungry(Exploding):
        def row(self, *_arguments: Any) -> None:
            raise MemoryError

    added(Visit("hungry", (INTERRUPTED,), "adf_loop", Hungry("row")))
    with pytest.raises(MemoryError):
        check(build(tmp_path / "a.adf", BAD_ROLE))


# --- time


def test_a_passed_deadline_is_an_error_and_what_was_found_until_then_is_kept(
    tmp_path: Path, added: Callable[[Any], None]
) -> None:
    def slow(context: Context) -> None:
        context.report(INTERRUPTED, "found before the time was up")
        while True:
            context.container.check_deadline()

    added(Pass("slow", (INTERRUPTED,), slow))
    report = check(build(tmp_path / "a.adf"), deadline=0.2)
    assert "time limit" in (report.error or "")
    assert "found before the time was up" in {one.message for one in report.findings}
    assert "slow" in unchecked(report)


def test_a_statement_that_never_ends_is_stopped(tmp_path: Path, added: Callable[[Any], None]) -> None:
    def endless(context: Context) -> None:
        query = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        assert context.container.connection.execute(query).get is None

    added(Pass("endless", (INTERRUPTED,), endless))
    report = check(build(tmp_path / "a.adf"), deadline=0.2)
    assert "time limit" in (report.error or "")


# --- real files


REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here: they are private")
@pytest.mark.parametrize("file", sorted(REAL.glob("*.adf")), ids=lambda file: file.stem)
def test_no_real_file_has_an_error_but_the_damaged_one(tmp_path: Path, file: Path) -> None:
    for part in REAL.glob(f"{file.name}*"):
        shutil.copy(part, tmp_path)
    report = validate_file(tmp_path / file.name, Options(depth=Depth.DEEP))
    assert report.error is None
    assert report.valid is ("corrupt" not in file.name), report.findings


def test_a_limit_that_a_check_hits_is_named_once_and_is_no_damage(
    tmp_path: Path, added: Callable[[Pass | Visit], None]
) -> None:
    def too_big(_context: Context) -> None:
        raise apsw.TooBigError("string or blob too big")

    added(Pass("large values", (INTERRUPTED,), too_big))
    added(Pass("large values", (INTERRUPTED,), too_big))
    report = check(build(tmp_path / "a.adf"))
    assert [one["what"] for one in report.stats.not_checked].count("large values") == 1
    assert "ADF102" not in findings(report)
    assert report.error is None


# --- versions that nobody has described


@pytest.mark.parametrize("claimed", [1, OLDEST - 1, LATEST + 1, LATEST + 40])
def test_keys_that_another_version_may_know_are_not_blamed(tmp_path: Path, claimed: int) -> None:
    """What is unknown here may be a key of that version; what is surely wrong stays wrong, and both are said."""
    stamp = f"UPDATE adf_meta SET value = '{claimed}' WHERE key = 'adf_schema_version'"
    keys = (
        "UPDATE adf_config SET config_json = json_set(config_json, '$.model.temprature', 1, '$.triggers.on_moon',"
        " json('{}'), '$.metadata.loop_name', 'main')"
    )
    known, other = check(build(tmp_path / "a.adf", keys)), check(build(tmp_path / "b.adf", keys, stamp, BAD_ROLE))
    unknown = {"ADF411", "ADF463"}
    assert unknown <= set(findings(known))
    assert not unknown & set(findings(other))
    assert CLOSED_SET.id in findings(other)
    assert (STORED_LOOP_NAME.id in findings(other)) == (claimed >= STORED_LOOP_NAME.since)
    assert unchecked(other)["unknown keys of the configuration"] == f"storage version {claimed} is not described"
    assert "unknown keys of the configuration" not in unchecked(known)
