"""Sorting the hashes of rows that have no order of their own, in flat memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import apsw

IN_MEMORY = 50_000  # hashes; more go to a temporary database, which only SQLite knows and which vanishes with it


def sorted_hashes(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the SHA-256 of each piece, sorted."""
    held: list[bytes] = []
    spilled: apsw.Connection | None = None
    for piece in pieces:
        held.append(hashlib.sha256(piece).digest())
        if len(held) >= IN_MEMORY:
            spilled = spilled or _temporary()
            _spill(spilled, held)
            held = []
    if spilled is None:
        yield from sorted(held)
        return
    _spill(spilled, held)
    yield from (row[0] for row in spilled.execute("SELECT hash FROM hashes ORDER BY hash"))
    spilled.close()


def _temporary() -> apsw.Connection:
    connection = apsw.Connection("")
    connection.execute("PRAGMA journal_mode = OFF; CREATE TABLE hashes (hash BLOB)").fetchall()
    return connection


def _spill(connection: apsw.Connection, hashes: list[bytes]) -> None:
    with connection:
        connection.executemany("INSERT INTO hashes VALUES (?)", ((one,) for one in hashes))
