"""A snapshot that is compressed while its rows are still being read: neither its text nor its rows are ever held."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import brotli

from adf_format.audit import Snapshot, loop_entry, utf16_length
from adf_format.audit.codec import QUALITY, WINDOW

PIECE = 1 << 20  # characters compressed at once; much less makes the result larger
BLOCK = 22  # log2 of brotli's input block: as large as the window is a tenth faster than small blocks, and no larger


@dataclass(frozen=True)
class Archive:
    """A snapshot ready to be stored, and what its text was.

    :ivar data: the compressed text; :ivar size_bytes: its length in UTF-16 units (AUD-009)
    :ivar utf8: its length in bytes; :ivar sha256: of these bytes
    :ivar start_seq: lowest seq of archived transcript rows (AUD-008), None for messages; :ivar end_seq: highest one
    """

    data: bytes = field(repr=False)
    size_bytes: int
    utf8: int
    sha256: bytes
    entry_count: int
    start_seq: int | None = None
    end_seq: int | None = None

    @classmethod
    def of(cls, snapshot: Snapshot) -> Archive:
        """Make one of a snapshot that is there as a whole."""
        text = snapshot.text.encode()
        sha256 = hashlib.sha256(text).digest()
        return cls(snapshot.data, snapshot.size_bytes, len(text), sha256, snapshot.entry_count)


def archive_loop(rows: Iterable[Mapping[str, Any]]) -> Archive:
    """Archive rows of `adf_loop` as `adf_format.audit.encode_loop` does, in the order given.

    :raises JsonTextError: the content of a row is not JSON (AUD-035)
    """
    lowest: int | None = None
    highest: int | None = None
    count = 0
    compressor = Compressor()
    for row in rows:
        seq = row["seq"]
        lowest = seq if lowest is None or seq < lowest else lowest
        highest = seq if highest is None or seq > highest else highest
        compressor.write(("," if count else "[") + loop_entry(row))
        count += 1
    compressor.write("]")
    data = compressor.finish()
    return Archive(data, compressor.utf16, compressor.utf8, compressor.sha256, count, lowest, highest)


class Compressor:
    """Compresses text piece by piece.

    :ivar utf8: bytes of text so far; :ivar utf16: UTF-16 units; both are complete after `finish()`
    :ivar sha256: of the text, after `finish()`
    """

    def __init__(self, quality: int = QUALITY) -> None:
        self.utf8 = self.utf16 = 0
        self.sha256 = b""
        self._brotli = brotli.Compressor(quality=quality, lgwin=WINDOW, lgblock=BLOCK)
        self._digest = hashlib.sha256()
        self._parts: list[str] = []
        self._length = 0
        self._data: list[bytes] = []

    def write(self, text: str) -> None:
        """Take a piece of text."""
        self._parts.append(text)
        self._length += len(text)
        if self._length >= PIECE:
            self._compress()

    def finish(self) -> bytes:
        """Return everything that was written, compressed."""
        self._compress()
        self._data.append(self._brotli.finish())
        self.sha256 = self._digest.digest()
        return b"".join(self._data)

    def _compress(self) -> None:
        text = "".join(self._parts)
        data = text.encode()
        self._digest.update(data)
        self.utf8 += len(data)
        self.utf16 += len(text) if len(text) == len(data) else utf16_length(text)
        self._data.append(self._brotli.process(data))
        self._parts, self._length = [], 0
