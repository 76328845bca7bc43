"""Values that are too large to fetch whole: file contents and snapshots, read in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import apsw
import orjson

from adf_format.audit import Blob, EntryReader, SnapshotError, TooLargeError, decompress, decompress_all
from adf_format.digest.canonical import SORTED, NotCanonicalError, canonical, plain
from adf_format.digest.encoding import hashed
from adf_format.errors import JsonTextError
from adf_format.schemas.ddl import quote_any

STREAMED = {"adf_audit": "data", "adf_files": "content"}
LARGEST_SNAPSHOT = 4 << 30  # bytes of text; a snapshot beyond counts by its bytes
LARGEST_ENTRY = 64 << 20
WHOLE = 4 << 20  # bytes of text up to which a snapshot is decoded in one go
_REMEMBERED = 20_000
_DECODED: dict[bytes, bytes] = {}  # what stands for a snapshot, by size and hash of its bytes


def streamed(connection: apsw.Connection, table: str, column: str, key: str, rowid: int) -> bytes | None:
    """Encode one value: a sound snapshot by its decoded JSON, everything else by its bytes.

    :returns: None for a value that is neither BLOB nor TEXT: fetch it as it is
    """
    query = f"SELECT typeof({quote_any(column)}) FROM {quote_any(table)} WHERE {key} = ?"
    kind = connection.execute(query, (rowid,)).get
    if kind not in ("blob", "text"):
        return None
    blob = Blob(connection, table, column, rowid)
    if table == "adf_audit" and kind == "blob":
        return _snapshot(blob)
    return _bytes(blob, b"b" if kind == "blob" else b"T")


def _snapshot(blob: Blob) -> bytes:
    """Encode a snapshot; one that was decoded before, in this file or another, is known by its bytes."""
    stored = _bytes(blob, b"b")
    known = _DECODED.get(stored)
    if known is None:
        known = _decoded(blob) or stored
        if len(_DECODED) >= _REMEMBERED:
            del _DECODED[next(iter(_DECODED))]
        _DECODED[stored] = known
    return known


def _bytes(blob: Blob, kind: bytes) -> bytes:
    size, digest = 0, hashlib.sha256()
    for chunk in blob:
        size += len(chunk)
        digest.update(chunk)
    return hashed(kind, size, digest.digest())


def _decoded(blob: Blob) -> bytes | None:
    digest, count = hashlib.sha256(), 0
    try:
        for entry in _at_once(blob) or _entries(blob):
            count += 1
            digest.update(b"%d:" % len(entry))
            digest.update(entry)
    except (SnapshotError, JsonTextError, NotCanonicalError):
        return None
    return hashed(b"s", count, digest.digest())


def _at_once(blob: Blob) -> list[bytes]:
    """Return what `_entries` would yield, for a snapshot as writers make them; an empty list for all others."""
    try:
        text = decompress_all(blob, limit_bytes=WHOLE)
        value = plain(text)
    except (TooLargeError, NotCanonicalError):
        return []
    if isinstance(value, list):
        return [b"[", *(orjson.dumps(entry, option=SORTED) for entry in value)]
    return [b"=", orjson.dumps(value, option=SORTED)]


def _entries(blob: Blob) -> Iterator[bytes]:
    pieces = decompress(blob, limit_bytes=LARGEST_SNAPSHOT)
    reader = EntryReader(pieces, entry_limit=LARGEST_ENTRY, value_limit=LARGEST_ENTRY)
    reader.begin()
    yield b"[" if reader.root == "array" else b"="
    for entry in reader:
        yield canonical(entry)
