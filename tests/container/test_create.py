from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import apsw
import pytest
from container_support import META, beside, untouched

from adf_format.container import create, open_readonly
from adf_format.errors import LimitError, MissingFileError, UnreadableError, UsageError


def build(connection: apsw.Connection) -> None:
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 1
    assert connection.pragma("foreign_keys") == 1
    connection.execute(META)
    connection.execute("INSERT INTO adf_meta VALUES ('adf_version', '0.2', 'readonly')")


@pytest.mark.parametrize("name", ["new.adf", "what?#%41.adf"])
def test_a_new_file_is_whole_and_alone(folder: Path, name: str) -> None:
    create(folder / name, build)
    assert [entry.name for entry in folder.iterdir()] == [name]
    with untouched(folder), open_readonly(folder / name) as container:
        assert (container.source.mode, container.source.journal_mode) == ("immutable", "wal")
    mask = os.umask(0)
    os.umask(mask)
    assert (folder / name).stat().st_mode & 0o777 == 0o644 & ~mask


def test_nothing_is_overwritten(folder: Path) -> None:
    (folder / "a.adf").write_text("precious")
    (folder / "b.adf").symlink_to("nowhere")
    with untouched(folder):
        for name in ("a.adf", "b.adf"):
            with pytest.raises(UsageError, match="exists already") as caught:
                create(folder / name, build)
            assert caught.value.exit_code == 2


def test_nothing_is_overwritten_that_appears_meanwhile(folder: Path) -> None:
    def slow(connection: apsw.Connection) -> None:
        build(connection)
        (folder / "a.adf").write_text("precious")

    with pytest.raises(UsageError, match="exists already"):
        create(folder / "a.adf", slow)
    assert [entry.name for entry in folder.iterdir()] == ["a.adf"]
    assert (folder / "a.adf").read_text() == "precious"


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_leftover_log_is_not_adopted(folder: Path, suffix: str) -> None:
    beside(folder / "a.adf", suffix).touch()
    with untouched(folder), pytest.raises(UnreadableError, match="leftover"):
        create(folder / "a.adf", build)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_what_the_builder_raises_is_passed_on(folder: Path, error: BaseException) -> None:
    def fail(connection: apsw.Connection) -> None:
        build(connection)
        raise error

    with pytest.raises(type(error)):
        create(folder / "a.adf", fail)
    assert not list(folder.iterdir())


def test_errors_of_sqlite_and_the_system(folder: Path) -> None:
    with pytest.raises(UnreadableError, match="syntax error"):
        create(folder / "a.adf", lambda connection: connection.execute("CREATE nonsense") and None)
    assert not list(folder.iterdir())
    with pytest.raises(UnreadableError, match="No such file"):
        create(folder / "gone" / "a.adf", build)


def test_a_transaction_that_found_no_room_says_so(folder: Path) -> None:
    """SQLite has rolled it back already, and complains when it is asked to: that is not what the user must know."""

    def fill(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 3").fetchall()
        with connection:
            connection.execute("CREATE TABLE adf_meta (key)")
            connection.execute("INSERT INTO adf_meta VALUES (zeroblob(100000))")

    with pytest.raises(LimitError, match="no room left on the disk"):
        create(folder / "a.adf", fill)
    assert not list(folder.iterdir())


def test_an_error_of_the_disk_is_one_of_writing(folder: Path) -> None:
    def fail(connection: apsw.Connection) -> None:
        raise apsw.IOError("disk I/O error")

    with pytest.raises(UnreadableError, match=r"a\.adf: cannot be written: disk I/O error"):
        create(folder / "a.adf", fail)


def test_a_place_without_a_folder_is_said_to_be_none(folder: Path) -> None:
    (folder / "plain").write_bytes(b"")
    for place in (folder / "gone" / "a.adf", folder / "plain" / "a.adf"):
        with pytest.raises(MissingFileError, match="no file can be made there: N"):
            create(place, build)


def test_without_hard_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    create(folder / "a.adf", build)
    assert [entry.name for entry in folder.iterdir()] == ["a.adf"]
    assert sqlite3.connect(folder / "a.adf").execute("SELECT count(*) FROM adf_meta").fetchone() == (1,)
