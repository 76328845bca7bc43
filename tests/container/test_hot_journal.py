from __future__ import annotations

import random
import struct
from pathlib import Path

import apsw
import pytest
from container_support import ROWS, beside, copy_trio, make, rows_by_sqlite, untouched
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adf_format.container import open_readonly
from adf_format.container.snapshot import journal
from adf_format.container.snapshot.main import Request, snapshot

PARTS = ("", "-journal")


def interrupt(
    folder: Path, path: Path, *, rows: int = 200, page_size: int = 1024, sql: str = "", sync: str = "FULL"
) -> Path:
    """A half-written main file and its journal, as a power cut leaves them."""
    origin = make(folder / "origin.db", journal="delete", rows=rows, page_size=page_size)
    connection = apsw.Connection(str(origin))
    connection.execute(f"PRAGMA cache_size=2; PRAGMA synchronous={sync}; BEGIN")
    connection.execute(sql or "UPDATE t SET b = 'half ' || b; INSERT INTO t (b) VALUES (zeroblob(90000))")
    copy_trio(origin, path, PARTS)
    connection.execute("ROLLBACK")
    connection.close()
    assert beside(path, "-journal").read_bytes().startswith(journal.MAGIC)
    return path


def seen(path: Path) -> object:
    with untouched(path.parent), open_readonly(path) as container:
        assert container.source.mode == "private-copy"
        assert container.source.hot_journal
        return container.connection.execute(ROWS).fetchall()


@pytest.mark.parametrize("sync", ["OFF", "FULL"])
@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_an_interrupted_transaction_is_rolled_back(
    folder: Path, scratch: Path, tmp_path: Path, page_size: int, sync: str
) -> None:
    path = interrupt(tmp_path, folder / "a.adf", page_size=page_size, sync=sync)
    rows = seen(path)
    assert len(rows) == 200
    assert rows == rows_by_sqlite(path, scratch / "t", PARTS)
    assert "half" not in str(rows)


def test_a_file_that_shrank(folder: Path, scratch: Path, tmp_path: Path) -> None:
    path = interrupt(tmp_path, folder / "a.adf", sql="DELETE FROM t; INSERT INTO t (b) VALUES (zeroblob(9000))")
    assert seen(path) == rows_by_sqlite(path, scratch / "t", PARTS)


def test_a_journal_without_a_header_is_ignored(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    for content in (b"", b"\0" * 512, b"short", b"x" * 600):
        beside(path, "-journal").write_bytes(content)
        with untouched(folder), open_readonly(path) as container:
            assert container.source.mode == "immutable"
    beside(path, "-journal").unlink()
    beside(path, "-journal").mkdir()
    open_readonly(path).close()


def test_a_journal_with_a_senseless_header_is_ignored(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    for fields in ((1, 0, 1, 7, 4096), (1, 0, 1, 512, 7)):
        beside(path, "-journal").write_bytes(journal.MAGIC + struct.pack(">5I", *fields) + b"\0" * 600)
        with untouched(folder), open_readonly(path) as container:
            assert not container.source.hot_journal
            assert container.connection.pragma("integrity_check") == "ok"


def with_super(path: Path, name: bytes) -> None:
    total = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    with beside(path, "-journal").open("ab") as stream:
        stream.write(
            struct.pack(">I", 0x40000000 // 1024 + 1) + name + struct.pack(">2I", len(name), total) + journal.MAGIC
        )


def test_a_super_journal_that_is_gone_means_committed(folder: Path, scratch: Path, tmp_path: Path) -> None:
    path = make(folder / "a.adf", journal="delete")
    interrupted = interrupt(tmp_path, tmp_path / "i.adf")
    beside(path, "-journal").write_bytes(beside(interrupted, "-journal").read_bytes())
    with_super(path, str(tmp_path / "gone-mj").encode())
    with untouched(folder), open_readonly(path) as container:
        assert not container.source.hot_journal


def test_a_hostile_super_journal_is_not_deleted(folder: Path, scratch: Path, tmp_path: Path) -> None:
    """SQLite deletes the file a journal names so when no database needs it any more."""
    victim = tmp_path / "precious-é.txt"
    victim.write_text("precious")
    path = interrupt(tmp_path, folder / "a.adf")
    with_super(path, str(victim).encode())
    assert len(seen(path)) == 200
    assert victim.read_text() == "precious"


def test_a_name_with_a_wrong_checksum_is_no_super_journal(folder: Path, scratch: Path, tmp_path: Path) -> None:
    path = interrupt(tmp_path, folder / "a.adf")
    with beside(path, "-journal").open("ab") as stream:
        stream.write(b"name" + struct.pack(">2I", 4, 1) + journal.MAGIC)
    assert len(seen(path)) == 200


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32), kind=st.sampled_from(["cut", "flip", "extend"]), sync=st.sampled_from(["OFF", "FULL"])
)
def test_a_damaged_journal_gives_what_sqlite_gives(
    tmp_path_factory: pytest.TempPathFactory, seed: int, kind: str, sync: str
) -> None:
    source = random.Random(seed)
    place = tmp_path_factory.mktemp("hot")
    (place / "agents").mkdir()
    path = interrupt(place, place / "agents" / "a.adf", rows=source.randint(1, 120), sync=sync)
    raw = bytearray(beside(path, "-journal").read_bytes())
    if kind == "cut":
        del raw[source.randrange(8, len(raw)) :]
    elif kind == "flip":
        raw[source.randrange(28, len(raw))] ^= 1 << source.randrange(8)
    else:
        raw += bytes(source.randrange(256) for _ in range(source.randrange(3000)))
    beside(path, "-journal").write_bytes(raw)
    rows_by_sqlite(path, place / "t", PARTS)  # rolls the twin back, whatever it then says of its content
    with untouched(path.parent), (place / "out").open("w+b") as out:
        snapshot(Request(str(path)), out.fileno())
    assert (place / "out").read_bytes() == (place / "t" / "twin.db").read_bytes()
