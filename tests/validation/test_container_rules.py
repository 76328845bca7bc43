"""Rules on the container: damage is located, versions are told apart, the writer's last moments are read."""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path

import apsw
import pytest
from family_support import build, inspect, leave_log, rules, told

from adf_format.container.integrity import MOST
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.validation import engine
from adf_format.validation.context import Depth
from adf_format.validation.rule import Rule
from adf_format.validation.rules import container
from adf_format.validation.rules.container import catalogue, integrity

STAMP = "UPDATE adf_meta SET value = '{}' WHERE key = 'adf_schema_version'"
BUSY = "INSERT INTO adf_meta VALUES ('status', 'busy', 'none')"
LONG = "INSERT INTO adf_logs (message, created_at) VALUES (hex(zeroblob(9000)), 0)"
ROWS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
    " INSERT INTO adf_logs (level, origin, message, created_at) SELECT 'info', 'o' || i, printf('%0100d', i), i FROM n"
)


def redirect(name: str, root_of: str) -> tuple[str, ...]:
    """Statements that let a table or index begin at another's root page."""
    root = f"(SELECT rootpage FROM sqlite_schema WHERE name = '{root_of}')"
    return "PRAGMA writable_schema = ON", f"UPDATE sqlite_schema SET rootpage = {root} WHERE name = '{name}'"


def swap(one: str, other: str) -> tuple[str, ...]:
    """Statements that let two indexes change places: each page is in order, but they belong elsewhere."""
    both = f"('{one}', '{other}')"
    total = f"(SELECT sum(rootpage) FROM sqlite_schema WHERE name IN {both})"
    change = f"UPDATE sqlite_schema SET rootpage = {total} - rootpage WHERE name IN {both}"
    return "PRAGMA writable_schema = ON", change


def pages_of(path: Path, table: str) -> list[int]:
    """Numbers of the pages of a table, root first."""
    connection = apsw.Connection(str(path))
    found = [row[0] for row in connection.execute("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path", (table,))]
    connection.close()
    return found


def overwrite(path: Path, page: int, data: bytes, offset: int = 0) -> None:
    with path.open("r+b") as stream:
        stream.seek((page - 1) * 4096 + offset)
        stream.write(data)


@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_a_fresh_file_of_any_version_gives_no_finding(tmp_path: Path, version: int, depth: Depth) -> None:
    assert told(build(tmp_path / "a.adf", version=version), container, depth) == []


@pytest.mark.parametrize("table", storage_version(LATEST).tables)
def test_an_index_that_lacks_rows_is_found_and_placed(tmp_path: Path, table: str) -> None:
    """Per index of the table: its entries are made to be those of an empty index elsewhere."""
    for index in storage_version(LATEST).tables[table].indexes:
        other = next(one for one in ("idx_adf_tasks_status", "idx_adf_timers_wake") if one != index.name)
        required = [column for column in storage_version(LATEST).tables[table].columns if column.not_null]
        names = ", ".join(f'"{column.name}"' for column in required if not column.primary_key)
        values = ", ".join("1" for column in required if not column.primary_key)
        path = build(
            tmp_path / f"{index.name}.adf",
            f"INSERT INTO {table} ({names}) VALUES ({values})",
            *redirect(index.name, other),
        )
        assert ("ADF101", table) in {(rule, at) for rule, at, _ in told(path, container)}


