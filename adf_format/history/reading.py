"""How a snapshot is read: entry by entry, within bounds, with every damage named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from adf_format.audit import (
    Blob,
    EntryReader,
    EntryTooLargeError,
    LoopEntry,
    NotBrotliError,
    ShapeError,
    SnapshotError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    decompress,
)
from adf_format.container import Container
from adf_format.errors import JsonTextError
from adf_format.history.model import ARRAYS, Problem, SnapshotRow
from adf_format.jsontext import decode

MIB = 1 << 20
TEXT_LIMIT = 512 * MIB  # bytes of one snapshot; the reference runtime cannot make a larger one
ENTRY_LIMIT = 16 * MIB  # characters of one archived row
VALUE_LIMIT = 64 * MIB  # bytes of one archived message or file
ENTRIES = 4_000_000  # entries of one snapshot
HIGHEST = 2**62  # no counter gets there
_DAMAGE: dict[type[SnapshotError], str] = {
    NotBrotliError: "not-brotli",
    TruncatedError: "truncated",
    TrailingBytesError: "trailing-bytes",
    TooLargeError: "too-large",
}


class Reading:
    """One snapshot, read once. Iterating yields `(index, value)`; what cannot be read is in `problems` afterwards.

    Entries before a damage are handed out too: better doubtful than lost.

    :ivar count: entries met, readable or not; :ivar utf16: UTF-16 units of text; :ivar utf8: bytes of text
    :ivar root: what the text is at its root, None until it was begun
    :ivar whole: the stream was read to its end and all of it was sound
    """

    def __init__(self, container: Container, row: SnapshotRow) -> None:
        self._row = row
        self._container = container
        self._key = row.id
        self.problems: list[Problem] = []
        self.count = 0
        self.utf8 = 0
        self.utf16 = 0
        self.root: str | None = None
        self.whole = False

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self._values(rows=False)

    def rows(self) -> Iterator[tuple[int, LoopEntry]]:
        """Yield the rows of a transcript; entries without a `seq` are a problem, an object is no transcript."""
        for index, value in self._values(rows=True):
            try:
                entry = LoopEntry.parse(value)
            except ShapeError:
                entry = None
            if entry is None or not -HIGHEST < entry.seq < HIGHEST:
                self.problem("no-seq", f"entry {index} has no seq")
                continue
            yield index, entry

    def _values(self, *, rows: bool) -> Iterator[tuple[int, Any]]:
        for index, text in self.texts(rows=rows):
            try:
                value = decode(text).value
            except JsonTextError as error:
                self._entry_problem(index, f"not JSON: {error.message}")
                continue
            yield index, value

    def texts(self, *, rows: bool = False) -> Iterator[tuple[int, str | bytes]]:
        """Yield `(index, JSON text)`; the text of an entry is not yet vouched for.

        :param rows: only elements of an array
        """
        reader = self._reader()
        if reader is None:
            return
        try:
            reader.begin()
            self.root = reader.root
            self._check_root(reader)
            for text in reader:
                if rows and self.root != "array":
                    continue
                if self.count >= ENTRIES:
                    self.problem("too-many-entries", f"more than {ENTRIES:,} entries: the rest was not read")
                    break
                self.count += 1
                yield self.count - 1, text
            self.whole = not self.problems
        except SnapshotError as error:
            self.problem(_code(error), error.message)
        except JsonTextError as error:
            self.problem("not-json", f"not JSON: {error.message}")
        except apsw.SQLError:
            self.problem("no-blob", "there is no blob")
        finally:
            self.utf8, self.utf16 = reader.utf8, reader.utf16

    def _reader(self) -> EntryReader | None:
        if self._row.data_bytes is None:
            self.problem("no-blob", "there is no blob")
            return None
        blob = Blob(self._container.connection, "adf_audit", "data", self._key)
        chunks = self._watched(decompress(blob, limit_bytes=TEXT_LIMIT))
        return EntryReader(chunks, entry_limit=ENTRY_LIMIT, value_limit=VALUE_LIMIT)

    def _watched(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._container.check_deadline()
            yield chunk

    def _check_root(self, reader: EntryReader) -> None:
        wanted = "array" if self._row.kind in ARRAYS else "object"
        if self._row.kind != "other" and reader.root != wanted:
            article = "an" if wanted[0] in "ao" else "a"
            self.problem("wrong-shape", f"{article} {wanted} was expected, this is {_named(reader.root)}")

    def _entry_problem(self, index: int, message: str) -> None:
        where = f"entry {index}: " if self._row.kind in ARRAYS else ""
        self.problem("entry", f"{where}{message}")

    def problem(self, code: str, message: str) -> None:
        """Keep a problem; of many alike the first tells enough."""
        self.whole = False
        if all(known.code != code for known in self.problems):
            self.problems.append(Problem(code, message))


def _code(error: SnapshotError) -> str:
    return "entry-too-large" if isinstance(error, EntryTooLargeError) else _DAMAGE.get(type(error), "unreadable")


def _named(root: str | None) -> str:
    return {"array": "an array", "object": "an object"}.get(root or "", "a bare value")
