"""Rolling back a hot rollback journal, the way SQLite's pager does.

SQLite itself is not let loose on a journal of unknown origin: at the end of a rollback it deletes the
file that the journal names as its super-journal.
"""

from __future__ import annotations

import os
import struct

from . import wal
from .locks import PENDING

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost more than the work
if TYPE_CHECKING:
    from collections.abc import Callable

MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_FIELDS_SIZE = 28
_SMALLEST_SECTOR = 512
_UNSYNCED = 0xFFFFFFFF
_LONGEST_NAME = 4096


def super_journal(fd: int) -> bytes | None:
    """The path of the super-journal, named at the end by a transaction over several files."""
    size = os.fstat(fd).st_size
    length, stored = struct.unpack(">2I", os.pread(fd, 8, size - 16)) if size >= 16 else (0, 0)
    if not 0 < length <= min(_LONGEST_NAME, size - 16) or os.pread(fd, 8, size - 8) != MAGIC:
        return None
    name = os.pread(fd, length, size - 16 - length)
    total = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    return name if total == stored and b"\0" not in name else None


def is_hot(fd: int) -> bool:
    """Whether a journal asks for a rollback: a valid header and, if it names one, a super-journal."""
    if os.pread(fd, len(MAGIC), 0) != MAGIC:
        return False
    parent = super_journal(fd)
    return parent is None or os.path.exists(parent)  # noqa: PTH110 - a name of bytes


class Playback:
    """Writes the original pages of an interrupted transaction back into a copy of the database."""

    def __init__(self, fd: int, out: int, alive: Callable[[], None] = lambda: None) -> None:
        self._fd = fd
        self._out = out
        self._alive = alive
        self._size = os.fstat(fd).st_size
        self._sector = 0
        self._page_size = 0
        self._limit = 0

    def run(self, page_size: int) -> bool:
        """Roll back; False when the first header is not one.

        :param page_size: bytes, used when the journal does not say
        """
        raw = self._header(0, _SMALLEST_SECTOR)
        if raw is None or not self._begin(raw, page_size):
            return False
        offset = 0
        while raw is not None:
            end = self._restore(raw, offset + self._sector)
            if end is None:
                break
            offset = -(-end // self._sector) * self._sector
            raw = self._header(offset, self._sector)
        return True

    def _header(self, offset: int, sector: int) -> tuple[int, ...] | None:
        """Record count, checksum seed, original pages, sector bytes, page bytes of one segment."""
        raw = os.pread(self._fd, _FIELDS_SIZE, offset)
        if offset + sector > self._size or raw[: len(MAGIC)] != MAGIC:
            return None
        return struct.unpack(">5I", raw[len(MAGIC) :])

    def _begin(self, raw: tuple[int, ...], page_size: int) -> bool:
        self._limit, self._sector, self._page_size = raw[2], raw[3], raw[4] or page_size
        sector = self._sector
        if not (wal.is_page_size(self._page_size) and 32 <= sector <= 65536 and sector & (sector - 1) == 0):
            return False
        # A journal of unknown origin may claim any size: growing is left to pages that are restored
        if os.fstat(self._out).st_size > self._limit * self._page_size:
            os.ftruncate(self._out, self._limit * self._page_size)
        return True

    def _restore(self, raw: tuple[int, ...], offset: int) -> int | None:
        """Restore the records of one segment; the offset after them, or None at the first bad one."""
        size = self._page_size
        count = (self._size - self._sector) // (size + 8) if raw[0] == _UNSYNCED else raw[0]
        for index in range(count):
            if index % 256 == 0:
                self._alive()
            if not self._restore_page(os.pread(self._fd, size + 8, offset + index * (size + 8)), raw[1]):
                return None
        return offset + count * (size + 8)

    def _restore_page(self, raw: bytes, seed: int) -> bool:
        size = self._page_size
        number = int.from_bytes(raw[:4], "big")
        if len(raw) < size + 8 or number in {0, PENDING // size + 1}:
            return False
        if number > self._limit:
            return True
        page = raw[4:-4]
        if checksum(page, seed) != int.from_bytes(raw[-4:], "big"):
            return False
        os.pwrite(self._out, page, (number - 1) * size)
        return True


def checksum(page: bytes, seed: int) -> int:
    """The seed plus every 200th byte, counted from the end; byte 0 is never in it."""
    return (seed + sum(page[len(page) - 200 : 0 : -200])) & 0xFFFFFFFF
