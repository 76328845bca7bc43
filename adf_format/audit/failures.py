"""Why a snapshot cannot be read."""

from __future__ import annotations

from adf_format.errors import AdfError


class SnapshotError(AdfError):
    """The bytes of a snapshot cannot be turned into text."""


class NotBrotliError(SnapshotError):
    """The bytes are not a brotli stream, or are damaged inside."""


class TruncatedError(SnapshotError):
    """The brotli stream does not end."""


class TrailingBytesError(SnapshotError):
    """More bytes follow the end of the brotli stream."""


class TooLargeError(SnapshotError):
    """The text is larger than the limit given."""


class EntryTooLargeError(SnapshotError):
    """One entry is larger than the limit given; the rest of the stream may still be read."""
