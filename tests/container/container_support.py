"""Files for the container's tests, and a witness that nothing beside them changed."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw

META = "CREATE TABLE adf_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, protection TEXT)"
ROWS = "SELECT a, CAST(b AS BLOB) FROM t ORDER BY a"  # damaged text need not be Unicode
TRIO = ("", "-wal", "-shm")


def state(folder: Path) -> dict[str, object]:
    """Entries with bytes, mtime, size, inode and mode; the folder itself under `.`."""
    seen: dict[str, object] = {}
    for entry in [folder, *sorted(folder.rglob("*"))]:
        facts = entry.lstat()
        content = entry.read_bytes() if entry.is_file() else None
        size = facts.st_size
        seen[str(entry.relative_to(folder))] = (content, facts.st_mtime_ns, size, facts.st_ino, facts.st_mode)
    return seen


@contextlib.contextmanager
def untouched(folder: Path) -> Iterator[None]:
    before = state(folder)
    yield
    assert state(folder) == before


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def make(path: Path, *, rows: int = 3, journal: str = "wal", page_size: int = 4096, script: str = "") -> Path:
    """A closed file with a table `t(a, b)` of some rows."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size={page_size}")
    connection.execute(f"PRAGMA journal_mode={journal}")
    connection.executescript(f"{META}; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); {script}")
    connection.executemany("INSERT INTO t (b) VALUES (?)", [(f"row {n} " + "x" * 300,) for n in range(rows)])
    connection.close()
    return path


def make_live(path: Path, *, rows: int = 5, page_size: int = 4096, uncommitted: bool = False) -> Path:
    """A trio as a crash leaves it: `rows` of the log are not in the main file."""
    origin = make(path.with_name("origin.tmp"), page_size=page_size)
    connection = apsw.Connection(str(origin))
    connection.wal_autocheckpoint(0)
    for number in range(rows):
        connection.execute("INSERT INTO t (b) VALUES (?)", (f"log {number} " + "y" * 900,))
    if uncommitted:
        connection.execute("PRAGMA cache_size=2; BEGIN")
        connection.executemany("INSERT INTO t (b) VALUES (?)", [("z" * 3000,) for _ in range(60)])
    copy_trio(origin, path)
    connection.close()
    for suffix in TRIO:
        beside(origin, suffix).unlink(missing_ok=True)
    return path


def copy_trio(origin: Path, path: Path, suffixes: tuple[str, ...] = TRIO) -> None:
    for suffix in suffixes:
        if beside(origin, suffix).exists():
            shutil.copyfile(beside(origin, suffix), beside(path, suffix))


def rows_by_sqlite(path: Path, folder: Path, suffixes: tuple[str, ...] = ("", "-wal")) -> object:
    """What SQLite itself recovers from a copy: every row of `t`, or the error's name."""
    folder.mkdir(exist_ok=True)
    twin = folder / "twin.db"
    for suffix in ("", "-wal", "-shm", "-journal"):
        beside(twin, suffix).unlink(missing_ok=True)
    copy_trio(path, twin, suffixes)
    connection = sqlite3.connect(twin)
    try:
        return connection.execute(ROWS).fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as exc:  # damage may reach the text of the schema
        return type(exc).__name__
    finally:
        connection.close()


def python(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """A process running some code that may import the package."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@contextlib.contextmanager
def running(code: str, *arguments: object, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has printed `ready`; killed at the end if it is still there."""
    process = python(code, *arguments, **options)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == "ready\n", line + process.stdout.read()
        yield process
    finally:
        process.kill()
        process.communicate()
