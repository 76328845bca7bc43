"""Extract the structure of real `.adf` files into `tests/golden/structure/<version>.json`.

Only facts are kept (tables, columns, types, defaults, keys, indexes), no row of any table: the files themselves are
private. The SQL here is its own, so that the golden files can catch a fault in `adf_format.structure`.

    python tools/golden_structure.py FOLDER_WITH_REAL_FILES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import apsw

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "structure"
SOURCES = {21: "v0.1.5_fresh", 24: "v0.2.5_fresh", 27: "v0.3.2_worked", 28: "v0.4.2_fresh"}


def structure(connection: apsw.Connection) -> dict[str, Any]:
    """The tables of the format with their columns and indexes."""
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        if name.startswith("adf_")
    ]
    return {name: {"columns": columns(connection, name), "indexes": indexes(connection, name)} for name in names}


def columns(connection: apsw.Connection, table: str) -> dict[str, dict[str, Any]]:
    """The columns in their order: declared type, NOT NULL, SQL text of the default, place in the primary key."""
    return {
        name: {"type": kind, "notnull": not_null, "default": default, "pk": key}
        for _, name, kind, not_null, default, key in connection.execute(f"PRAGMA table_info({table})")
    }


def indexes(connection: apsw.Connection, table: str) -> dict[str, list[str | None]]:
    """The declared indexes with their columns; None stands for an expression."""
    found: dict[str, list[str | None]] = {}
    for _, name, _, origin, _ in connection.execute(f"PRAGMA index_list({table})").fetchall():
        if origin == "c":
            found[str(name)] = [column for _, _, column in connection.execute(f"PRAGMA index_info({name})")]
    return dict(sorted(found.items()))


def extract(file: Path) -> dict[str, Any]:
    """The structure of one file, which is opened without a trace."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{file.resolve().as_uri()}?immutable=1", flags=flags)
    try:
        return structure(connection)
    finally:
        connection.close()


def main() -> int:
    """Write the golden files."""
    folder = Path(sys.argv[1])
    for version, name in SOURCES.items():
        text = json.dumps(extract(folder / f"{name}.adf"), indent=1) + "\n"
        (GOLDEN / f"{version}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
