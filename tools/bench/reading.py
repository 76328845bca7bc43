"""The least that anybody must do who vouches for every value of a file: the bare limit of digests and receipts."""

from __future__ import annotations

import hashlib
from pathlib import Path

import apsw
import orjson

_JSON = ("content_json", "tokens", "config_json")


def read_through(path: Path) -> str:
    """Read every value of every row, bring JSON into one spelling, and hash it all; gives the hash."""
    found = hashlib.sha256()
    connection = apsw.Connection(f"file:{path}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        names = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            for name, value in zip(names, row, strict=True):
                if name in _JSON and value is not None:
                    found.update(orjson.dumps(orjson.loads(value), option=orjson.OPT_SORT_KEYS))
                elif value is not None:
                    found.update(value if isinstance(value, bytes) else str(value).encode())
    connection.close()
    return found.hexdigest()
