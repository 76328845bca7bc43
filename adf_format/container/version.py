"""The storage version that a file names."""

from __future__ import annotations

from pathlib import Path

import apsw

from adf_format.errors import NewerSchemaError

QUERY = (
    "SELECT value FROM adf_meta WHERE key IN ('adf_schema_version', 'schema_version')"
    " ORDER BY key = 'schema_version' LIMIT 1"
)


def stored_version(connection: apsw.Connection) -> int | None:
    """Read the storage version: decimal text under `adf_schema_version`, else `schema_version` (STO-002).

    :returns: None if there is none or it is not a decimal number (MIG-007)
    """
    try:
        text = str(connection.execute(QUERY).get)
    except (UnicodeDecodeError, apsw.SQLError):  # not UTF-8, or a table without these columns
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def refuse_newer(version: int | None, newest: int, path: Path) -> None:
    """Refuse to change a file of a version that this tool does not know (MIG-005).

    :raises NewerSchemaError: it is newer
    """
    if version is not None and version > newest:
        raise NewerSchemaError(
            f"storage version {version} is newer than {newest}, the newest this tool knows",
            path,
            hint="nothing was changed; use a newer adf-format",
        )
