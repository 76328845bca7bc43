"""The transcript: loops, token use, and how much of it is still there, live or archived."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from adf_format.inspection.file import File, whole

MAX_LOOPS = 50
MAX_MODELS = 10
MAX_GAPS = 5
_USAGE = ("input", "output", "cache_read", "cache_write", "reasoning", "cost_usd")
_RECORD = "typeof(tokens) = 'text' AND json_valid(tokens) AND json_type(tokens) = 'object'"
LOOP_SOURCES = "source = 'loop' OR source GLOB 'loop:*'"

Interval = tuple[int, int]


def loops(file: File) -> list[dict[str, Any]]:
    """Every loop that is declared or has rows, `main` first."""
    file.need("adf_loop", "seq")
    name = "loop" if file.has("adf_loop", "loop") else "'main'"
    query = f"SELECT CAST({name} AS TEXT), count(*), min(seq), max(seq) FROM adf_loop GROUP BY 1 LIMIT {MAX_LOOPS}"
    rows = {row[0]: row[1:] for row in file.rows(query)}
    declared = _declared(file)
    names = ["main", *sorted({str(one) for one in rows if one != "main"} | set(declared))]
    return [
        {
            "name": one,
            "declared": one == "main" or one in declared,
            "enabled": declared.get(one, True),
            "rows": rows.get(one, (0,))[0],
            "seqs": list(rows[one][1:]) if one in rows and all(type(seq) is int for seq in rows[one][1:]) else None,
        }
        for one in names[:MAX_LOOPS]
    ]


def _declared(file: File) -> dict[str, bool]:
    """Inner loops of the configuration and whether they are enabled; none if it cannot be read."""
    entries = file.config.get("loops") if file.has("adf_config", "config_json") else None
    named = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    return {one["name"]: one.get("enabled") is not False for one in named if isinstance(one.get("name"), str)}


def tokens(file: File) -> list[dict[str, Any]]:
    """Usage of the live rows by model, the largest first; rows in the audit are not counted."""
    file.need("adf_loop", "tokens", "model")
    sums = ", ".join(f"total(CASE WHEN {_RECORD} THEN json_extract(tokens, '$.{key}') END)" for key in _USAGE)
    query = (
        f"SELECT substr(CAST(model AS TEXT), 1, 80), count(*), {sums} FROM adf_loop"
        f" WHERE CASE WHEN typeof(tokens) = 'text' AND json_valid(tokens) THEN json_type(tokens) END = 'object'"
        f" GROUP BY 1 ORDER BY total(json_extract(tokens, '$.input')) DESC, 1 LIMIT {MAX_MODELS}"
    )
    return [{"model": row[0], "calls": row[1], **_usage(row[2:])} for row in file.rows(query)]


def _usage(sums: Iterable[float]) -> dict[str, float]:
    named = zip(_USAGE, sums, strict=True)
    return {key: round(value, 6) if key == "cost_usd" else whole(value) for key, value in named}


def audit(file: File) -> dict[str, Any]:
    """Snapshots by source, and how far live rows and the ranges of snapshots cover the seqs 1 to the highest."""
    file.need("adf_audit", "source", "entry_count")
    size = "total(octet_length(data))" if file.has("adf_audit", "data") else "0"
    query = (
        f"SELECT substr(CAST(source AS TEXT), 1, 80), count(*), total(entry_count), {size}"
        f" FROM adf_audit GROUP BY 1 ORDER BY 1 LIMIT {MAX_LOOPS}"
    )
    sources = [
        {"source": row[0], "snapshots": row[1], "entries": whole(row[2]), "bytes": whole(row[3])}
        for row in file.rows(query)
    ]
    return {"snapshots": sum(one["snapshots"] for one in sources), "sources": sources, "coverage": _coverage(file)}


def _coverage(file: File) -> dict[str, Any] | None:
    """Return how many seqs are live, in the range of a snapshot, or in neither; None where no ranges are kept.

    A range is a bounding interval (AUD-007), so `by_ranges` is an upper bound: only decoding shows what is there.
    """
    if not file.has("adf_audit", "start_seq", "end_seq") or not file.has("adf_loop", "seq"):
        return None
    high = _highest(file)
    live = whole(file.one("SELECT count(*) FROM adf_loop WHERE seq BETWEEN 1 AND ?", (high,)))
    covered, gaps = 0, list[list[int]]()
    position = 1
    for start, end in _merged(file, high):
        if start > position and len(gaps) < MAX_GAPS:
            gaps.append([position, start - 1])
        covered += max(0, end - max(start, position) + 1)
        position = max(position, end + 1)
    if position <= high and len(gaps) < MAX_GAPS:
        gaps.append([position, high])
    return {"highest": high, "live": live, "by_ranges": covered - live, "neither": high - covered, "gaps": gaps}


def _highest(file: File) -> int:
    """Return the highest seq ever used: the mark of AUTOINCREMENT, or what rows and ranges show (STO-033)."""
    found = [file.one("SELECT max(seq) FROM adf_loop")]
    found.append(file.one(f"SELECT max(end_seq) FROM adf_audit WHERE typeof(end_seq) = 'integer' AND ({LOOP_SOURCES})"))
    if any(name == "sqlite_sequence" for _, name, _, _ in file.structure.objects):
        found.append(file.one("SELECT max(seq) FROM sqlite_sequence WHERE name = 'adf_loop'"))
    return max([0, *(value for value in found if type(value) is int)])


def _merged(file: File, high: int) -> Iterator[Interval]:
    """Yield the live seqs and the ranges of loop snapshots as intervals, by their start."""
    live = (
        (row[0], row[0])
        for row in file.connection.execute(
            "SELECT seq FROM adf_loop WHERE seq > 0 AND typeof(seq) = 'integer' ORDER BY seq"
        )
    )
    ranges = file.connection.execute(
        f"SELECT max(start_seq, 1), min(end_seq, ?) FROM adf_audit WHERE ({LOOP_SOURCES})"
        " AND typeof(start_seq) = 'integer' AND typeof(end_seq) = 'integer' AND start_seq <= end_seq ORDER BY 1",
        (high,),
    )
    return heapq.merge(live, ranges)


def first_gaps(gaps: list[list[int]]) -> str:
    """Return gaps in words: `3 to 7, 12`."""
    return ", ".join(f"{start:,} to {end:,}" if end > start else f"{start:,}" for start, end in islice(gaps, MAX_GAPS))
