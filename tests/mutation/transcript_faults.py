"""Faults of the transcript: rows lost, calls and results parted, numbers and loops changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import apsw

from mutation.bench import Change, sample
from mutation.fault import Fault

TABLES = ("adf_loop", "sqlite_sequence", "adf_audit")  # two tables that contradict each other may both be named


def transcript_faults(version: int) -> Iterator[Fault]:
    """Yield the faults of every live row of the rich sample, and of the counter of its numbers."""
    connection = apsw.Connection(str(sample(version)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('adf_loop')")]
        rows = [
            dict(zip(columns, row, strict=True)) for row in connection.execute("SELECT * FROM adf_loop ORDER BY seq")
        ]
        sequence = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").get
    finally:
        connection.close()
    for row in rows:
        row["blocks"] = json.loads(row["content_json"])
    for row in rows:
        yield from _row(row, rows, sequence)
        yield from _blocks(row, rows)
        if "loop" in row:
            yield from _loops(row)
        if "ord" in row:
            yield from _order(row, rows)
    yield from _sequence(rows, sequence)


def _row(row: dict[str, Any], rows: list[dict[str, Any]], sequence: int) -> Iterator[Fault]:
    seq, kind = row["seq"], _kind(row)
    yield _do(f"row-deleted:{kind}/{seq}", "DELETE FROM adf_loop WHERE seq = ?", seq)
    other = "assistant" if row["role"] == "user" else "user"
    yield _do(f"role-swapped:{kind}/{seq}", "UPDATE adf_loop SET role = ? WHERE seq = ?", other, seq)
    yield _do(f"seq-above-counter/{seq}", "UPDATE adf_loop SET seq = ? WHERE seq = ?", sequence + 5, seq)
    yield _do(f"seq-zero/{seq}", "UPDATE adf_loop SET seq = 0 WHERE seq = ?", seq)
    yield _do(f"seq-of-archived-row/{seq}", "UPDATE adf_loop SET seq = 1 WHERE seq = ?", seq)
    if any(other["seq"] < seq and other.get("loop") == row.get("loop") for other in rows):
        yield _do(
            f"time-before-the-last/{seq}", "UPDATE adf_loop SET created_at = created_at - 7200000 WHERE seq = ?", seq
        )


def _kind(row: dict[str, Any]) -> str:
    kinds = {block["type"] for block in row["blocks"]}
    for kind in ("tool_use", "tool_result"):
        if kind in kinds:
            return kind
    text = str(row["blocks"][0].get("text", "")) if row["blocks"] else ""
    return "context" if text.startswith("[Context: ") else f"{row['role']}-text"


def _blocks(row: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[Fault]:
    seq = row["seq"]
    ids = [block[key] for other in rows if other is not row for block in other["blocks"] if (key := _key(block))]
    for index, block in enumerate(row["blocks"]):
        key = _key(block)
        if key is None:
            if block["type"] == "text":
                stamp = "[2026-01-01 00:00:00 UTC] " if row["role"] == "user" else ""
                yield _content(f"marker-stored/{seq}.{index}", row, index, {"text": f"{stamp}[S{seq}] {block['text']}"})
            continue
        kind = block["type"]
        yield _content(f"id-changed:{kind}/{seq}.{index}", row, index, {key: block[key] + "x"})
        yield _content(f"id-emptied:{kind}/{seq}.{index}", row, index, {key: ""})
        others = sorted(set(ids) - {block[key]})
        if others:
            yield _content(f"id-of-another:{kind}/{seq}.{index}", row, index, {key: others[0]})
        yield _twice(f"block-twice:{kind}/{seq}.{index}", row, index)
        yield _without(f"block-deleted:{kind}/{seq}.{index}", row, index)


def _key(block: dict[str, Any]) -> str | None:
    return {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])


def _loops(row: dict[str, Any]) -> Iterator[Fault]:
    kind, seq = _kind(row), row["seq"]
    for name in ("nobody", "Main", "loop:main", ""):
        yield _do(f"loop-renamed:{name}:{kind}/{seq}", "UPDATE adf_loop SET loop = ? WHERE seq = ?", name, seq)
    for name in ("main", "gardener", "reviewer"):
        if name != row["loop"]:
            yield _do(f"loop-moved:{name}:{kind}/{seq}", "UPDATE adf_loop SET loop = ? WHERE seq = ?", name, seq)


def _order(row: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[Fault]:
    seq, kind = row["seq"], _kind(row)
    if row["ord"] is not None:
        yield _do(f"ord-removed:{kind}/{seq}", "UPDATE adf_loop SET ord = NULL WHERE seq = ?", seq)
        return
    yield _do(f"ord-first:{kind}/{seq}", "UPDATE adf_loop SET ord = -5 WHERE seq = ?", seq)
    yield _do(f"ord-last:{kind}/{seq}", "UPDATE adf_loop SET ord = 999 WHERE seq = ?", seq)
    following = [other for other in rows if other["seq"] > seq and other.get("loop") == row.get("loop")]
    if following and following[0]["ord"] is None:
        other = following[0]["seq"]
        sql = "UPDATE adf_loop SET ord = CASE seq WHEN ?1 THEN ?2 ELSE ?1 END WHERE seq IN (?1, ?2)"
        yield _do(f"ord-swapped:{kind}/{seq}", sql, seq, other)
        yield _do(f"ord-tied:{kind}/{seq}", "UPDATE adf_loop SET ord = ? WHERE seq = ?", other, seq)


def _sequence(rows: list[dict[str, Any]], sequence: int) -> Iterator[Fault]:
    change = "UPDATE sqlite_sequence SET seq = ? WHERE name = 'adf_loop'"
    yield _do("counter-below-live/adf_loop", change, rows[-1]["seq"] - 1)
    yield _do("counter-zero/adf_loop", change, 0)
    yield _do("counter-text/adf_loop", change, "many")
    yield _do("counter-deleted/adf_loop", "DELETE FROM sqlite_sequence WHERE name = 'adf_loop'")
    if sequence > rows[-1]["seq"]:
        yield _do("counter-below-archived/adf_loop", change, sequence - 1)


def _do(kind: str, sql: str, *values: Any) -> Fault:
    return Fault(f"transcript/{kind}", lambda connection: connection.execute(sql, values), TABLES)


def _content(kind: str, row: dict[str, Any], index: int, change: dict[str, Any]) -> Fault:
    blocks = copy.deepcopy(row["blocks"])
    blocks[index] |= change
    return Fault(f"transcript/{kind}", _stored(row["seq"], blocks), TABLES)


def _twice(kind: str, row: dict[str, Any], index: int) -> Fault:
    blocks = [*row["blocks"][: index + 1], *row["blocks"][index:]]
    return Fault(f"transcript/{kind}", _stored(row["seq"], blocks), TABLES)


def _without(kind: str, row: dict[str, Any], index: int) -> Fault:
    blocks = [*row["blocks"][:index], *row["blocks"][index + 1 :]]
    return Fault(f"transcript/{kind}", _stored(row["seq"], blocks), TABLES)


def _stored(seq: int, blocks: list[Any]) -> Change:
    text = json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))
    return lambda connection: connection.execute("UPDATE adf_loop SET content_json = ? WHERE seq = ?", (text, seq))
