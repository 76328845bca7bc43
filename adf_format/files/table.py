"""Rows of `adf_files`, whatever a hostile file holds in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from adf_format import rows
from adf_format.errors import LimitError, UnreadableError

TABLE = "adf_files"
_NEEDED = ("path", "content")
_KNOWN = ("path", "mime_type", "protection", "authorized", "created_at", "updated_at")


@dataclass(frozen=True)
class FileRow:
    """One file of an agent, without its content.

    :ivar rowid: of its row
    :ivar path: as stored; None if that is no text
    :ivar size: bytes that are stored
    :ivar mime_type, protection, created_at, updated_at: as stored, None if absent or no text
    :ivar authorized: whether code in it may do what needs an authorisation
    """

    rowid: int
    path: str | None
    size: int
    mime_type: str | None = None
    protection: str | None = None
    authorized: bool = False
    created_at: str | None = None
    updated_at: str | None = None


def listing(connection: apsw.Connection) -> Iterator[FileRow]:
    """Yield all files in the order of their rows.

    :raises UnreadableError: there is no table of files with paths and contents
    """
    there = {name for (name,) in connection.execute("SELECT name FROM pragma_table_xinfo(?)", (TABLE,))}
    if not there.issuperset(_NEEDED):
        raise UnreadableError("the table of files is missing or incomplete", place=TABLE)
    known = [name for name in _KNOWN if name in there]
    for rowid, size, *values in rows.scan(connection, TABLE, ("content", *known), sizes=("content",)):
        yield _row(rowid, size, dict(zip(known, values, strict=True)))


def _row(rowid: int, size: Any, values: dict[str, Any]) -> FileRow:
    texts = {name: value if isinstance(value, str) else None for name, value in values.items() if name != "authorized"}
    return FileRow(
        rowid, texts.pop("path", None), size if isinstance(size, int) else 0, authorized=values.get("authorized") == 1,
        **texts,
    )  # fmt: skip


def find(connection: apsw.Connection, path: str) -> FileRow | None:
    """Return the file with a path, None if there is none."""
    return next((row for row in listing(connection) if row.path == path), None)


def content(connection: apsw.Connection, row: FileRow) -> bytes:
    """Return the bytes of a file; a text that was stored in their place counts as its UTF-8.

    :raises LimitError: larger than one value may be
    """
    query = f"SELECT CAST(content AS BLOB) FROM {TABLE} WHERE {rows.rowid_of(connection, TABLE)} = ?"
    try:
        found = connection.execute(query, (row.rowid,)).get
    except apsw.TooBigError:
        raise LimitError(f"a file of {row.size:,} bytes is not loaded", place=f"{TABLE} {row.path!a:.80}") from None
    return found if isinstance(found, bytes) else b""
