"""Run the rules of one module on a file, without the other families."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw

from adf_format import structure
from adf_format.container import open_readonly
from adf_format.schemas import LATEST, OLDEST, ddl, storage_version
from adf_format.validation import engine, scan
from adf_format.validation.context import Context, Depth
from adf_format.validation.findings import Collector, Finding
from adf_format.validation.report import Stats

CREATED = "2026-01-01T00:00:00.000Z"
META = {"adf_version": "0.2", "adf_name": "Ada", "adf_parent_did": ""}


def build(path: Path, *statements: str, version: int = 32) -> Path:
    """Write an agent with the least content, in journal mode DELETE, then run statements on it."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
    for statement in ddl(version):
        connection.execute(statement)
    meta = META | {"adf_schema_version": str(version)}
    connection.executemany("INSERT INTO adf_meta VALUES (?, ?, 'readonly')", meta.items())
    connection.execute('INSERT INTO adf_config VALUES (1, \'{"name":"Ada"}\', ?)', (CREATED,))
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


def leave_log(path: Path, *statements: str, cut: int = 0) -> Path:
    """Run statements in WAL mode and leave what a crash would: the main file as it was, and the log."""
    log = path.with_name(path.name + "-wal")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    for statement in statements:
        connection.execute(statement)
    main, frames = path.read_bytes(), log.read_bytes()
    connection.close()
    path.write_bytes(main)
    log.write_bytes(frames[: len(frames) - cut])
    return path


def inspect(path: Path, module: ModuleType, depth: Depth = Depth.DEFAULT) -> tuple[list[Finding], Context]:
    """Return the findings of one module of rules, and the context in which they were made."""
    with open_readonly(path) as container:
        stored = engine.stored_version(container.connection)
        nearest = min(max(LATEST if stored is None else stored, OLDEST), LATEST)
        collector = Collector(None, {}, nearest if stored is None else max(stored, 1))
        context = Context(
            container=container,
            structure=structure.read(container.connection),
            stored=stored,
            version=storage_version(nearest),
            collector=collector,
            stats=Stats(),
            depth=depth,
        )
        for one in module.PASSES:
            if one.depth <= depth and all(table in context.structure.tables for table in one.tables):
                one.run(context)
        for table in context.structure.tables:
            visits = [one for one in getattr(module, "VISITS", ()) if one.table == table and one.depth <= depth]
            if visits:
                scan.run(context, table, visits)
        return collector.findings(), context


def told(path: Path, module: ModuleType, depth: Depth = Depth.DEFAULT) -> list[tuple[str, str | None, str]]:
    """Return rule, table and message of every finding."""
    return [(one.rule, one.table, one.message) for one in inspect(path, module, depth)[0]]


def rules(path: Path, module: ModuleType, depth: Depth = Depth.DEFAULT) -> set[str]:
    """Return the ids of the rules that reported."""
    return {one.rule for one in inspect(path, module, depth)[0]}


class Reports(list[tuple[str, dict[str, Any]]]):
    """Takes the place of `Context.report`."""

    def __call__(self, rule: Any, message: str, **place: Any) -> None:
        self.append((rule.id, {"message": message, **place}))

    @property
    def ids(self) -> set[str]:
        return {rule for rule, _ in self}
