"""Snapshots of `adf_audit`: the only room that knows brotli.

A snapshot is JSON text as JavaScript writes it (AUD-010), in a brotli stream (AUD-011).
"""

from adf_format.audit.blob import Blob
from adf_format.audit.codec import compress, decompress, decompress_all
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

__all__ = [
    "Blob",
    "EntryReader",
    "EntryTooLargeError",
    "NotBrotliError",
    "SnapshotError",
    "TooLargeError",
    "TrailingBytesError",
    "TruncatedError",
    "compress",
    "decompress",
    "decompress_all",
    "javascript_json",
    "utf16_length",
]
