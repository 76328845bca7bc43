"""The bytes of a snapshot: a whole brotli stream of JSON text in UTF-8, read within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adf_format.audit import (
    Blob,
    EntryReader,
    EntryTooLargeError,
    NotBrotliError,
    SnapshotError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    decompress,
    javascript_json,
)
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.audit.counts import SIZE
from adf_format.validation.rules.audit.examples import archived, entry
from adf_format.validation.rules.audit.model import AuditRow

MIB = 1 << 20
TEXT_LIMIT = 512 * MIB  # bytes; the reference runtime holds a snapshot in one string, and V8's end at 2**29 units
ENTRY_LIMIT = 4 * MIB  # characters of one archived row
VALUE_LIMIT = 16 * MIB  # bytes of one archived message or file

_TEXT = javascript_json([entry(3)])

NOT_BROTLI = rule(
    "ADF501",
    "snapshot-not-brotli",
    Severity.ERROR,
    what="The blob of a snapshot is a brotli stream.",
    why="What was archived there is lost: the rows were deleted from their table when the snapshot was taken.",
    source=("AUD-011",),
    fires="UPDATE adf_audit SET data = x'5b7b22736571223a317d5d' WHERE id = 1",
    silent=archived([entry(3)], data=f"brotli('{_TEXT}', 11)"),
)
CUT_SHORT = rule(
    "ADF502",
    "snapshot-cut-short",
    Severity.ERROR,
    what="The brotli stream of a snapshot reaches its end.",
    why="Brotli decoders give what is there without complaint: the missing entries go unnoticed until they are needed.",
    source=("AUD-011",),
    fires="UPDATE adf_audit SET data = CAST(substr(data, 1, length(data) - 1) AS BLOB) WHERE id = 1",
    silent=archived([entry(3)], data=f"brotli('{_TEXT}', 0)"),
)
TRAILING = rule(
    "ADF503",
    "snapshot-trailing-bytes",
    Severity.ERROR,
    what="Nothing follows the end of the brotli stream.",
    why="Some decoders ignore what follows, others refuse the whole snapshot; nothing legitimate writes it.",
    source=("AUD-011",),
    fires="UPDATE adf_audit SET data = CAST(data || x'00' AS BLOB) WHERE id = 1",
    silent=archived([entry(3)], data=f"brotli('{_TEXT} ')", size_bytes=len(_TEXT) + 1),
)
TOO_LARGE = rule(
    "ADF504",
    "snapshot-too-large",
    Severity.WARNING,
    what="A snapshot, and each entry in it, is small enough to be checked within bounded memory.",
    why="A few hundred bytes of brotli can hold gigabytes; what exceeds the bound was not looked at.",
    source=("AUD-009", "AUD-011"),
    fires=archived([], entry_count=1, data="brotli('[\"' || hex(zeroblob(2200000)) || '\"]')", size_bytes=4400004),
    silent=archived([entry(3, "x" * 3000)]),
)
NOT_JSON = rule(
    "ADF505",
    "snapshot-not-json",
    Severity.ERROR,
    what="A snapshot decompresses to JSON text in UTF-8.",
    why="What was archived there is lost to every reader.",
    source=("AUD-010",),
    fires="UPDATE adf_audit SET data = brotli('[{\"seq\":1,') WHERE id = 1",
    silent=archived([entry(3, "\ud83d")]),
)
RULES = (NOT_BROTLI, CUT_SHORT, TRAILING, TOO_LARGE, NOT_JSON)
BROKEN = {NotBrotliError: NOT_BROTLI, TruncatedError: CUT_SHORT, TrailingBytesError: TRAILING}


class Stream:
    """The entries of one row's snapshot; iterating reports what is wrong with the bytes and then ends.

    An entry is its JSON text; those of a short and ordinary snapshot come decoded.

    :ivar whole: the stream was read to its end and nothing was wrong with it
    :ivar complete: all entries were handed out
    """

    def __init__(self, row: AuditRow) -> None:
        self._row = row
        self._limit = limit_of(row)
        self.reader = reader_of(row)
        self.whole = False
        self.complete = False

    def root(self) -> str | None:
        """Return what the snapshot is at its root, None if that cannot be told."""
        with self._reported():
            self.reader.begin()
        return self.reader.root

    def __iter__(self) -> Iterator[str | bytes | Decoded]:
        with self._reported():
            try:
                values = self.reader.at_once()
                yield from self.reader if values is None else map(Decoded, values)
                self.complete = True
            except EntryTooLargeError as error:
                self._too_large(f"{error.message}: entries not checked")
                self.reader.drain()
            self.whole = True

    def skip(self, why: str | None = None) -> None:
        """Read the rest without its entries, for the sake of the stream; `why` is what was too large."""
        if why:
            self._too_large(why)
        with self._reported():
            self.reader.drain()
            self.whole = True

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except TooLargeError as error:
            if self._limit < TEXT_LIMIT:
                self._row.report(SIZE, "the text is several times as long as size_bytes says", "size_bytes")
            else:
                self._too_large(f"{error.message}: not checked")
        except SnapshotError as error:
            self._row.report(BROKEN[type(error)], error.message, "data")
        except JsonTextError as error:
            self._row.report(NOT_JSON, f"not JSON: {error.message}", "data")

    def _too_large(self, what: str) -> None:
        self._row.report(TOO_LARGE, what, "data")
        self._row.context.not_checked("large snapshots in adf_audit", what)


def limit_of(row: AuditRow) -> int:
    """Return after how many bytes it is no use to read on: no UTF-16 unit takes more than three bytes."""
    declared = row.integer("size_bytes")
    return TEXT_LIMIT if declared is None else min(TEXT_LIMIT, max(3 * declared, MIB))


def reader_of(row: AuditRow) -> EntryReader:
    """Return a reader of the snapshot of a row, within all bounds."""
    blob = Blob(row.context.container.connection, "adf_audit", "data", row.rowid)
    chunks = _watched(row.context, decompress(blob, limit_bytes=limit_of(row)))
    return EntryReader(chunks, entry_limit=ENTRY_LIMIT, value_limit=VALUE_LIMIT)


def _watched(context: Context, chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        context.container.check_deadline()
        yield chunk
