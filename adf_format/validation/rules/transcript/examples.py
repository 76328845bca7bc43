"""SQL that changes the transcript of the sample: what the examples of this family are made of."""

from __future__ import annotations

import json
from typing import Any


def say(text: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": text}


def call(tool_id: str, name: str = "fs_list") -> dict[str, Any]:
    """Return a `tool_use` block."""
    return {"type": "tool_use", "id": tool_id, "name": name, "input": {}}


def result(tool_id: str) -> dict[str, Any]:
    """Return a `tool_result` block."""
    return {"type": "tool_result", "tool_use_id": tool_id, "content": "ok"}


def put(seq: int, *blocks: dict[str, Any], role: str | None = None) -> str:
    """Return an UPDATE that gives a row other blocks, and another role with what belongs to it."""
    changed = "" if role is None else f", role = '{role}', model = NULL, tokens = NULL"
    text = json.dumps(blocks, separators=(",", ":")).replace("'", "''")
    return f"UPDATE adf_loop SET content_json = '{text}'{changed} WHERE seq = {seq}"
