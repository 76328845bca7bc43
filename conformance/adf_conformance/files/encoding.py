"""JSON text and snapshots as runtimes write them (AUD-009, AUD-010, AUD-020)."""

from __future__ import annotations

import json
import re
from typing import Any

import brotli

QUALITY = 5
TIME = 1767225600000  # epoch milliseconds of the first moment of invented files
_LONE = re.compile("[\ud800-\udfff]")
_KEYS = ("seq", "role", "content_json", "model", "tokens", "created_at", "ord")


def json_text(value: Any) -> str:
    """Write JSON without spaces and without escapes, but for lone surrogates, which UTF-8 does not have."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def archived(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of a plan as a snapshot holds it."""
    full = {"created_at": TIME + entry["seq"], **entry, "content_json": entry["blocks"]}
    return {key: full[key] for key in _KEYS if full.get(key) is not None}


def snapshot_text(snapshot: dict[str, Any]) -> str:
    """Return the JSON text of a snapshot of a plan."""
    if "entries" in snapshot:
        return json_text([archived(entry) for entry in snapshot["entries"]])
    return json_text(snapshot["value"])


def snapshot_data(snapshot: dict[str, Any]) -> bytes:
    """Return the compressed bytes of a snapshot, damaged if the plan says so."""
    quality = snapshot.get("quality", QUALITY)
    data: bytes = brotli.compress(snapshot_text(snapshot).encode(), quality=quality, lgwin=22)
    damage = snapshot.get("damage")
    if damage == "cut":
        return data[: max(len(data) // 2, 1)]
    return b"\xff\xff not brotli" if damage == "noise" else data


def snapshot_row(snapshot: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the row of `adf_audit`."""
    text, seqs = snapshot_text(snapshot), [entry["seq"] for entry in snapshot.get("entries", [])]
    size = len(text.encode()) if snapshot.get("size") == "utf8" else units(text)
    value = snapshot.get("value")
    count = len(seqs) if "entries" in snapshot else len(value) if isinstance(value, list) else 1
    row = {"source": snapshot["source"], "entry_count": count, "size_bytes": size, "data": snapshot_data(snapshot)}
    row["created_at"] = snapshot.get("created_at", TIME + 500_000)
    if version < 28:
        times = [entry.get("created_at", TIME + entry["seq"]) for entry in snapshot.get("entries", [])]
        return row | {
            "start_at": times[0] if times else row["created_at"],
            "end_at": (times or [row["created_at"]])[-1],
        }
    span = snapshot.get("range", [min(seqs), max(seqs)] if seqs else None)
    start, end = span or (None, None)
    return row | {"start_seq": start, "end_seq": end, "ref": snapshot.get("ref", _ref(snapshot))}


def _ref(snapshot: dict[str, Any]) -> str | None:
    key = {"inbox_message": "id", "outbox_message": "id", "file": "path"}.get(snapshot["source"])
    value = snapshot.get("value")
    return value.get(key) if key and isinstance(value, dict) else None
