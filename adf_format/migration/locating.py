"""What points into a snapshot: worked out from its decoded JSON, once, in bounded memory (MIG-044, MIG-045)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import apsw
import orjson

from adf_format.audit import Blob, EntryReader, SnapshotError, TooLargeError, decompress, decompress_all
from adf_format.errors import AdfError, JsonTextError
from adf_format.jsontext import decode
from adf_format.migration.record import Snapshot

WHOLE = 4 << 20  # bytes of text up to which a snapshot is decoded in one go
LARGEST = 4 << 30
_ENTRY = 64 << 20
REF_KEYS = {"inbox_message": "id", "outbox_message": "id", "file": "path"}
Ends = tuple[Any, Any]  # first and last element of an array, or the value twice


def locate_snapshot(connection: apsw.Connection, number: int, *, hashing: bool) -> Snapshot:
    """Decode one row of `adf_audit`; damage is told, never raised.

    :param hashing: also hash the decoded text
    """
    source = _source(connection, number)
    digest = hashlib.sha256() if hashing else None
    try:
        array, ends = _ends(Blob(connection, "adf_audit", "data", number), digest)
    except AdfError as error:
        return Snapshot(number, source, problem=error.message)
    except (apsw.SQLError, apsw.CorruptError) as error:
        return Snapshot(number, source, problem=f"the blob cannot be read: {error}")
    start = end = ref = None
    if source == "loop" and array:
        start, end = map(_seq, ends)
        start, end = (start, end) if start is not None and end is not None else (None, None)
    elif source in REF_KEYS and not array and isinstance(ends[0], dict):
        found = ends[0].get(REF_KEYS[source])
        ref = found if isinstance(found, str) and found else None
    return Snapshot(number, source, start, end, _storable(ref), digest.hexdigest() if digest else None)


def _source(connection: apsw.Connection, number: int) -> Any:
    try:
        return connection.execute("SELECT source FROM adf_audit WHERE id = ?", (number,)).get
    except UnicodeDecodeError:
        return None


def _seq(entry: Any) -> int | None:
    """Return a seq: a whole number that a column can hold."""
    value = entry.get("seq") if isinstance(entry, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or abs(value) >= 2**63:  # noqa: PLR0124
        return None
    return int(value) if int(value) == value else None


def _storable(text: str | None) -> str | None:
    """Return a text as a JavaScript runtime stores it: lone surrogates become U+FFFD."""
    return None if text is None else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _ends(blob: Blob, digest: Any) -> tuple[bool, Ends]:
    """Return whether the text is an array, and its ends.

    :raises SnapshotError: it cannot be decompressed
    :raises JsonTextError: it is not JSON
    """
    try:
        text = decompress_all(blob, limit_bytes=WHOLE)
    except TooLargeError:
        return _streamed(blob, digest)
    if digest is not None:
        digest.update(text)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = decode(text).value
    if isinstance(value, list):
        return True, (value[0], value[-1]) if value else (None, None)
    return False, (value, value)


def _streamed(blob: Blob, digest: Any) -> tuple[bool, Ends]:
    reader = EntryReader(_hashed(blob, digest), entry_limit=_ENTRY, value_limit=_ENTRY)
    first: str | bytes | None = None
    last: str | bytes | None = None
    for entry in reader:
        first = entry if first is None else first
        last = entry
    reader.drain()
    if first is None or last is None:
        return True, (None, None)
    return reader.root == "array", (decode(first).value, decode(last).value)


def _hashed(blob: Blob, digest: Any) -> Iterator[bytes]:
    for piece in decompress(blob, limit_bytes=LARGEST):
        if digest is not None:
            digest.update(piece)
        yield piece


__all__ = ["LARGEST", "REF_KEYS", "WHOLE", "JsonTextError", "SnapshotError", "locate_snapshot"]
