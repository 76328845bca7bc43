"""Snapshots of `adf_audit`: the only room that knows brotli.

A snapshot is JSON text as JavaScript writes it (AUD-010), in a brotli stream (AUD-011).
"""

from adf_format.audit.blob import Blob
from adf_format.audit.codec import compress, decompress, decompress_all
from adf_format.audit.encoding import (
    Snapshot,
    encode_file,
    encode_inbox,
    encode_loop,
    encode_message,
    encode_outbox,
    loop_entry,
)
from adf_format.audit.entries import EntryReader
from adf_format.audit.failures import (
    EntryTooLargeError,
    NotBrotliError,
    SnapshotError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
)
from adf_format.audit.javascript import javascript_json, utf16_length
from adf_format.audit.stored import stored_json
from adf_format.audit.typed import ArchivedFile, LoopEntry, ShapeError, batch_note, split_part

__all__ = [
    "ArchivedFile",
    "Blob",
    "EntryReader",
    "EntryTooLargeError",
    "LoopEntry",
    "NotBrotliError",
    "ShapeError",
    "Snapshot",
    "SnapshotError",
    "TooLargeError",
    "TrailingBytesError",
    "TruncatedError",
    "batch_note",
    "compress",
    "decompress",
    "decompress_all",
    "encode_file",
    "encode_inbox",
    "encode_loop",
    "encode_message",
    "encode_outbox",
    "javascript_json",
    "loop_entry",
    "split_part",
    "stored_json",
    "utf16_length",
]
