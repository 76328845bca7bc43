"""The parts that run in the copying process, run here where they can be measured."""

from __future__ import annotations

import os
import sqlite3
import struct
from pathlib import Path

import pytest
from container_support import beside, copy_trio, make, make_live, running
from hypothesis import given
from hypothesis import strategies as st

from adf_format.container.snapshot import journal, locks, wal
from adf_format.container.snapshot.main import Request, snapshot
from adf_format.container.snapshot.problem import SnapshotError

LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=2")
connection.execute(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
sys.stdin.read()
"""


def copy(path: Path, out: Path, **options: object) -> dict[str, object]:
    with out.open("w+b") as stream:
        return snapshot(Request(str(path), **options), stream.fileno())  # type: ignore[arg-type]


def count(path: Path) -> int:
    with path.open("r+b") as stream:  # plain SQLite would look for a log of its own
        stream.seek(18)
        stream.write(b"\1\1")
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    try:
        return int(connection.execute("SELECT count(*) FROM t WHERE b NOT LIKE 'half%'").fetchone()[0])
    finally:
        connection.close()


@given(st.binary(max_size=200), st.booleans(), st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)))
def test_the_checksum_is_that_of_the_definition(data: bytes, big_endian: bool, seed: tuple[int, int]) -> None:
    data = data[: len(data) // 8 * 8]
    one, two = seed
    for first, second in struct.iter_unpack(">2I" if big_endian else "<2I", data):
        one = (one + first + two) % 2**32
        two = (two + second + one) % 2**32
    assert wal.checksum(data, seed, big_endian=big_endian) == (one, two)


@pytest.mark.parametrize("damage", ["none", "uncommitted", "salt", "page", "short"])
def test_a_log_is_merged(folder: Path, tmp_path: Path, damage: str) -> None:
    path = make_live(folder / "a.adf", rows=300, uncommitted=damage == "uncommitted")
    if damage in {"salt", "page"}:
        with beside(path, "-wal").open("r+b") as stream:
            stream.seek(32 + (24 + 4096) * 3 + (8 if damage == "salt" else 0))
            stream.write(b"\0" * 4)
    if damage == "short":
        os.truncate(beside(path, "-wal"), 32 + (24 + 4096) * 3 + 50)
    facts = copy(path, tmp_path / "out")
    expected = {
        "none": "end",
        "uncommitted": "uncommitted",
        "salt": "salt",
        "page": "page-number",
        "short": "uncommitted",
    }
    assert facts["ended"] == expected[damage]
    assert count(tmp_path / "out") == (303 if damage in {"none", "uncommitted"} else 6)


def test_a_log_that_shrinks_while_it_is_read() -> None:
    head = wal.Header(512, False, b"12345678", (0, 0))
    assert wal._judge(b"short", 536, head, (0, 0)) == "end"


def test_a_log_that_is_no_log(tmp_path: Path) -> None:
    for content, why in ((b"", "empty"), (b"x", "header"), (b"x" * 5000, "header")):
        (tmp_path / "log").write_bytes(content)
        with (tmp_path / "log").open("rb") as stream:
            log = wal.read_log(stream.fileno(), 512)
            wal.merge(stream.fileno(), log, 512, -1)
        assert (log.ended, log.frames) == (why, 0)
    other = struct.pack(">4I", 0x377F0682, 3007001, 512, 0) + b"12345678"
    with pytest.raises(SnapshotError, match="version 3007001"):
        wal.read_header(other + struct.pack(">2I", *wal.checksum(other, (0, 0), big_endian=False)))


@pytest.mark.parametrize("synchronous", ["OFF", "FULL"])
def test_a_journal_is_played_back(folder: Path, tmp_path: Path, synchronous: str) -> None:
    origin = make(tmp_path / "o.db", journal="delete", rows=900, page_size=512)
    connection = sqlite3.connect(origin, isolation_level=None)
    connection.executescript(f"PRAGMA cache_size=2; PRAGMA synchronous={synchronous}; BEGIN; UPDATE t SET b='half'||b")
    connection.execute("INSERT INTO t (b) VALUES (?)", ("half" * 30000,))
    copy_trio(origin, folder / "a.adf", ("", "-journal"))
    connection.close()
    facts = copy(folder / "a.adf", tmp_path / "out")
    assert facts["hot_journal"] is True
    assert facts["size"] == (tmp_path / "out").stat().st_size
    assert count(tmp_path / "out") == 900


def record(number: int, page: bytes, seed: int) -> bytes:
    return struct.pack(">I", number) + page + struct.pack(">I", journal.checksum(page, seed))


def play(tmp_path: Path, raw: bytes) -> tuple[bool, bytes]:
    (tmp_path / "j").write_bytes(raw)
    (tmp_path / "out").write_bytes(b"o" * 512 * 4)
    with (tmp_path / "j").open("rb") as source, (tmp_path / "out").open("r+b") as out:
        done = journal.Playback(source.fileno(), out.fileno()).run(512)
    return done, (tmp_path / "out").read_bytes()


def header(records: int, pages: int, sector: int = 512, page_size: int = 512) -> bytes:
    return (journal.MAGIC + struct.pack(">5I", records, 7, pages, sector, page_size)).ljust(512, b"\0")


def test_records_of_a_journal(tmp_path: Path) -> None:
    page = bytes(range(256)) * 2
    good = record(2, page, 7)
    assert play(tmp_path, header(1, 4) + good) == (True, b"o" * 512 + page + b"o" * 1024)
    assert play(tmp_path, header(1, 2) + good)[1] == b"o" * 512 + page
    assert play(tmp_path, header(1, 4, page_size=0) + good)[1][512:1024] == page
    assert play(tmp_path, header(0xFFFFFFFF, 4) + good)[1][512:1024] == page
    untouched = b"o" * 2048
    for bad in (record(0, page, 7), record(0x40000000 // 512 + 1, page, 7), record(9, page, 7), record(2, page, 8)):
        assert play(tmp_path, header(1, 4) + bad) == (True, untouched)
    assert play(tmp_path, header(3, 4) + good[:100]) == (True, untouched)
    two = header(1, 4) + good.ljust(1024, b"\0") + header(1, 4) + record(3, page, 7)
    assert play(tmp_path, two)[1][512:1536] == page * 2
    for broken in (b"", header(1, 4)[:300], header(1, 4, sector=7), header(1, 4, page_size=7)):
        assert play(tmp_path, broken) == (False, untouched)


def test_super_journals(tmp_path: Path) -> None:
    def ask(raw: bytes) -> tuple[bytes | None, bool]:
        (tmp_path / "j").write_bytes(raw)
        with (tmp_path / "j").open("rb") as stream:
            return journal.super_journal(stream.fileno()), journal.is_hot(stream.fileno())

    name = os.fsencode(tmp_path / "grüße")
    total = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    tail = name + struct.pack(">2I", len(name), total) + journal.MAGIC
    assert ask(header(0, 1)) == (None, True)
    assert ask(header(0, 1) + tail) == (name, False)
    (tmp_path / "grüße").touch()
    assert ask(header(0, 1) + tail) == (name, True)
    assert ask(header(0, 1) + name + struct.pack(">2I", len(name), total + 1) + journal.MAGIC) == (None, True)
    assert ask(b"short") == (None, False)


def test_a_writer_that_lets_go_in_time(folder: Path, tmp_path: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    with running(LOCK, path, "BEGIN EXCLUSIVE") as process:
        assert process.stdin is not None
        with pytest.raises(SnapshotError, match="stayed locked"):
            copy(path, tmp_path / "out", lock_timeout_s=0.05)
        process.stdin.write("\n")
        process.stdin.flush()
        assert copy(path, tmp_path / "out", lock_timeout_s=10.0)["ended"] == "none"


def test_a_writer_with_a_journal_that_is_not_hot(folder: Path, tmp_path: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    with running(LOCK, path, "BEGIN IMMEDIATE"):
        beside(path, "-journal").write_bytes(header(0, 1))
        assert copy(path, tmp_path / "out")["hot_journal"] is False
    assert copy(path, tmp_path / "out")["hot_journal"] is True


def test_the_log_of_a_file_cannot_be_restarted_while_its_mark_is_held(folder: Path) -> None:
    path = make(folder / "a.adf")
    with running(LOCK, path, "BEGIN IMMEDIATE") as process, beside(path, "-shm").open("rb") as shm:
        assert process.stdin is not None
        assert locks.try_shared(shm.fileno(), locks.WAL_READ_1)
        code = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None);"
            "c.execute('INSERT INTO t (b) VALUES (1)'); print('ready', flush=True);"
            "print(c.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0], flush=True); sys.stdin.read()"
        )
        process.stdin.write("\n")
        process.stdin.flush()
        with running(code, path) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "1\n"
        locks.release(shm.fileno(), locks.WAL_READ_1)
        with running(code, path) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "0\n"


def test_without_posix_locks(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    path = make_live(folder / "a.adf")
    assert copy(path, tmp_path / "out")["ended"] == "end"
    assert not locks.writer_active(0)
