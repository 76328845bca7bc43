"""Transcripts, their counter, and the timers of loops."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from adf_format.clearing.archive import archive_loop
from adf_format.errors import JsonTextError
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.fixes.audit import measure
from adf_format.repair.mend import Mend
from adf_format.schemas.ddl import quote_any

_COUNTER = "SELECT rowid, seq FROM sqlite_sequence WHERE name = 'adf_loop'"


def _raise_counter(mend: Mend, _places: Sequence[Place]) -> None:
    """Set the counter to the highest seq that was ever used, as far as the file knows."""
    highest = mend.connection.execute("SELECT max(seq) FROM adf_loop").get or 0
    highest = max([highest, *_archived(mend)])
    found = mend.connection.execute(_COUNTER).fetchone()
    if found is None:
        mend.insert("sqlite_sequence", {"name": "adf_loop", "seq": highest})
    elif not isinstance(found[1], int) or found[1] < highest:
        mend.update("sqlite_sequence", found[0], "seq", highest)


def _archived(mend: Mend) -> list[int]:
    """Return the highest seq of each sound snapshot; what a range merely claims does not count."""
    query = "SELECT id FROM adf_audit WHERE source = 'loop' OR source LIKE 'loop:%'"
    rowids = [row[0] for row in mend.connection.execute(query)]
    measured = [measure(mend.connection, rowid, "loop") for rowid in rowids if isinstance(rowid, int)]
    return [found.high for found in measured if found is not None and found.high is not None]


def _tear_down(mend: Mend, places: Sequence[Place]) -> None:
    """Archive the rows of loops that are not declared, whatever the configuration says, and delete them (LOOP-132)."""
    columns = mend.columns("adf_loop")
    names = ", ".join(map(quote_any, columns))
    loops = {mend.value("adf_loop", one.rowid, "loop") for one in places if one.rowid is not None}
    for loop in sorted(name for name in loops if isinstance(name, str)):
        query = f"SELECT {names} FROM adf_loop WHERE loop = ? ORDER BY COALESCE(ord, seq), seq"
        try:
            found = [dict(zip(columns, row, strict=True)) for row in mend.connection.execute(query, (loop,))]
            archive = archive_loop(found)
        except (JsonTextError, TypeError, UnicodeDecodeError):
            continue  # what cannot be archived is not deleted
        rowid = mend.connection.execute("SELECT max(seq) + 1 FROM sqlite_sequence WHERE name = 'adf_audit'").get
        values: dict[str, Any] = {"id": rowid or 1, "source": f"loop:{loop}", "start_seq": archive.start_seq}
        values |= {"end_seq": archive.end_seq, "entry_count": archive.entry_count, "size_bytes": archive.size_bytes}
        mend.insert("adf_audit", values | {"data": archive.data, "created_at": time.time_ns() // 1_000_000})
        for row in found:
            mend.delete("adf_loop", row["seq"])
    _raise_counter(mend, places)  # a counter that was behind would give the seqs of the rows that went again


def _drop_timers(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        if place.rowid is not None and mend.value("adf_timers", place.rowid, "locked") == 0:
            mend.delete("adf_timers", place.rowid)


def _drop_stamp(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        mend.update("adf_timers", place.rowid, "loop", None)


_USED = "rows and snapshots show which seqs were given"
FIXES = (
    Fix("ADF601", Kind.SAFE, "raise the counter to the highest seq used", _USED, _raise_counter),
    Fix("ADF521", Kind.SAFE, "raise the counter to the highest seq used", _USED, _raise_counter),
    Fix("ADF702", Kind.LOSSY, "remove the loop from the timer", "it has no effect, but it goes", _drop_stamp),
    Fix("ADF608", Kind.GUESS, "archive the rows and delete them", "the loop may be declared again", _tear_down),
    Fix("ADF701", Kind.GUESS, "delete the timer, unless it is locked", "the loop may be declared again", _drop_timers),
)
