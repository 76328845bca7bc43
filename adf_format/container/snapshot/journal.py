"""Rolling back a hot rollback journal, the way SQLite's pager does.

SQLite itself is not let loose on a journal of unknown origin: at the end of a rollback it deletes the
file that the journal names as its super-journal.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import wal
from .locks import PENDING

MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_FIELDS_SIZE = 28
_UNSYNCED = 0xFFFFFFFF


@dataclass
class _Segment:
    """One journal header: record count, checksum seed, original size in pages, sector and page bytes."""

    records: int
    seed: int
    database_pages: int
    sector: int
    page_size: int


def super_journal(fd: int) -> Path | None:
    """The super-journal named at the end of a journal of a transaction over several files."""
    size = os.fstat(fd).st_size
    length, stored = struct.unpack(">2I", os.pread(fd, 8, size - 16)) if size >= 16 else (0, 0)
    if not 0 < length <= min(4096, size - 16) or os.pread(fd, 8, size - 8) != MAGIC:
        return None
    name = os.pread(fd, length, size - 16 - length)
    total = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    return Path(os.fsdecode(name)) if total == stored and b"\0" not in name else None


def is_hot(fd: int) -> bool:
    """Whether a journal asks for a rollback: a valid header and, if it names one, a super-journal."""
    if os.pread(fd, len(MAGIC), 0) != MAGIC:
        return False
    parent = super_journal(fd)
    return parent is None or parent.exists()


def roll_back(fd: int, page_size: int, out: int, alive: Callable[[], None] = lambda: None) -> None:
    """Write the original pages of an interrupted transaction back into a copy of the database.

    :param page_size: bytes, used when the journal does not say
    """
    size, offset, first = os.fstat(fd).st_size, 0, None
    while True:
        segment = _read_segment(fd, offset, size, first, page_size)
        if segment is None:
            return
        if first is None:
            first = segment
            _resize(out, segment.database_pages, segment.page_size)
        end = _restore(fd, offset + segment.sector, segment, first.database_pages, out, alive)
        if end is None:
            return
        offset = -(-end // segment.sector) * segment.sector


def _read_segment(fd: int, offset: int, size: int, first: _Segment | None, page_size: int) -> _Segment | None:
    if offset + (first.sector if first else 512) > size:
        return None
    raw = os.pread(fd, _FIELDS_SIZE, offset)
    if raw[:8] != MAGIC or len(raw) < _FIELDS_SIZE:
        return None
    records, seed, pages, sector, stored_size = struct.unpack(">5I", raw[8:])
    segment = _Segment(records, seed, pages, sector, stored_size or page_size)
    if first is None and not _plausible(segment):
        return None
    if first is not None:
        segment.sector, segment.page_size = first.sector, first.page_size
    if records == _UNSYNCED:
        segment.records = (size - segment.sector) // (segment.page_size + 8)
    return segment


def _plausible(segment: _Segment) -> bool:
    sector = segment.sector
    return wal.is_page_size(segment.page_size) and 32 <= sector <= 65536 and sector & (sector - 1) == 0


def _resize(out: int, pages: int, page_size: int) -> None:
    # A journal of unknown origin may claim any size; growing is only done by a page that is restored.
    if os.fstat(out).st_size > pages * page_size:
        os.ftruncate(out, pages * page_size)


def _restore(
    fd: int, offset: int, segment: _Segment, limit: int, out: int, alive: Callable[[], None]
) -> int | None:
    """Restore the records of one segment; the offset after them, or None at the first bad record."""
    step, size = segment.page_size + 8, segment.page_size
    reserved = PENDING // size + 1
    for index in range(segment.records):
        if index % 256 == 0:
            alive()
        raw = os.pread(fd, step, offset + index * step)
        number = int.from_bytes(raw[:4], "big")
        if len(raw) < step or number in {0, reserved}:
            return None
        if number > limit:
            continue
        page = raw[4:-4]
        if _checksum(page, segment.seed) != int.from_bytes(raw[-4:], "big"):
            return None
        os.pwrite(out, page, (number - 1) * size)
    return offset + segment.records * step


def _checksum(page: bytes, seed: int) -> int:
    """The seed plus every 200th byte, counted from the end; byte 0 is never in it."""
    return (seed + sum(page[len(page) - 200 : 0 : -200])) & 0xFFFFFFFF
