from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from container_support import ROWS, beside, make, make_live, rows_by_sqlite, untouched

from adf_format.container import Limits, open_readonly
from adf_format.container.snapshot import wal
from adf_format.errors import DamagedError, LimitError, NotAnAdfError

STEP = 24 + 4096


def rows(path: Path) -> tuple[object, object]:
    """The rows of `t` and the source, read without a trace."""
    with untouched(path.parent), open_readonly(path) as container:
        assert container.source.mode == "private-copy"
        assert container.connection.pragma("integrity_check") == "ok"
        assert not container.changed()
        return container.connection.execute(ROWS).fetchall(), container.source


def edit_log(path: Path, offset: int, data: bytes) -> None:
    with beside(path, "-wal").open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def resign(path: Path, *, big_endian: bool) -> None:
    """Write the checksums of a log anew in the other byte order."""
    raw = bytearray(beside(path, "-wal").read_bytes())
    raw[0:4] = struct.pack(">I", 0x377F0682 | big_endian)
    running = wal.checksum(bytes(raw[:24]), (0, 0), big_endian=big_endian)
    raw[24:32] = struct.pack(">2I", *running)
    for offset in range(32, len(raw), STEP):
        running = wal.checksum(bytes(raw[offset : offset + 8]), running, big_endian=big_endian)
        running = wal.checksum(bytes(raw[offset + 24 : offset + STEP]), running, big_endian=big_endian)
        raw[offset + 16 : offset + 24] = struct.pack(">2I", *running)
    beside(path, "-wal").write_bytes(raw)


