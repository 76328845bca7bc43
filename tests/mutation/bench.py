"""Where mutations are tried: files on disk end to end, or one database in memory under the same passes and scans."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple
from unittest.mock import patch

import apsw

from adf_format import structure
from adf_format.container import Container, Limits, open_readonly
from adf_format.container.clock import Clock
from adf_format.schemas import storage_version
from adf_format.validation import engine
from adf_format.validation.context import Context, Depth
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats

Change = Callable[[apsw.Connection], object]


class Place(NamedTuple):
    """One finding without its severity."""

    rule: str
    table: str | None
    rowid: int | None
    column: str | None
    pointer: str | None
    message: str


Found = Counter[Place]


@cache
def sample(version: int) -> Path:
    """Build the rich sample of a version once per process."""
    from adf_format.sample import build

    folder = Path(mkdtemp(prefix="adf-mutation-"))
    _FOLDERS.append(folder)
    path = folder / f"rich-{version}.adf"
    build(path, version, "rich")
    return path


_FOLDERS: list[Path] = []


def clean_up() -> None:
    """Remove what `sample` and `FileBench` made."""
    while _FOLDERS:
        shutil.rmtree(_FOLDERS.pop(), ignore_errors=True)
    sample.cache_clear()


class FileBench:
    """Tries each change on a real file of its own, through `validate_file`."""

    def __init__(self, version: int, prepare: Change | None = None) -> None:
        self._path = sample(version).with_name(f"mutated-{version}.adf")
        shutil.copyfile(sample(version), self._path)
        if prepare is not None:
            _apply(self._path, prepare)
        self._bytes = self._path.read_bytes()
        self.before = self.run()

    def run(self, change: Change | None = None) -> Found:
        """Return what the validator finds after a change."""
        self._path.write_bytes(self._bytes)
        if change is not None:
            _apply(self._path, change)
        report = validate_file(self._path, Options(depth=Depth.DEEP))
        assert report.error is None, report.error
        found: Found = Counter()
        for one in report.findings:
            place = Place(one.rule, one.table, one.rowid, one.column, one.pointer, one.message)
            found[place] += one.count
        return found


def _apply(path: Path, change: Change) -> None:
    connection = apsw.Connection(str(path))
    try:
        connection.execute(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON"
        ).fetchall()
        change(connection)
    finally:
        connection.close()


class _Everything(Collector):
    """A collector that groups nothing and leaves nothing out."""

    def __init__(self, version: int) -> None:
        super().__init__(None, {}, version)
        self.found: Found = Counter()

    def report(self, rule: Any, message: str, **place: Any) -> None:
        if self.wants(rule):
            keys = ("table", "rowid", "column", "pointer")
            self.found[Place(rule.id, *(place.get(key) for key in keys), message)] += 1


class MemoryBench:
    """Tries each change on the sample in memory, and takes it back.

    All passes run as in `validate_file`, and the scans of the tables asked for; the file is not opened anew. A seeded
    sample of the same changes goes through `FileBench`, and must come out alike.
    """

    def __init__(self, version: int) -> None:
        self._version = version
        self._connection = apsw.Connection(":memory:")
        stored = sample(version).read_bytes()
        # in memory there is no write-ahead log
        self._connection.deserialize("main", stored[:18] + b"\1\1" + stored[20:])
        self._connection.execute("PRAGMA ignore_check_constraints = ON").fetchall()
        with open_readonly(sample(version)) as container:
            self._source, self._stamps = container.source, container._stamps

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        """Make a change for a while."""
        self._connection.execute("SAVEPOINT mutation")
        try:
            change(self._connection)
            yield
        finally:
            self._connection.execute("ROLLBACK TO mutation; RELEASE mutation")

    def run(self, tables: Collection[str | None]) -> Found:
        """Return what the validator finds now, the scans of other tables left out."""
        collector = _Everything(self._version)
        container = Container(
            self._connection, replace(self._source), self._stamps, Limits(), Clock(Path("memory"), 60.0)
        )
        context = Context(
            container=container,
            structure=structure.read(self._connection),
            stored=self._version,
            version=storage_version(self._version),
            collector=collector,
            stats=Stats(),
            depth=Depth.DEEP,
        )
        every = engine.visitors
        with patch.object(engine, "visitors", lambda name: every(name) if name in tables else ()):
            engine.run(context)
        assert not context.faults, context.faults
        return collector.found


def set_raw(connection: apsw.Connection, table: str, column: str, rowid: int, value: Any) -> None:
    """Store a value as it is, past type affinity and NOT NULL, and put the declaration back."""
    with loosened(connection, table):
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (value, rowid))


@contextmanager
def loosened(connection: apsw.Connection, table: str) -> Iterator[None]:
    """Take types and constraints from a declaration for a while."""
    declared = connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).get
    columns = connection.execute(f'SELECT name, type, pk FROM pragma_table_info("{table}")').fetchall()
    keys = {"INTEGER": " INTEGER PRIMARY KEY", "TEXT": " PRIMARY KEY"}
    loose = ", ".join(f'"{name}"{keys[kind] if key else ""}' for name, kind, key in columns)
    redeclare(connection, table, f'CREATE TABLE "{table}" ({loose})')
    yield
    redeclare(connection, table, declared)


def redeclare(connection: apsw.Connection, table: str, sql: str) -> None:
    """Overwrite the declaration of a table."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", (sql, table))
    connection.execute("PRAGMA writable_schema = RESET")
