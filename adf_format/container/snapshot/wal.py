"""A reader of SQLite's write-ahead log (file format version 3007000).

A log is a 32-byte header and frames of 24 bytes plus one page. A frame counts when its salts equal the
header's, its cumulative checksum is right, and a commit frame follows or is itself.
"""

from __future__ import annotations

import os
import struct

from .problem import SnapshotError

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost more than the work
if TYPE_CHECKING:
    from collections.abc import Callable

HEADER_SIZE = 32
FRAME_HEADER_SIZE = 24
VERSION = 3007000
_MAGIC = 0x377F0682  # bit 0: checksums are computed over big-endian words
_MASK = 0xFFFFFFFF

Pair = tuple[int, int]


class Header:
    """The header of a log whose own checksum is right; `page_size` in bytes."""

    def __init__(self, page_size: int, big_endian: bool, salts: bytes, checksum: Pair) -> None:
        self.page_size = page_size
        self.big_endian = big_endian
        self.salts = salts
        self.checksum = checksum


class Log:
    """What a log holds up to its last commit.

    :ivar pages: page number -> byte offset of its newest committed image in the log
    :ivar frames: committed frames
    :ivar ignored: whole frames in the file that do not count
    :ivar database_pages: size of the database in pages after the last commit; 0 without any
    :ivar ended: why the reading stopped: `end`, `salt`, `checksum`, `page-number`, `uncommitted`,
        `header`, `page-size`, `empty` or `none`
    """

    def __init__(self, ended: str, ignored: int = 0) -> None:
        self.pages: dict[int, int] = {}
        self.frames = 0
        self.ignored = ignored
        self.database_pages = 0
        self.ended = ended


def checksum(data: bytes, seed: Pair, *, big_endian: bool) -> Pair:
    """SQLite's running checksum over 32-bit words; the length is a multiple of 8."""
    words = struct.unpack(f"{'>' if big_endian else '<'}{len(data) // 4}I", data)
    one, two = seed
    turn = iter(words)
    # Masked only every fourth step: the sums grow by less than 3 bits a step, and masking costs as much.
    for a, b, c, d, e, f, g, h in zip(turn, turn, turn, turn, turn, turn, turn, turn, strict=False):
        one += a + two
        two += b + one
        one += c + two
        two += d + one
        one += e + two
        two += f + one
        one = (one + g + two) & _MASK
        two = (two + h + one) & _MASK
    rest = iter(words[len(words) - len(words) % 8 :])
    for a, b in zip(rest, rest, strict=True):
        one = (one + a + two) & _MASK
        two = (two + b + one) & _MASK
    return one, two


def read_header(raw: bytes) -> Header | None:
    """The header, or None when it is short, foreign or its checksum is wrong.

    :raises SnapshotError: `damaged` when the log is of another format version
    """
    if len(raw) < HEADER_SIZE:
        return None
    magic, version, page_size, _sequence = struct.unpack(">4I", raw[:16])
    stored = struct.unpack(">2I", raw[24:32])
    big_endian = bool(magic & 1)
    if magic & ~1 != _MAGIC or not is_page_size(page_size):
        return None
    if checksum(raw[:24], (0, 0), big_endian=big_endian) != stored:
        return None
    if version != VERSION:
        raise SnapshotError("damaged", f"the write-ahead log has format version {version}, not {VERSION}")
    return Header(page_size, big_endian, raw[16:24], (stored[0], stored[1]))


def is_page_size(size: int) -> bool:
    """Whether SQLite allows the page size (bytes)."""
    return 512 <= size <= 65536 and size & (size - 1) == 0


def read_log(fd: int, page_size: int, alive: Callable[[], None] = lambda: None) -> Log:
    """Read the committed frames of an open log.

    :param page_size: bytes, as the database says; a log of another page size is stale
    :param alive: called now and then; may raise to stop the reading
    """
    size = os.fstat(fd).st_size
    head = read_header(os.pread(fd, HEADER_SIZE, 0))
    slots = max(0, size - HEADER_SIZE) // (FRAME_HEADER_SIZE + page_size)
    if head is None or head.page_size != page_size:
        why = "empty" if size == 0 else "header" if head is None else "page-size"
        return Log(why, slots)
    return _read_frames(fd, head, slots, alive)


def _read_frames(fd: int, head: Header, slots: int, alive: Callable[[], None]) -> Log:
    log, running, pending = Log("end"), head.checksum, dict[int, int]()
    step = FRAME_HEADER_SIZE + head.page_size
    for index in range(slots):
        if index % 256 == 0:
            alive()
        offset = HEADER_SIZE + index * step
        raw = os.pread(fd, step, offset)
        verdict = _judge(raw, step, head, running)
        if isinstance(verdict, str):
            log.ended = verdict
            break
        running = verdict
        number, commit = struct.unpack(">2I", raw[:8])
        pending[number] = offset + FRAME_HEADER_SIZE
        if commit:
            log.pages.update(pending)
            log.frames, log.database_pages, pending = index + 1, commit, {}
    begun = (os.fstat(fd).st_size - HEADER_SIZE) % step  # bytes of a frame that was not written to its end
    if log.ended == "end" and (pending or begun):
        log.ended = "uncommitted"
    log.ignored = slots - log.frames
    return log


def _judge(raw: bytes, step: int, head: Header, running: Pair) -> Pair | str:
    """The running checksum after a valid frame, or why it is not valid."""
    if len(raw) < step:
        return "end"
    if raw[8:16] != head.salts:
        return "salt"
    if raw[:4] == b"\0\0\0\0":
        return "page-number"
    running = checksum(raw[:8], running, big_endian=head.big_endian)
    running = checksum(raw[FRAME_HEADER_SIZE:], running, big_endian=head.big_endian)
    return running if struct.unpack(">2I", raw[16:24]) == running else "checksum"


def merge(fd: int, log: Log, page_size: int, out: int, alive: Callable[[], None] = lambda: None) -> None:
    """Write the committed pages of a log into a database file and give it its committed size."""
    if not log.frames:
        return
    for count, (number, offset) in enumerate(log.pages.items()):
        if count % 256 == 0:
            alive()
        if number <= log.database_pages:
            os.pwrite(out, os.pread(fd, page_size, offset), (number - 1) * page_size)
    os.ftruncate(out, log.database_pages * page_size)
