"""SQL that adds a snapshot to the sample: what the examples of this family are made of."""

from __future__ import annotations

from typing import Any

from adf_format.audit import javascript_json

WRITTEN = 1767225600000  # time of an entry; snapshots are taken 100 s later
FILE = {"path": "notes/gone.md", "content_base64": "IyB4Cg==", "mime_type": "text/markdown", "size": 4}


def entry(seq: int, text: str = "hi", **more: Any) -> dict[str, Any]:
    """Return an archived transcript row."""
    content = [{"type": "text", "text": text}]
    return {"seq": seq, "role": "user", "content_json": content, "created_at": WRITTEN + seq, **more}


def archived(value: Any, source: str = "loop:main", **columns: Any) -> str:
    """Return an INSERT of a snapshot from version 28 on; `columns` overrule what belongs there, as SQL text."""
    row = _row(value, source)
    if source.startswith("loop") and isinstance(value, list) and value:
        seqs = [one["seq"] for one in value]
        row |= {"start_seq": min(seqs), "end_seq": max(seqs)}
    elif isinstance(value, dict):
        row["ref"] = quoted(str(value.get("path", value.get("id"))))
    return insert(row | columns)


def archived_until_27(value: Any, source: str = "loop", **columns: Any) -> str:
    """Return an INSERT as `archived` does, with the times that rows had up to version 27."""
    row = _row(value, source) | {"start_at": WRITTEN, "end_at": WRITTEN}
    if source == "loop":
        row |= {"start_at": value[0]["created_at"], "end_at": value[-1]["created_at"]}
    return insert(row | columns)


def insert(row: dict[str, Any]) -> str:
    """Return the INSERT of a row of `adf_audit` whose values are SQL text or numbers."""
    return f"INSERT INTO adf_audit ({', '.join(row)}) VALUES ({', '.join(str(one) for one in row.values())})"


def quoted(text: str) -> str:
    """Return a text as SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _row(value: Any, source: str) -> dict[str, Any]:
    text = quoted(javascript_json(value))
    return {
        "source": quoted(source),
        "entry_count": len(value) if isinstance(value, list) else 1,
        "size_bytes": f"utf16_length({text})",
        "data": f"brotli({text})",
        "created_at": WRITTEN + 100_000,
    }
