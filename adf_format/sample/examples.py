"""Making an example file: the sample, changed by SQL and then byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import apsw

from adf_format.audit import compress, utf16_length
from adf_format.sample import log
from adf_format.sample.build import content
from adf_format.sample.header import normalised


class Change(Protocol):
    """What an example changes: see `adf_format.validation.rule.Example`, of which this is the shape."""

    @property
    def sql(self) -> str:
        """Statements run on the sample."""

    @property
    def on(self) -> int:
        """Storage version of the sample."""

    @property
    def base(self) -> Literal["fresh", "rich"]:
        """Which sample."""

    @property
    def patch(self) -> Sequence[tuple[int, str]]:
        """Bytes overwritten afterwards."""

    @property
    def truncate(self) -> int | None:
        """Bytes kept."""

    @property
    def append(self) -> str:
        """Hex bytes added at the end."""

    @property
    def log(self) -> str:
        """Statements that stay in the log."""

    @property
    def log_cut(self) -> int:
        """Bytes cut off the log."""

    @property
    def beside(self) -> Sequence[tuple[str, str]]:
        """Files beside the file."""

    @property
    def content(self) -> str | None:
        """The whole file as text."""


def example(path: str | Path, change: Change) -> None:
    """Write an example file, and what it has beside it; nothing may stand at the path.

    The same example always gives the same bytes.

    :raises apsw.Error: SQL of the example that does not run
    """
    target = Path(path)
    if change.content is not None:
        target.write_bytes(change.content.encode())
    else:
        target.write_bytes(content(change.on, change.base))
        if change.sql.strip():
            _run(target, change.sql)
        if change.log.strip():
            _run_in_log(target, change.log, change.log_cut)
        _alter(target, change)
    for suffix, hexed in change.beside:
        target.with_name(target.name + suffix).write_bytes(bytes.fromhex(hexed))


def connect(path: Path) -> apsw.Connection:
    """Open a sample for changes, with the functions `brotli` and `utf16_length`."""
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("brotli", _brotli, -1, deterministic=True)
    connection.create_scalar_function("utf16_length", _length, 1, deterministic=True)
    return connection


def _brotli(*arguments: Any) -> Any:
    text, *quality = arguments
    return compress(text if isinstance(text, str) else bytes(text).decode(), *quality)


def _length(*arguments: Any) -> Any:
    return utf16_length(*arguments)


def _run(path: Path, sql: str) -> None:
    connection = connect(path)
    try:
        _execute(connection, f"PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; {sql}")
    finally:
        connection.close()
    path.write_bytes(normalised(path.read_bytes()))


def _run_in_log(path: Path, sql: str, cut: int) -> None:
    connection = connect(path)
    beside = path.with_name(f"{path.name}-wal")
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _execute(connection, f"PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {sql}")
    finally:
        connection.close()
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    path.write_bytes(normalised(path.read_bytes()))
    log.normalise(beside)
    if cut:
        beside.write_bytes(beside.read_bytes()[:-cut])


def _execute(connection: apsw.Connection, sql: str) -> None:
    for _ in connection.execute(sql):
        pass  # statements after one that gives rows only run when its rows are fetched


def _alter(path: Path, change: Change) -> None:
    if not change.patch and change.truncate is None and not change.append:
        return
    data = bytearray(path.read_bytes())
    for offset, hexed in change.patch:
        start = offset + len(data) if offset < 0 else offset
        new = bytes.fromhex(hexed)
        data[start : start + len(new)] = new
    path.write_bytes(bytes(data[: change.truncate]) + bytes.fromhex(change.append))
