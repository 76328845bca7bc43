"""The bytes of one BLOB, read in chunks straight from the file: memory stays flat whatever its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from adf_format.schemas.ddl import quote_any

CHUNK = 64 * 1024


@dataclass(frozen=True)
class Blob:
    """One BLOB of an ordinary rowid table; each iteration reads it from the start.

    Iterating raises `apsw.SQLError` if the value is neither BLOB nor TEXT, `apsw.CorruptError` for a damaged page.
    A table with generated columns, which the format has none of, cannot be read in chunks: the value is fetched whole,
    within the length limit of the connection.
    """

    connection: apsw.Connection
    table: str
    column: str
    rowid: int

    def __iter__(self) -> Iterator[bytes]:
        try:
            blob = self.connection.blob_open("main", self.table, self.column, self.rowid, False)
        except apsw.SQLError as error:
            if "generated columns" not in str(error):
                raise
            yield from self._whole()
            return
        try:
            while chunk := blob.read(CHUNK):
                yield chunk
        finally:
            blob.close(True)  # not left to `with`, which fails if the connection went first

    def _whole(self) -> Iterator[bytes]:
        column, table = quote_any(self.column), quote_any(self.table)
        query = f"SELECT typeof({column}), CAST({column} AS BLOB) FROM {table} WHERE rowid = ?"
        found = self.connection.execute(query, (self.rowid,)).fetchone()
        if found is None or found[0] not in ("blob", "text"):
            raise apsw.SQLError("there is no BLOB")
        data: bytes = found[1]
        for start in range(0, len(data), CHUNK):
            yield data[start : start + CHUNK]
