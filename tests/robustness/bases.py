"""The valid files that get damaged: every page type, page size and state of the log."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw


@dataclass(frozen=True)
class Base:
    """A valid file.

    :ivar main: bytes of the database
    :ivar log: bytes of its write-ahead log, None without one
    """

    name: str
    main: bytes
    log: bytes | None = None

    @property
    def page_size(self) -> int:
        size = int.from_bytes(self.main[16:18], "big")
        return 65536 if size == 1 else size

    def write(self, path: Path) -> Path:
        """Write the file and its log."""
        return write(path, self.main, self.log)


def write(path: Path, main: bytes, log: bytes | None) -> Path:
    """Write a database and its log, replacing what an earlier one left."""
    path.write_bytes(main)
    beside = path.with_name(f"{path.name}-wal")
    if log is not None:
        beside.write_bytes(log)
    else:
        beside.unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    return path


def names() -> tuple[str, ...]:
    return tuple(_MAKERS)


def make(name: str, folder: Path) -> Base:
    """Build one of the bases, in a folder that may be thrown away."""
    path = folder / f"{name}.adf"
    log = _MAKERS[name](path)
    return Base(name, path.read_bytes(), log)


def _rich(version: int) -> Callable[[Path], bytes | None]:
    def build_it(path: Path) -> None:
        from adf_format.sample import build

        build(path, version, "rich")

    return build_it  # type: ignore[return-value]


def _changed(sql: str) -> Callable[[Path], bytes | None]:
    def build_it(path: Path) -> None:
        _rich(32)(path)
        connection = apsw.Connection(str(path))
        connection.execute(sql).fetchall()
        connection.close()

    return build_it  # type: ignore[return-value]


def _logged(path: Path) -> bytes:
    """A file whose log holds committed frames that its main file does not have."""
    _rich(32)(path)
    source = path.with_name("source.adf")
    shutil.move(path, source)
    connection = apsw.Connection(str(source))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").fetchall()
    connection.execute("DELETE FROM adf_meta WHERE key = 'adf_clean_close'")
    for number in range(4):
        connection.execute(f"INSERT INTO local_notes SELECT * FROM local_notes WHERE {number} < 0")
        connection.execute("UPDATE adf_logs SET message = message || ' again'")
    path.write_bytes(source.read_bytes())
    log = source.with_name("source.adf-wal").read_bytes()
    connection.close()
    source.unlink()
    return log


_MAKERS: dict[str, Callable[[Path], bytes | None]] = {
    "rich-21": _rich(21),
    "rich-28": _rich(28),
    "rich-32": _rich(32),
    "wal": _logged,
    "overflow": _changed(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 12)"
        " INSERT INTO adf_logs (level, message, data, created_at)"
        " SELECT 'info', printf('%.*c', 3000 * i, 'm'), json_quote(printf('%.*c', 20000, 'd')), 1767225600000 FROM n;"
        " UPDATE adf_files SET content = zeroblob(50000), size = 50000 WHERE path = 'assets/pixel.png'"
    ),
    "pages-512": _changed("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM"),
    "free-pages": _changed(
        "CREATE TABLE local_gone (x); WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
        " INSERT INTO local_gone SELECT printf('%.*c', 3000, 'x') FROM n; DROP TABLE local_gone"
    ),
}
