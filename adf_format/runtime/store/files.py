"""`adf_files`: the files of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adf_format.audit import encode_file

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

_ABOUT = "path, size, mime_type, protection, authorized, updated_at"
_UPSERT = (
    "INSERT INTO adf_files (path, content, mime_type, size, protection, authorized, created_at, updated_at)"
    " VALUES (?1, ?2, ?3, ?4, 'none', 0, ?5, ?5) ON CONFLICT (path) DO UPDATE SET"
    " content = ?2, mime_type = ?3, size = ?4, authorized = 0, updated_at = ?5"
)


@dataclass(frozen=True)
class FileInfo:
    """A file without its content; `size` in bytes, `updated_at` ISO 8601."""

    path: str
    size: int
    mime_type: str | None
    protection: str
    authorized: bool
    updated_at: str


class Files:
    """Files by path; who may write what is decided by the tools."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def info(self, path: str) -> FileInfo | None:
        """Return what is known of a file, None if there is none."""
        row = self._store.connection.execute(f"SELECT {_ABOUT} FROM adf_files WHERE path = ?", (path,)).fetchone()
        return _info(row) if row else None

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        content = self._store.connection.execute("SELECT content FROM adf_files WHERE path = ?", (path,)).get
        return None if content is None else _bytes(content)

    def every(self) -> Iterator[FileInfo]:
        """Yield all files, by path."""
        rows = self._store.connection.execute(f"SELECT {_ABOUT} FROM adf_files ORDER BY path")
        return (_info(row) for row in rows)

    def write(self, path: str, content: bytes, mime_type: str | None) -> None:
        """Write a file; its protection stays. Code that was authorized is not any more: it is other code now."""
        self._store.connection.execute(_UPSERT, (path, content, mime_type, len(content), self._store.iso()))

    def delete(self, path: str) -> bool:
        """Delete a file, archived in the same transaction if the configuration says so (AUD-039).

        :returns: whether it was archived
        """
        with self._store.transaction() as connection:
            row = connection.execute("SELECT content, mime_type FROM adf_files WHERE path = ?", (path,)).fetchone()
            archived = row is not None and self._store.audit.policy()["files"]
            if row is not None and archived:
                mime = row[1] if isinstance(row[1], str) else None
                self._store.audit.put("file", encode_file(path, _bytes(row[0]), mime))
            connection.execute("DELETE FROM adf_files WHERE path = ?", (path,))
        return archived


def _info(row: tuple[object, ...]) -> FileInfo:
    path, size, mime, protection, authorized, updated = row
    whole = size if isinstance(size, int) else 0
    return FileInfo(
        str(path), whole, None if mime is None else str(mime), str(protection), authorized == 1, str(updated)
    )


def _bytes(content: object) -> bytes:
    """Return the bytes of a file; what was stored as text counts as UTF-8."""
    return content if isinstance(content, bytes) else str(content).encode("utf-8", "surrogatepass")