def test_the_quick_check_does_not_compare_indexes(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", ROWS, *swap("idx_adf_logs_level", "idx_adf_logs_origin"))
    assert rules(path, container) == {"ADF101"}
    assert rules(path, container, Depth.QUICK) == set()


@pytest.mark.parametrize("garbage", [b"\0" * 4096, b"\xff" * 4096, b"\x0d\0\0\xff\xff\0\0\0", b"\x05" * 100])
def test_a_damaged_page_is_placed_in_its_table(tmp_path: Path, garbage: bytes) -> None:
    path = build(tmp_path / "a.adf", ROWS)
    page = pages_of(path, "adf_logs")[3]
    overwrite(path, page, garbage)
    found = told(path, container)
    assert found
    assert {rule for rule, _, _ in found} == {"ADF101"}
    assert {table for _, table, _ in found} <= {"adf_logs", None}
    assert "adf_logs" in {table for _, table, _ in found}


def test_a_hundred_damaged_rows_give_few_findings(tmp_path: Path) -> None:
    """Messages carry no row and page numbers, so they are grouped."""
    path = build(tmp_path / "a.adf", ROWS, *swap("idx_adf_logs_level", "idx_adf_logs_origin"))
    found, _ = inspect(path, container)
    assert len(found) == 2
    assert sum(one.count for one in found) == MOST


def test_values_that_the_row_rules_look_at_are_not_reported_twice(tmp_path: Path) -> None:
    """NULL in a NOT NULL column of the format: the scan of the table names the row. With --quick there is no scan."""
    edit = "UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE name = 'adf_logs'"
    nullable, not_null = "message TEXT,", "message TEXT NOT NULL,"
    path = build(tmp_path / "a.adf", "PRAGMA writable_schema = ON", edit.format(not_null, nullable))
    for statement in ("INSERT INTO adf_logs (created_at) VALUES (1)", "PRAGMA writable_schema = ON"):
        connection = apsw.Connection(str(path))
        connection.execute(statement)
        if "PRAGMA" in statement:
            connection.execute(edit.format(nullable, not_null))
        connection.close()
    assert rules(path, container) == set()
    assert rules(path, container, Depth.QUICK) == {"ADF101"}


def test_a_table_of_the_agent_with_null_where_none_may_be_is_reported(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "CREATE TABLE local_x (a TEXT)", "INSERT INTO local_x VALUES (NULL)")
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE local_x (a TEXT NOT"
                       " NULL)' WHERE name = 'local_x'")  # fmt: skip
    connection.close()
    assert [(rule, message) for rule, _, message in told(path, container)] == [("ADF101", "NULL value in local_x.a")]


def test_virtual_tables_without_their_module_are_no_damage(tmp_path: Path) -> None:
    path = build(
        tmp_path / "a.adf",
        "CREATE VIRTUAL TABLE local_search USING fts5(text)",
        "INSERT INTO local_search VALUES ('hello')",
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_schema VALUES ('table', 'local_v', 'local_v', 0,"
        " 'CREATE VIRTUAL TABLE local_v USING vec0(embedding float[4])')",
    )
    found, context = inspect(path, container)
    assert found == []
    assert context.stats.not_checked == []


@pytest.mark.parametrize(
    ("declarations", "old", "new"),
    [
        (["CREATE TABLE local_x (a)", "CREATE INDEX local_i ON local_x(abs(a))"], "abs", "of_the_runtime"),
        (["CREATE TABLE local_x (a)", "CREATE INDEX local_i ON local_x(a) WHERE abs(a)"], "abs", "of_the_runtime"),
        (["CREATE TABLE local_x (a COLLATE NOCASE)", "CREATE INDEX local_i ON local_x(a)"], "NOCASE", "GERMAN"),
        (["CREATE TABLE local_x (a, b AS (abs(a)))", "CREATE INDEX local_i ON local_x(b)"], "abs", "soundex"),
    ],
)
def test_a_schema_that_needs_the_runtime_is_checked_as_far_as_it_goes(
    tmp_path: Path, declarations: list[str], old: str, new: str
) -> None:
    """Tables of the agent may use functions and collations that only its runtime knows, or that we do not allow."""
    path = build(
        tmp_path / "a.adf",
        ROWS,
        *declarations,
        "INSERT INTO local_x (a) VALUES (1)",
        *swap("idx_adf_logs_level", "idx_adf_logs_origin"),
        f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE tbl_name = 'local_x'",
    )
    found, context = inspect(path, container)
    assert {(one.rule, one.table) for one in found} == {("ADF101", "adf_logs")}
    assert [entry["what"] for entry in context.stats.not_checked] == [
        "integrity of all pages",
        "integrity of local_x",
    ]


@pytest.mark.parametrize(
    ("line", "said", "owner"),
    [
        ("row 7 missing from index i", 'rows are missing from the index "i"', "i"),
        ("row 7 values differ from index a b", 'the index "a b" has other values than its table', "a b"),
        ("wrong # of entries in index i", 'the index "i" has too many or too few entries', "i"),
        ("non-unique entry in index i", 'the unique index "i" has equal entries', "i"),
        ("Tree 5 page 6 cell 3: Rowid 12 out of order", "a damaged page: Rowid 12 out of order", "#5"),
        ("Tree 5 page 6: btreeInitPage() returns error code 11", None, "#5"),
        ("Tree 5 page 6 right child: Bad ptr map entry", None, "#5"),
        ("Page 9: never used", "pages outside every table: never used", None),
        ("NULL value in adf_meta.value", "NULL value in adf_meta.value", "adf_meta"),
        ("something new \x1b[2J", "something new \\u001b[2J", None),
    ],
)
def test_messages_of_sqlite_are_placed_and_freed_of_numbers(line: str, said: str | None, owner: str | None) -> None:
    message, found = integrity._readable(line)
    assert found == owner
    assert said in (None, message)
    assert not re.search(r"(row|page|cell) \d", message)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("32", set()),
        ("032", set()),
        ("21", set()),
        ("20", {"ADF106"}),
        ("0", {"ADF106"}),
        ("33", {"ADF105"}),
        ("999999999", {"ADF105"}),
        ("9999999999999999999999", {"ADF104"}),
        ("", {"ADF104"}),
        ("-1", {"ADF104"}),
        (" 32", {"ADF104"}),
        ("32.0", {"ADF104"}),
        ("0x20", {"ADF104"}),
        ("\u0663\u0662", {"ADF104"}),
        ("thirty-two", {"ADF104"}),
    ],
)
def test_a_storage_version_is_a_decimal_number(tmp_path: Path, value: str, expected: set[str]) -> None:
    assert rules(build(tmp_path / "a.adf", STAMP.format(value)), container) == expected


