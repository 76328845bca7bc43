from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from container_support import ROWS, beside, copy_trio, make, rows_by_sqlite, untouched
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adf_format.container import open_readonly
from adf_format.container.snapshot.main import Request, snapshot

STEP = st.one_of(
    st.tuples(st.just("insert"), st.integers(0, 9000)),
    st.tuples(st.just("delete"), st.integers(0, 20)),
    st.tuples(st.just("update"), st.integers(0, 5000)),
)
TRANSACTION = st.tuples(
    st.lists(STEP, min_size=1, max_size=6),
    st.sampled_from(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]),
    st.sampled_from(["", "", "", "PASSIVE", "RESTART", "TRUNCATE"]),
)
SQL = {
    "insert": "INSERT INTO t (b) VALUES (hex(zeroblob(? / 2)))",
    "delete": "DELETE FROM t WHERE a % 21 = ?",
    "update": "UPDATE t SET b = hex(zeroblob(? / 2)) WHERE a % 3 = 1",
}


def play(path: Path, transactions: list[tuple[list[tuple[str, int]], str, str]]) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=3")
    for steps, end, checkpoint in transactions:
        connection.execute("BEGIN")
        for kind, number in steps:
            connection.execute(SQL[kind], (number,))
        connection.execute(end)
        if checkpoint:
            connection.execute(f"PRAGMA wal_checkpoint({checkpoint})").fetchall()
    return connection


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    transactions=st.lists(TRANSACTION, min_size=1, max_size=8),
    page_size=st.sampled_from([512, 1024, 4096]),
    cut=st.one_of(st.none(), st.floats(0, 1)),
    flip=st.one_of(st.none(), st.floats(0, 0.9999)),
)
def test_our_merge_equals_what_sqlite_recovers(
    tmp_path_factory: pytest.TempPathFactory,
    transactions: list[tuple[list[tuple[str, int]], str, str]],
    page_size: int,
    cut: float | None,
    flip: float | None,
) -> None:
    place = tmp_path_factory.mktemp("wal")
    folder = place / "agents"
    folder.mkdir()
    origin = make(place / "origin.db", page_size=page_size, rows=20)
    connection = play(origin, transactions)
    path = folder / "a.adf"
    copy_trio(origin, path, ("", "-wal"))
    connection.close()
    damage(beside(path, "-wal"), cut, flip)
    expected = rows_by_sqlite(path, place / "t")
    with untouched(folder), (place / "out").open("w+b") as out:
        snapshot(Request(str(path)), out.fileno())
    # Closing the twin was a checkpoint: the same pages are in its main file now
    assert (place / "out").read_bytes() == (place / "t" / "twin.db").read_bytes()
    if cut is None and flip is None:
        with untouched(folder), open_readonly(path) as container:
            assert container.connection.execute(ROWS).fetchall() == expected
            assert container.connection.pragma("integrity_check") == "ok"


def damage(log: Path, cut: float | None, flip: float | None) -> None:
    """Cut the log off somewhere, and turn one bit of what is left."""
    size = log.stat().st_size
    if flip is not None and size:
        with log.open("r+b") as stream:
            position = int(flip * size)
            stream.seek(position)
            byte = stream.read(1)[0]
            stream.seek(position)
            stream.write(bytes([byte ^ 0x10]))
    if cut is not None:
        os.truncate(log, int(cut * size))
