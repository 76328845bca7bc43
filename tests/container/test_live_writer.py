from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from container_support import beside, make, running

from adf_format.container import Container, Limits, open_readonly
from adf_format.errors import LockedError

PAIR = "CREATE TABLE one (x); CREATE TABLE two (x);"

WRITER = """
import sqlite3, sys, threading
path, checkpoint, pragmas = sys.argv[1:4]
connection = sqlite3.connect(path, isolation_level=None, timeout=30)
connection.executescript(pragmas)
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
print("ready", flush=True)
count = 0
while not stop.is_set():
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO one VALUES (randomblob(2000))")
    connection.execute("INSERT INTO two VALUES (randomblob(20))")
    if count % 7 == 3:
        connection.execute("DELETE FROM one WHERE rowid % 2")
        connection.execute("DELETE FROM two WHERE rowid % 2")
    connection.execute("COMMIT")
    count += 1
    if checkpoint and count % 13 == 0:
        connection.execute(f"PRAGMA wal_checkpoint({checkpoint})")
print("commits", count, flush=True)
print("checkpoint", connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0], flush=True)
connection.close()
print("done", flush=True)
"""

COUNTS = "SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM two)"


@pytest.mark.parametrize("checkpoint", ["", "PASSIVE", "RESTART", "TRUNCATE"])
def test_every_open_sees_whole_commits_and_the_writer_notices_nothing(
    folder: Path, scratch: Path, checkpoint: str
) -> None:
    path = make(folder / "a.adf", script=PAIR)
    newest = -1
    with running(WRITER, path, checkpoint, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=50") as writer:
        for _ in range(50):
            with open_readonly(path) as container:
                assert container.source.mode == "private-copy"
                assert container.connection.pragma("integrity_check") == "ok"
                ((one, two),) = container.connection.execute(COUNTS).fetchall()
                ((last,),) = container.connection.execute("SELECT coalesce(max(rowid), 0) FROM one").fetchall()
                assert one == two
                assert last >= newest - 1
                newest = last
        assert {entry.name for entry in folder.iterdir()} == {"a.adf", "a.adf-wal", "a.adf-shm"}
        output, _ = writer.communicate("", timeout=60)
    assert output.splitlines()[1:] == ["checkpoint 0", "done"]
    assert int(output.split()[1]) > 0
    assert newest > 0
    assert [entry.name for entry in folder.iterdir()] == ["a.adf"]
    assert not list(scratch.iterdir())


def test_a_rollback_mode_writer(folder: Path, scratch: Path) -> None:
    """In place there is no lock: what was read counts only when changed() says no, and a copy always counts."""
    path = make(folder / "a.adf", journal="delete", script=PAIR)
    good = 0
    with running(WRITER, path, "", "PRAGMA synchronous=OFF") as writer:
        for private in [False, True] * 30:
            try:
                with open_readonly(path, private=private) as container:
                    good += _is_consistent(container)
            except LockedError:
                continue
        output, _ = writer.communicate("", timeout=60)
    assert good > 0
    assert output.splitlines()[-1] == "done"


def _is_consistent(container: Container) -> bool:
    try:
        ((one, two),) = container.connection.execute(COUNTS).fetchall()
    except apsw.CorruptError:
        assert container.source.mode == "immutable"
        assert container.changed()
        return False
    assert one == two or (container.source.mode == "immutable" and container.changed())
    return True


def test_a_rollback_writer_between_journal_and_commit(folder: Path, scratch: Path) -> None:
    """RESERVED is held and the journal is on disk, but the file is whole: the journal is not hot."""
    path = make(folder / "a.adf", journal="delete", rows=50)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA synchronous=OFF; BEGIN IMMEDIATE; UPDATE t SET b = 'new'")
    assert beside(path, "-journal").stat().st_size > 0
    with open_readonly(path) as container:
        assert container.source.mode == "private-copy"
        assert not container.source.hot_journal
        assert container.connection.execute("SELECT count(*) FROM t WHERE b = 'new'").fetchall() == [(0,)]
    writer.execute("COMMIT")
    writer.close()


def test_an_exclusive_writer_is_reported_as_locked(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf")
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.executescript('PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t (b) VALUES (1)'); print('ready', flush=True);"
        "sys.stdin.read()"
    )
    with running(code, path):
        begun = time.monotonic()
        with pytest.raises(LockedError, match=r"stayed locked by another process for 0\.2 s"):
            open_readonly(path, Limits(lock_timeout_s=0.2))
        assert time.monotonic() - begun < 3
    assert not list(scratch.iterdir())


def test_a_writer_that_is_writing_the_main_file_is_waited_for(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf", journal="delete", rows=300)
    code = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.executescript(\"PRAGMA cache_size=2; BEGIN EXCLUSIVE; UPDATE t SET b = b || 'new'\");"
        "print('ready', flush=True); time.sleep(0.5); c.execute('COMMIT')"
    )
    with running(code, path):
        assert beside(path, "-journal").exists()
        with open_readonly(path) as container:
            assert not container.source.hot_journal
            found = container.connection.execute("SELECT count(*) FROM t WHERE b GLOB '*new'").fetchall()
            assert found == [(300,)]


TRY = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_the_locks_of_our_own_process_survive(folder: Path, scratch: Path, journal: str) -> None:
    """Closing a descriptor of the file here would silently drop the caller's write lock."""
    path = make(folder / "a.adf", journal=journal)
    mine = sqlite3.connect(path, isolation_level=None)
    mine.execute("INSERT INTO t (b) VALUES ('mine')")
    mine.execute("BEGIN IMMEDIATE")
    with open_readonly(path) as container:
        assert container.connection.execute("SELECT count(*) FROM t").fetchall() == [(4,)]
    outcome = subprocess.run([sys.executable, "-c", TRY, str(path)], capture_output=True, text=True, check=False)
    assert "database is locked" in outcome.stderr
    mine.execute("COMMIT")
    mine.close()