def test_the_old_key_counts_where_the_new_one_is_missing(tmp_path: Path) -> None:
    gone = "DELETE FROM adf_meta WHERE key = 'adf_schema_version'"
    old = "INSERT INTO adf_meta VALUES ('schema_version', '13', 'none')"
    assert rules(build(tmp_path / "a.adf", gone), container) == {"ADF104"}
    assert rules(build(tmp_path / "b.adf", gone, old), container) == {"ADF106"}
    assert rules(build(tmp_path / "c.adf", old), container) == set()


def test_a_newer_version_is_told_with_both_numbers(tmp_path: Path) -> None:
    [(_, _, message)] = told(build(tmp_path / "a.adf", STAMP.format(LATEST + 8)), container)
    assert str(LATEST) in message
    assert str(LATEST + 8) in message


@pytest.mark.parametrize(("extra", "fires"), [(b"", False), (b"x", True), (b"\0" * 4096, True), (b"x" * 9000, True)])
def test_bytes_after_the_last_page_are_counted(tmp_path: Path, extra: bytes, fires: bool) -> None:
    path = build(tmp_path / "a.adf")
    path.write_bytes(path.read_bytes() + extra)
    found = told(path, container)
    assert [rule for rule, _, _ in found] == (["ADF103"] if fires else [])
    assert not fires or found[0][2].startswith(f"{len(extra)} bytes")


@pytest.mark.parametrize("reserved", [1, 32, 255])
@pytest.mark.parametrize("logged", [False, True])
def test_pages_with_reserved_bytes_are_read_and_told(tmp_path: Path, reserved: int, logged: bool) -> None:
    """Extensions that encrypt or sum pages reserve them; the log is laid over such pages all the same."""
    path = build(tmp_path / "a.adf")
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA page_size = 1024").fetchall()
    connection.reserve_bytes(reserve=reserved)
    connection.execute("VACUUM")
    if logged:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("DELETE FROM adf_meta WHERE key = 'adf_clean_close'")
        connection.execute("INSERT INTO adf_logs (message, created_at) VALUES ('x', 1767225600000)")
    assert path.read_bytes()[20] == reserved
    text = f"{reserved} bytes of each page are reserved for an extension of SQLite"
    assert [(rule, message) for rule, _, message in told(path, container)] == [(catalogue.HEADER.id, text)]
    connection.close()


