"""The write-ahead log of an example: as a crashed writer leaves it, but without SQLite's random salts."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from adf_format.sample.header import normalised

HEADER, FRAME_HEADER = 32, 24
SALTS = b"adf-form"


def normalise(log: Path) -> None:
    """Rewrite a log with fixed salts, a fixed SQLite version, and the checksums that follow from them."""
    data = log.read_bytes()
    order = ">" if data[3] & 1 else "<"
    (page_size,) = struct.unpack(">I", data[8:12])
    head = data[:16] + SALTS
    sums = _checksum(head, (0, 0), order)
    parts = [head, struct.pack(">2I", *sums)]
    for number_and_size, page in _frames(data, page_size):
        sums = _checksum(page, _checksum(number_and_size, sums, order), order)
        parts += [number_and_size, SALTS, struct.pack(">2I", *sums), page]
    log.write_bytes(b"".join(parts))


def _frames(data: bytes, page_size: int) -> Iterator[tuple[bytes, bytes]]:
    for start in range(HEADER, len(data), FRAME_HEADER + page_size):
        page = data[start + FRAME_HEADER : start + FRAME_HEADER + page_size]
        first = data[start : start + 4] == b"\0\0\0\1"
        yield data[start : start + 8], normalised(page) if first else page


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Continue the checksum of the log format: two 32-bit sums over pairs of words."""
    one, two = sums
    for low, high in struct.iter_unpack(f"{order}2I", data):
        one = (one + low + two) & 0xFFFFFFFF
        two = (two + high + one) & 0xFFFFFFFF
    return one, two
