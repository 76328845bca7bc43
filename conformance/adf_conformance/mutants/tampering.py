"""How saboteurs look at and spoil files."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adf_conformance.mutants.mutant import After, Before, Params
from adf_conformance.observe.family import SIDECARS

_PLACE = tempfile.mkdtemp(prefix="adf-mutant-")  # removed by the proxy when it ends
COPY = Path(_PLACE, "copy.adf")


def clean_up() -> None:
    """Remove the copies."""
    shutil.rmtree(_PLACE, ignore_errors=True)


@contextmanager
def database(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Open a database for changes; everything is in the main file in the end, and nothing beside it."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA writable_schema = OFF")
        yield connection
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def copied(path: str, *, log: bool = True) -> Path:
    """Copy a file, with its log or without."""
    for ending in ("", *SIDECARS):
        COPY.with_name(COPY.name + ending).unlink(missing_ok=True)
    source = Path(path)
    if source.exists():
        shutil.copyfile(source, COPY)
    beside = source.with_name(source.name + "-wal")
    if log and beside.exists():
        shutil.copyfile(beside, COPY.with_name(COPY.name + "-wal"))
    return COPY


def blind(*statements: str) -> Before:
    """Let the real driver see a copy in which something is put right: it cannot complain about it any more."""

    def before(params: Params) -> Params:
        copy = copied(params["path"])
        for statement in statements:
            try:
                with database(copy) as connection:
                    connection.execute(statement)
            except sqlite3.Error:
                continue  # another version, or no database at all
        return params | {"path": str(copy)}

    return before


def holds(path: str, question: str) -> bool:
    """Say whether a question to the file, which is only read, gives something that counts as true."""
    try:
        with database(copied(path)) as connection:
            found = connection.execute(question).fetchone()
    except sqlite3.Error:
        return False
    return bool(found and found[0])


def afterwards(*statements: str) -> After:
    """Spoil a file that was migrated."""

    def change(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return afterwards_do(change)


def afterwards_do(change: Callable[[sqlite3.Connection], object]) -> After:
    """Spoil a file that was migrated, in code."""

    def after(params: Params, answer: Params) -> Params:
        if "result" in answer:
            try:
                with database(params["path"]) as connection:
                    change(connection)
            except sqlite3.Error:
                return answer
        return answer

    return after
