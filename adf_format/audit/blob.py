"""The bytes of one BLOB, read in chunks straight from the file: memory stays flat whatever its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

CHUNK = 64 * 1024


@dataclass(frozen=True)
class Blob:
    """One BLOB of an ordinary rowid table; each iteration reads it from the start.

    Iterating raises `apsw.SQLError` if the value is neither BLOB nor TEXT, `apsw.CorruptError` for a damaged page.
    """

    connection: apsw.Connection
    table: str
    column: str
    rowid: int

    def __iter__(self) -> Iterator[bytes]:
        blob = self.connection.blob_open("main", self.table, self.column, self.rowid, False)
        try:
            while chunk := blob.read(CHUNK):
                yield chunk
        finally:
            blob.close(True)  # not left to `with`, which fails if the connection went first
