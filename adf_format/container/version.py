"""The storage version that a file names."""

from __future__ import annotations

import apsw

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
    except UnicodeDecodeError:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
