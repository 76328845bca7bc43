"""The bytes that stand for one row: each value with its column's name and its type, none mistaken for another.

A row is the sequence of its values that are not NULL, columns sorted by name, so a column that holds NULL counts
like a column that is not there: adding one changes no digest.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from adf_format.digest.canonical import NotCanonicalError, canonical
from adf_format.errors import LimitError
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.schemas.metakeys import find

Encode = Callable[[Any], bytes]
_real = struct.Struct(">d").pack


@cache
def json_columns(table: str) -> frozenset[str]:
    """Return the columns of a table that hold JSON text at any storage version: a digest knows no version."""
    versions = (storage_version(number).tables for number in range(OLDEST, LATEST + 1))
    return frozenset(
        column.name for found in versions if table in found for column in found[table].columns if column.is_json
    )


class RowEncoder:
    """Turns the rows of one table into bytes."""

    def __init__(self, table: str, columns: Sequence[str], without: frozenset[str] = frozenset()) -> None:
        """Encode rows whose values stand in the order of `columns`; `pair` leaves those of `without` out."""
        self._table = table
        names = sorted((name, index) for index, name in enumerate(columns))
        json = json_columns(table)
        self._columns = [(index, _sized(name.encode()), name in json) for name, index in names]
        self._meta = (columns.index("key"), columns.index("value")) if _is_meta(table, columns) else None
        self._kept = [at for at, (name, _) in enumerate(names) if name not in without]

    def __call__(self, row: Sequence[Any]) -> bytes:
        """Encode one row.

        :raises LimitError: a value is above the length limit of the connection
        """
        return b"".join(self._parts(row))

    def pair(self, row: Sequence[Any]) -> tuple[bytes, bytes]:
        """Encode one row, with and without some columns; errors as in calling."""
        parts = self._parts(row)
        return b"".join(parts), b"".join([parts[at] for at in self._kept])

    def _parts(self, row: Sequence[Any]) -> list[bytes]:
        """Return the bytes of each value by the name of its column; none for NULL."""
        parts: list[bytes] = []
        for index, head, json in self._columns:
            value = row[index]
            kind = type(value)
            if value is None:
                parts.append(b"")
            elif kind is str:
                parts.append(head + (_json(value) if json or self._json_meta(row, index) else _text(value)))
            elif kind is int:
                parts.append(head + b"i%d;" % value)
            elif kind is bytes:
                parts.append(head + value_of_blob(value))
            else:
                parts.append(head + self._rare(value))
        return parts

    def _json_meta(self, row: Sequence[Any], index: int) -> bool:
        if self._meta is None or index != self._meta[1] or not isinstance(row[self._meta[0]], str):
            return False
        key = find(row[self._meta[0]])
        return key is not None and key.json

    def _rare(self, value: Any) -> bytes:
        if isinstance(value, float):
            return b"r" + _real(value)
        if isinstance(value, Encoded):
            return value.data
        raise LimitError("a value is too large for a digest", place=f"table {self._table}")


class Encoded:
    """A value that was encoded already: one that was streamed, or text that is not UTF-8."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


def value_of_blob(value: bytes) -> bytes:
    """Encode a BLOB; the form is that of a streamed one, size and hash."""
    return hashed(b"b", len(value), hashlib.sha256(value).digest())


def hashed(kind: bytes, size: int, digest: bytes) -> bytes:
    """Encode a value by its size in bytes and its SHA-256."""
    return kind + size.to_bytes(8) + digest


def _json(text: str) -> bytes:
    try:
        return b"j" + _sized(canonical(text))
    except NotCanonicalError:
        return _text(text)


def _text(text: str) -> bytes:
    return b"t" + _sized(text.encode("utf-8", "surrogatepass"))


def _sized(data: bytes) -> bytes:
    return b"%d:%b" % (len(data), data)


def _is_meta(table: str, columns: Sequence[str]) -> bool:
    return table == "adf_meta" and {"key", "value"} <= set(columns)