@pytest.mark.parametrize("size", [512, 1024, 65536])
def test_any_page_size_will_do(tmp_path: Path, size: int) -> None:
    path = build(tmp_path / "a.adf", f"PRAGMA page_size = {size}", "VACUUM")
    assert path.read_bytes()[16:18] == (size % 65535).to_bytes(2)
    assert told(path, container) == []


@pytest.mark.parametrize(
    ("pragma", "said"),
    [
        ("PRAGMA application_id = 7", "application_id is 7"),
        ("PRAGMA user_version = 32", "user_version is 32"),
        ("PRAGMA auto_vacuum = FULL; VACUUM", "auto_vacuum is on"),
    ],
)
def test_header_fields_that_somebody_set_are_named(tmp_path: Path, pragma: str, said: str) -> None:
    assert [message for _, _, message in told(build(tmp_path / "a.adf", pragma), container)] == [said]


def test_texts_in_utf16_are_worth_a_note_and_no_more(tmp_path: Path) -> None:
    plain = build(tmp_path / "plain.adf")
    path = tmp_path / "a.adf"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA encoding = 'UTF-16'")
    source = apsw.Connection(str(plain))
    for (sql,) in source.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"):
        connection.execute(sql)
    connection.executemany("INSERT INTO adf_meta VALUES (?, ?, ?)", source.execute("SELECT * FROM adf_meta"))
    connection.close()
    source.close()
    assert [message for _, _, message in told(path, container)] == ["texts are stored as UTF-16le"]


def test_a_log_with_finished_transactions_is_no_finding(tmp_path: Path) -> None:
    found, context = inspect(leave_log(build(tmp_path / "a.adf"), BUSY), container)
    assert found == []
    assert context.container.source.wal_frames > 0


@pytest.mark.parametrize("cut", [1, 8, 4000])
def test_an_unfinished_transaction_at_the_end_of_the_log_is_told(tmp_path: Path, cut: int) -> None:
    path = leave_log(build(tmp_path / "a.adf"), BUSY, LONG, cut=cut)
    found, context = inspect(path, container)
    assert [one.rule for one in found] == ["ADF107"]
    assert context.meta["status"].value == "busy"


@pytest.mark.parametrize("kept", [33, 40, 55, 56, 57, 500])
def test_a_log_that_is_cut_in_its_first_frame_is_told(tmp_path: Path, kept: int) -> None:
    """However little of the transaction was written: somebody began one."""
    path = leave_log(build(tmp_path / "a.adf"), BUSY)
    os.truncate(path.with_name(path.name + "-wal"), kept)
    found, context = inspect(path, container)
    assert [one.rule for one in found] == ["ADF107"]
    assert context.container.source.wal_frames == 0


def test_a_log_of_a_header_alone_is_no_news(tmp_path: Path) -> None:
    path = leave_log(build(tmp_path / "a.adf"), BUSY)
    os.truncate(path.with_name(path.name + "-wal"), 32)
    assert rules(path, container) == set()


def test_old_frames_behind_a_restarted_log_are_everyday(tmp_path: Path) -> None:
    """After a checkpoint SQLite writes a log from its beginning again; what stands behind is of the last round."""
    path = leave_log(build(tmp_path / "a.adf"), LONG, "PRAGMA wal_checkpoint(RESTART)", BUSY)
    found, context = inspect(path, container)
    assert context.container.source.wal_frames_ignored > 0
    assert found == []


