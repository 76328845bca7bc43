"""A change: alone with the file, backed up before the first transaction, checked afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from container_support import beside, make, make_live

from adf_format.container import open_for_change, open_readonly, tidy
from adf_format.errors import AdfError, LockedError, NewerSchemaError, NotAnAdfError, UnreadableError, VerificationError

ADD = "INSERT INTO t (b) VALUES ('new')"


def count(path: Path) -> object:
    with open_readonly(path) as container:
        return container.connection.execute("SELECT count(*) FROM t").get


def names(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))  # noqa: PTH208


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_change_stays_with_its_backup_and_without_sidecars(journal: str, folder: Path) -> None:
    path = make(folder / "a.adf", journal=journal)
    old = path.read_bytes()
    with open_for_change(path) as change:
        assert change.backup is None
        with change.transaction() as connection:
            connection.execute(ADD)
    assert change.backup == folder / "a.adf.bak"
    assert (count(path), names(path)) == (4, ["a.adf", "a.adf.bak"])
    assert beside(path, ".bak").read_bytes() == old
    assert path.read_bytes()[18:20] == (b"\2\2" if journal == "wal" else b"\1\1")


def test_without_a_transaction_there_is_no_backup(folder: Path) -> None:
    path = make(folder / "a.adf")
    old = path.read_bytes()
    with open_for_change(path) as change:
        change.connection.execute("SELECT * FROM t").fetchall()
    assert (path.read_bytes(), names(path)) == (old, ["a.adf"])


def test_a_leftover_log_is_part_of_the_backup(folder: Path) -> None:
    path = make_live(folder / "a.adf", rows=5)
    beside(path, "-shm").write_bytes(b"stale")
    with open_for_change(path) as change, change.transaction() as connection:
        connection.execute(ADD)
    assert (count(path), count(folder / "a.adf.bak")) == (9, 8)
    assert names(path) == ["a.adf", "a.adf.bak"]


def test_an_error_in_the_first_transaction_leaves_everything_as_it_was(folder: Path) -> None:
    path = make(folder / "a.adf")
    old = path.read_bytes()
    with pytest.raises(ZeroDivisionError), open_for_change(path) as change, change.transaction() as connection:  # noqa: PT012
        connection.execute(ADD)
        raise ZeroDivisionError
    assert (path.read_bytes(), names(path)) == (old, ["a.adf"])


def test_an_error_after_a_transaction_keeps_that_one_and_the_backup(folder: Path) -> None:
    path = make(folder / "a.adf")
    with pytest.raises(ZeroDivisionError), open_for_change(path) as change:  # noqa: PT012
        with change.transaction() as connection:
            connection.execute(ADD)
        with change.transaction() as connection:
            connection.execute(ADD)
            raise ZeroDivisionError
    assert (count(path), names(path)) == (4, ["a.adf", "a.adf.bak"])


def test_a_check_that_fails_puts_the_old_file_back(folder: Path) -> None:
    path = make(folder / "a.adf")
    old = path.read_bytes()
    with pytest.raises(VerificationError, match="ZeroDivisionError"), open_for_change(path) as change:  # noqa: PT012
        change.checks.append(lambda _: 1 // 0)  # type: ignore[arg-type, return-value]
        with change.transaction() as connection:
            connection.execute(ADD)
    assert (path.read_bytes(), names(path)) == (old, ["a.adf"])


def test_a_check_sees_the_result_and_may_remove_the_backup(folder: Path) -> None:
    path = make(folder / "a.adf")
    seen: list[object] = []
    with open_for_change(path) as change:
        change.checks.append(lambda one: seen.append(one.connection.execute("SELECT count(*) FROM t").get))
        with change.transaction() as connection:
            connection.execute(ADD)
    change.discard_backup()
    assert (seen, names(path)) == ([4], ["a.adf"])


def test_references_to_nothing_are_refused_unless_they_were_there_before(folder: Path) -> None:
    script = "CREATE TABLE r (t INTEGER REFERENCES t(a)); INSERT INTO r VALUES (1), (77)"
    path = make(folder / "a.adf", script=script)
    with open_for_change(path) as change, change.transaction() as connection:
        connection.execute(ADD)
    with pytest.raises(VerificationError, match="reference to nothing"), open_for_change(path) as change:  # noqa: PT012
        with change.ddl():
            change.connection.execute("PRAGMA foreign_keys=OFF")
        with change.transaction() as connection:
            connection.execute("DELETE FROM t WHERE a = 1")
    assert count(path) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH ':memory:' AS other",
        "CREATE TABLE more (a)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN c",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
        "PRAGMA journal_mode=OFF",
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET sql = ''",
        "SELECT load_extension('x')",
    ],
)
def test_what_a_change_of_rows_does_not_need_is_denied(statement: str, folder: Path) -> None:
    path = make(folder / "a.adf")
    old = path.read_bytes()
    with pytest.raises(AdfError), open_for_change(path) as change, change.transaction() as connection:
        connection.execute(statement).fetchall()
    assert path.read_bytes() == old


def test_triggers_of_the_file_do_not_run(folder: Path) -> None:
    script = "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END"
    path = make(folder / "a.adf", script=script)
    before = count(path)
    with open_for_change(path) as change, change.transaction() as connection:
        connection.execute(ADD)
    assert count(path) == before + 1  # type: ignore[operator]


def test_the_schema_may_be_changed_where_that_is_asked_for(folder: Path) -> None:
    path = make(folder / "a.adf")
    with open_for_change(path) as change, change.transaction() as connection:
        with change.ddl():
            connection.execute("ALTER TABLE t ADD COLUMN c DEFAULT 1")
        with pytest.raises(apsw.AuthError):
            connection.execute("ALTER TABLE t ADD COLUMN d")
    assert beside(path, ".bak").exists()


def test_refusals_touch_nothing(folder: Path) -> None:
    newer = make(folder / "newer.adf", script="INSERT INTO adf_meta VALUES ('adf_schema_version', '99', 'readonly')")
    before = newer.read_bytes()
    with pytest.raises(NewerSchemaError, match="99 is newer than 32"), open_for_change(newer):
        pass
    with open_for_change(newer, newest=None) as change:
        assert change.version == 99
    foreign = folder / "foreign.adf"
    apsw.Connection(str(foreign)).execute("CREATE TABLE x (y)")
    with pytest.raises(NotAnAdfError), open_for_change(foreign):
        pass
    with pytest.raises(UnreadableError), open_for_change(folder / "missing.adf"):
        pass
    assert newer.read_bytes() == before


def test_another_change_in_this_process_is_refused(folder: Path) -> None:
    path = make(folder / "a.adf")
    with open_for_change(path), pytest.raises(LockedError), open_for_change(path, wait_s=0.05):
        pass


def test_what_a_killed_backup_left_is_swept(folder: Path) -> None:
    path = make(folder / "a.adf")
    (folder / ".a.adf.bak-draft").write_bytes(b"half")
    with open_for_change(path):
        pass
    assert names(path) == ["a.adf"]


@pytest.mark.parametrize("head", [b"", bytes(512)], ids=["empty", "zeroed"])
def test_a_journal_that_is_over_goes_with_the_next_change(head: bytes, folder: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    beside(path, "-journal").write_bytes(head)
    with open_for_change(path, backup=False):
        assert names(path) == ["a.adf"]
    beside(path, "-journal").write_bytes(head)
    tidy(path)
    assert (names(path), count(path)) == (["a.adf"], 3)


def test_a_journal_that_may_be_needed_stays_until_it_is_played_back(folder: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    before = path.read_bytes()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN").fetchall()
    connection.execute("UPDATE t SET b = zeroblob(9000)")
    connection.cache_flush()
    hot = (beside(path, "-journal").read_bytes(), path.read_bytes())
    connection.execute("ROLLBACK")
    connection.close()
    beside(path, "-journal").write_bytes(hot[0])
    path.write_bytes(hot[1])
    assert hot[1] != before
    tidy(path)
    assert beside(path, "-journal").exists()
    with open_for_change(path, backup=False) as change:
        assert change.connection.execute("SELECT count(*) FROM t WHERE typeof(b) = 'text'").get == 3
        with change.transaction() as inside:
            inside.execute(ADD)
    assert (names(path), count(path)) == (["a.adf"], 4)


def test_tidying_leaves_a_file_in_use_alone(folder: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    beside(path, "-journal").write_bytes(b"")
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN; SELECT * FROM t").fetchall()
    tidy(path)
    assert beside(path, "-journal").exists()
    connection.close()
