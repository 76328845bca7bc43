"""Files inside an `.adf` that memory is kept in: read anywhere, written inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import apsw

from adf_format import creation, files
from adf_format.creation.agent import file_row, iso
from adf_format.errors import UnreadableError
from adf_format.files import FileRow
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.schemas.ddl import quote

MARKDOWN = "text/markdown"
KEPT = frozenset({"README.md", "mind.md", "mind/log.md", "soul.md"})  # made `no_delete` (MEM-111)


class AgentFiles:
    """The files of one agent.

    :param version: storage version, None if the file does not say; then nothing can be written
    """

    def __init__(self, connection: apsw.Connection, version: int | None) -> None:
        self.connection = connection
        self._version = version
        self._rows = {row.path: row for row in files.listing(connection) if row.path is not None}

    def __contains__(self, path: str) -> bool:
        return path in self._rows

    def row(self, path: str) -> FileRow | None:
        """Return what is known of a file, None if there is none."""
        return self._rows.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        """Return the paths that begin with a prefix, sorted."""
        return sorted(path for path in self._rows if path.startswith(prefix))

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None if there is none."""
        row = self._rows.get(path)
        return None if row is None else files.content(self.connection, row)

    def write(
        self, path: str, content: bytes, now: datetime, *, mime: str = MARKDOWN, protection: str | None = None
    ) -> None:
        """Make or replace a file; an existing one keeps its protection and everything else (MEM-111).

        :param protection: of a new file; by default what its path asks for
        :raises UnreadableError: the storage version is none that is known
        """
        if path in self._rows:
            update = "UPDATE adf_files SET content = ?, size = ?, updated_at = ? WHERE path = ?"
            self.connection.execute(update, (content, len(content), iso(now), path))
            self._rows[path] = replace(self._rows[path], size=len(content), updated_at=iso(now))
        else:
            kept = "no_delete" if path in KEPT else "none"
            self.insert(file_row(path, content, iso(now), mime, protection or kept))

    def describe(self, path: str, metadata: Mapping[str, str]) -> None:
        """Set what the row of a file says besides its content; code in it is no longer authorized (MEM-186)."""
        columns = {**metadata, "authorized": 0}
        names = {name for (name,) in self.connection.execute("SELECT name FROM pragma_table_xinfo('adf_files')")}
        known = {name: value for name, value in columns.items() if name in names}
        sets = ", ".join(f"{quote(name)} = ?" for name in known)
        self.connection.execute(f"UPDATE adf_files SET {sets} WHERE path = ?", (*known.values(), path))
        facts = {**vars(self._rows[path]), **metadata, "authorized": False}
        self._rows[path] = FileRow(**facts)

    def insert(self, row: creation.Row) -> None:
        """Add a row given by column name."""
        if self._version is None or not OLDEST <= self._version <= LATEST:
            raise UnreadableError(f"no file can be added at storage version {self._version}")
        creation.insert(self.connection, storage_version(self._version).tables["adf_files"], row)
        shown = {name: row[name] for name in ("mime_type", "protection", "created_at", "updated_at")}
        rowid = self.connection.last_insert_rowid()
        self._rows[row["path"]] = FileRow(rowid, row["path"], len(row["content"]), authorized=False, **shown)