def test_rows_of_the_log_are_seen(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    seen, source = rows(path)
    assert len(seen) == 8
    assert seen == rows_by_sqlite(path, scratch / "t")
    assert (source.wal_frames, source.wal_frames_ignored, source.wal_end) == (
        (beside(path, "-wal").stat().st_size - 32) // STEP,
        0,
        "end",
    )
    assert source.size == path.stat().st_size


def test_a_link_finds_the_log_of_its_target(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    (folder / "links").mkdir()
    (folder / "links" / "l.adf").symlink_to(path)
    with untouched(folder), open_readonly(folder / "links" / "l.adf") as container:
        assert container.source.wal_frames > 0


@pytest.mark.parametrize("big_endian", [False, True])
def test_both_byte_orders_of_checksums(folder: Path, scratch: Path, big_endian: bool) -> None:
    path = make_live(folder / "a.adf")
    resign(path, big_endian=big_endian)
    seen, _ = rows(path)
    assert len(seen) == 8
    assert seen == rows_by_sqlite(path, scratch / "t")


@pytest.mark.parametrize("page_size", [512, 1024, 65536])
def test_page_sizes(folder: Path, scratch: Path, page_size: int) -> None:
    path = make_live(folder / "a.adf", page_size=page_size)
    seen, source = rows(path)
    assert source.page_size == page_size
    assert seen == rows_by_sqlite(path, scratch / "t")


def test_uncommitted_frames_do_not_count(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf", uncommitted=True)
    seen, source = rows(path)
    assert len(seen) == 8
    assert source.wal_end == "uncommitted"
    assert source.wal_frames_ignored > 0


def test_a_torn_tail(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    log = beside(path, "-wal")
    os.truncate(log, log.stat().st_size - 100)
    seen, _ = rows(path)
    assert seen == rows_by_sqlite(path, scratch / "t")
    assert len(seen) < 8


@pytest.mark.parametrize(
    ("offset", "data", "why"),
    [
        (100, b"!!!!", "checksum"),
        (8, b"\1\2\3\4", "salt"),
        (16, b"!!!!!!!!", "checksum"),
        (0, b"\0\0\0\0", "page-number"),
    ],
)
def test_a_bad_frame_ends_the_log(folder: Path, scratch: Path, offset: int, data: bytes, why: str) -> None:
    path = make_live(folder / "a.adf")
    edit_log(path, 32 + 2 * STEP + offset, data)
    seen, source = rows(path)
    assert seen == rows_by_sqlite(path, scratch / "t")
    assert (source.wal_frames, source.wal_end) == (2, why)
    assert source.wal_frames_ignored > 0


@pytest.mark.parametrize(("offset", "data"), [(16, b"\xff" * 8), (0, b"abcd"), (24, b"\0" * 8), (8, b"\0\0\0\7")])
def test_a_bad_header_makes_the_log_stale(folder: Path, scratch: Path, offset: int, data: bytes) -> None:
    path = make_live(folder / "a.adf")
    edit_log(path, offset, data)
    seen, source = rows(path)
    assert len(seen) == 3
    assert seen == rows_by_sqlite(path, scratch / "t")
    assert (source.wal_frames, source.wal_end) == (0, "header")
    assert source.wal_frames_ignored > 0


def test_the_log_of_a_database_with_other_pages(folder: Path, scratch: Path, tmp_path: Path) -> None:
    path = make(folder / "a.adf")
    (tmp_path / "other").mkdir()
    other = make_live(tmp_path / "other" / "b.adf", page_size=1024)
    beside(path, "-wal").write_bytes(beside(other, "-wal").read_bytes())
    seen, source = rows(path)
    assert len(seen) == 3
    assert (source.wal_frames, source.wal_end) == (0, "page-size")


def test_a_log_of_a_future_version(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    edit_log(path, 4, struct.pack(">I", 3008000))
    head = beside(path, "-wal").read_bytes()[:24]
    edit_log(path, 24, struct.pack(">2I", *wal.checksum(head, (0, 0), big_endian=bool(head[3] & 1))))
    with untouched(folder), pytest.raises(DamagedError, match="format version 3008000"):
        open_readonly(path)


def test_a_log_beside_a_rollback_mode_file(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    with path.open("r+b") as stream:
        stream.seek(18)
        stream.write(b"\1\1")
    assert rows(path)[0] == rows_by_sqlite(path, scratch / "t")


def test_a_shrinking_commit(folder: Path, scratch: Path, tmp_path: Path) -> None:
    import sqlite3

    origin = make(tmp_path / "o.adf", rows=200)
    connection = sqlite3.connect(origin, isolation_level=None)
    connection.executescript("PRAGMA wal_autocheckpoint=0; DELETE FROM t WHERE a > 5; VACUUM")
    for suffix in ("", "-wal"):
        beside(folder / "a.adf", suffix).write_bytes(beside(origin, suffix).read_bytes())
    connection.close()
    seen, source = rows(folder / "a.adf")
    assert len(seen) == 5
    assert source.page_count < source.size // 4096


def test_an_empty_log_with_shared_memory_is_copied(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf")
    beside(path, "-wal").touch()
    beside(path, "-shm").write_bytes(b"\0" * 32768)
    seen, source = rows(path)
    assert len(seen) == 3
    assert source.wal_end == "empty"


def test_an_empty_main_file_with_a_log(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    os.truncate(path, 0)
    with untouched(folder), pytest.raises(NotAnAdfError, match="empty"):
        open_readonly(path)


def test_text_with_a_log_beside_it(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    path.write_text("hello\n" * 1000)
    with untouched(folder), pytest.raises(NotAnAdfError, match="plain text"):
        open_readonly(path)


def test_the_copy_is_limited(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    with untouched(folder), pytest.raises(LimitError, match="would exceed 5000 bytes"):
        open_readonly(path, Limits(max_copy_bytes=5000))
    with untouched(folder), pytest.raises(LimitError, match="time limit"):
        open_readonly(path, Limits(deadline_s=0.0))
    assert not list(scratch.iterdir())


def test_a_commit_that_claims_a_huge_database(folder: Path, scratch: Path) -> None:
    """The copy is sparse, and the limit counts what it claims."""
    path = make_live(folder / "a.adf")
    raw = beside(path, "-wal").read_bytes()
    last = 32 + (len(raw) - 32) // STEP * STEP - STEP
    edit_log(path, last + 4, struct.pack(">I", 100_000_000))
    resign(path, big_endian=False)
    with untouched(folder), open_readonly(path) as container:
        assert container.connection.execute("SELECT count(*) FROM t").fetchall() == [(8,)]
    assert not list(scratch.iterdir())
    with untouched(folder), pytest.raises(LimitError, match="409600000000 bytes would exceed"):
        open_readonly(path, Limits(max_copy_bytes=1 << 30))


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_sidecars_that_are_not_files(folder: Path, scratch: Path, suffix: str, kind: str) -> None:
    path = make_live(folder / "a.adf")
    beside(path, suffix).unlink(missing_ok=True)
    (os.mkfifo if kind == "pipe" else os.mkdir)(beside(path, suffix))
    with untouched(folder), open_readonly(path) as container:
        expected = 3 if suffix == "-wal" else 8
        assert container.connection.execute("SELECT count(*) FROM t").fetchall() == [(expected,)]


def test_a_log_that_makes_a_short_file_whole(folder: Path, scratch: Path) -> None:
    """The size of the copy counts for a diagnosis, not that of the main file."""
    path = make_live(folder / "a.adf", rows=60)
    log = beside(path, "-wal").read_bytes()
    pages = len({log[offset : offset + 4] for offset in range(32, len(log), STEP)})
    assert pages * 4096 > path.stat().st_size
    assert len(rows(path)[0]) == 63


REAL = [
    place / "v0.4.2_crash_live.adf"
    for place in (Path("/work/shared/real-files"), Path(__file__).parents[3] / "shared" / "real-files")
    if (place / "v0.4.2_crash_live.adf").exists()
][:1]

if REAL:

    def test_the_trio_of_the_reference_implementation(tmp_path: Path, scratch: Path) -> None:
        """The manifest counts 45 rows of the loop, all of them in the log."""
        folder = REAL[0].parent
        with untouched(folder), open_readonly(REAL[0]) as container:
            assert container.source.wal_frames == 74
            assert container.connection.pragma("integrity_check") == "ok"
            assert container.connection.execute("SELECT count(*) FROM adf_loop").fetchall() == [(45,)]
