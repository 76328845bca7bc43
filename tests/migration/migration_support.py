"""Legacy files for the tests of migration, and what may be asked of any of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from adf_format.audit import compress, javascript_json, utf16_length
from adf_format.container import open_readonly, stored_version
from adf_format.digest import digest
from adf_format.sample import build

NOW = datetime(2026, 2, 3, 4, 5, 6, 789000, UTC)
RF = Path(__file__).resolve().parents[3] / "shared" / "real-files"


def sample(folder: Path, version: int, name: str = "agent.adf") -> Path:
    """The rich sample at a version, with normal pages."""
    build(folder / name, version)
    return folder / name


def real(folder: Path, name: str) -> Path:
    """A copy of a real file."""
    for suffix in ("", "-wal", "-shm"):
        if (RF / f"{name}.adf{suffix}").exists():
            shutil.copyfile(RF / f"{name}.adf{suffix}", folder / f"{name}.adf{suffix}")
    return folder / f"{name}.adf"


def run(path: Path, *statements: str, bindings: Iterable[tuple[Any, ...]] = ()) -> None:
    """Change a file directly."""
    connection = apsw.Connection(str(path))
    with connection:
        for statement in statements:
            for one in bindings or [()]:
                connection.execute(statement, one)
    connection.close()


def ask(path: Path, query: str, *bindings: Any) -> list[tuple[Any, ...]]:
    """Ask a file, without a trace."""
    with open_readonly(path) as container:
        return container.connection.execute(query, bindings).fetchall()


def version_of(path: Path) -> int | None:
    with open_readonly(path) as container:
        return stored_version(container.connection)


def digest_of(path: Path) -> str:
    with open_readonly(path) as container:
        return digest(container).sha256


def archive(path: Path, source: str, data: bytes | Any, *, count: int = 1, number: int | None = None) -> None:
    """Add a row to the audit as old runtimes made it; a value that is not bytes is encoded."""
    text = "" if isinstance(data, bytes) else javascript_json(data)
    blob = data if isinstance(data, bytes) else compress(text)
    statement = (
        "INSERT INTO adf_audit (id, source, start_at, end_at, entry_count, size_bytes, data, created_at)"
        " VALUES (?, ?, 1, 2, ?, ?, ?, 3)"
    )
    run(path, statement, bindings=[(number, source, count, utf16_length(text), blob)])


def rows_of(path: Path, table: str) -> list[Mapping[str, Any]]:
    """All rows of a table, columns by name."""
    names = [name for (name,) in ask(path, "SELECT name FROM pragma_table_info(?)", table)]
    fields = ", ".join(f'"{name}"' for name in names)
    return [dict(zip(names, row, strict=True)) for row in ask(path, f'SELECT {fields} FROM "{table}" ORDER BY rowid')]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