def test_the_log_of_another_database_is_told(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf")
    (tmp_path / "other").mkdir()
    other = build(tmp_path / "other" / "b.adf", "PRAGMA page_size = 8192", "VACUUM")
    leave_log(other, BUSY)
    shutil.copy(f"{other}-wal", f"{path}-wal")
    [(rule, _, message)] = told(path, container)
    assert (rule, "pages of another size" in message) == ("ADF108", True)


@pytest.mark.parametrize("content", [b"", b"\0" * 32])
def test_an_empty_log_is_no_finding(tmp_path: Path, content: bytes) -> None:
    path = build(tmp_path / "a.adf")
    Path(f"{path}-wal").write_bytes(content)
    assert told(path, container) == []


def test_the_mark_of_a_clean_close_contradicts_a_log_with_changes(tmp_path: Path) -> None:
    mark = "INSERT INTO adf_meta VALUES ('adf_clean_close', '2026-01-01T00:00:00.000Z', 'readonly')"
    assert rules(build(tmp_path / "a.adf", mark), container) == set()
    assert rules(leave_log(build(tmp_path / "b.adf"), mark), container) == {"ADF110"}
    assert rules(leave_log(build(tmp_path / "c.adf", mark), BUSY), container) == {"ADF110"}
    assert rules(leave_log(build(tmp_path / "d.adf", mark), "DELETE FROM adf_meta WHERE key = 'adf_clean_close'"), container) == set()  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(
    ("name", "fires"),
    [
        ("a.adf.bak", True),
        ("a.adf.bak.1767225600000", True),
        ("a.adf.corrupt", True),
        ("a.adf.repaired", True),
        ("a.adf.bak.old", False),
        ("b.adf.bak", False),
        ("a.bak", False),
        ("a.adf.backup", False),
        ("xa.adf.bak", False),
    ],
)
def test_leftovers_of_this_file_are_told_and_no_others(tmp_path: Path, name: str, fires: bool) -> None:
    path = build(tmp_path / "a.adf")
    assert rules(path, container) == set()
    (tmp_path / name).write_bytes(b"")
    assert rules(path, container) == ({"ADF111"} if fires else set())


def test_leftovers_are_found_through_a_link_and_without_reading_the_folder_anew(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    path = build(tmp_path / "real" / "a.adf")
    Path(f"{path}.bak").touch()
    (tmp_path / "link.adf").symlink_to(path)
    assert rules(tmp_path / "link.adf", container) == {"ADF111"}


def test_a_damaged_table_does_not_hide_the_others(tmp_path: Path) -> None:
    """The engine's part: the scan of the damaged table ends, the rest is checked and what was not is named."""
    path = build(tmp_path / "a.adf", ROWS, *redirect("adf_logs", "idx_adf_logs_level"))
    found, _ = inspect(path, container)
    assert {(one.rule, one.table) for one in found} == {("ADF101", None), ("ADF101", "adf_logs")}
    report = engine.validate_file(path, engine.Options(wanted=frozenset({"ADF102", "ADF301"})))
    assert [one.rule for one in report.findings] == ["ADF102"]
    assert "rows of adf_logs" in {entry["what"] for entry in report.stats.not_checked}
    assert report.stats.rows["adf_meta"] == 4


def test_a_file_that_is_written_to_meanwhile_is_read_again_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path / "a.adf")
    attempts: list[str] = []
    validate = engine._validate

    def interfere(opened: object, *others: object) -> None:
        attempts.append(opened.source.mode)  # type: ignore[attr-defined]
        if len(attempts) == 1:
            writer = threading.Thread(target=_write, args=(path,))
            writer.start()
            writer.join()
        validate(opened, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "_validate", interfere)
    report = engine.validate_file(path, engine.Options(wanted=frozenset({"ADF105"})))
    assert attempts == ["immutable", "private-copy"]
    assert report.schema_version == 33
    assert [one.rule for one in report.findings] == ["ADF105"]


def _write(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(STAMP.format(33))
    connection.close()


def test_every_rule_of_the_family_is_reported_by_some_pass() -> None:
    reported = {rule.id for one in container.PASSES for rule in one.rules} | {catalogue.DAMAGED.id}
    declared = {value.id for value in vars(catalogue).values() if isinstance(value, Rule)}
    assert reported == declared
