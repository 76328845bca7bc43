"""Agents with a past made to measure: live rows, snapshots sound or damaged, in any era."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import apsw

from adf_format import audit
from tests.core_files import build

Claim = Literal["exact", "none", "inverted", "half"]
Damage = Literal["", "garbage", "no-blob", "empty", "not-json", "object"]
START = 1767225600000
SUMMARY = "[Loop Compacted, audited] what was said before"


@dataclass(frozen=True)
class Snap:
    """A snapshot to be made of `(seq, text)` pairs, in this order."""

    loop: str
    rows: Sequence[tuple[int, str]]
    claim: Claim = "exact"
    damage: Damage = ""
    at: int = START + 500_000
    source: str | None = None


def content(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def row(seq: int, text: str, **columns: Any) -> dict[str, Any]:
    """A row of `adf_loop`; whatever says the same has the same time."""
    stored = json.dumps(content(text), ensure_ascii=False)
    return {"seq": seq, "role": "user", "content_json": stored, "created_at": START + seq * 1000, **columns}


def agent(
    path: Path,
    live: Iterable[dict[str, Any]] = (),
    snaps: Iterable[Snap] = (),
    *statements: str,
    version: int = 32,
    counter: int | None = None,
) -> Path:
    """Write an agent; live rows are columns by name, `loop` included from version 29 on."""
    build(path, version=version)
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("brotli", audit.compress)
    with connection:
        for one in live:
            names = ", ".join(f'"{name}"' for name in one)
            marks = ", ".join("?" * len(one))
            connection.execute(f"INSERT INTO adf_loop ({names}) VALUES ({marks})", list(one.values()))
        for snap in snaps:
            _insert(connection, snap, version)
        if counter is not None:
            connection.execute("DELETE FROM sqlite_sequence WHERE name = 'adf_loop'")
            connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('adf_loop', ?)", (counter,))
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def _insert(connection: apsw.Connection, snap: Snap, version: int) -> None:
    made = audit.encode_loop([row(seq, text) for seq, text in snap.rows])
    source = snap.source or (f"loop:{snap.loop}" if version >= 29 else "loop")
    values: dict[str, Any] = {
        "source": source,
        "entry_count": made.entry_count,
        "size_bytes": made.size_bytes,
        "data": _data(made, snap.damage),
        "created_at": snap.at,
    }
    if version >= 28:
        values["start_seq"], values["end_seq"] = _range(made, snap.claim)
    else:
        values["start_at"], values["end_at"] = START, START
    names = ", ".join(values)
    connection.execute(f"INSERT INTO adf_audit ({names}) VALUES ({', '.join('?' * len(values))})", [*values.values()])


def _data(made: audit.Snapshot, damage: Damage) -> bytes | str:
    match damage:
        case "garbage":
            return b"\xff" * 20
        case "no-blob":
            return ""
        case "empty":
            return b""
        case "not-json":
            return audit.compress("[{")
        case "object":
            return audit.compress('{"seq":1}')
    return made.data


def _range(made: audit.Snapshot, claim: Claim) -> tuple[int | None, int | None]:
    low, high = made.start_seq or 0, made.end_seq or 0
    return {"exact": (low, high), "none": (None, None), "inverted": (high + 1, low), "half": (low, None)}[claim]
