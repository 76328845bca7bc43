"""The content blocks of a message, as far as they can be trusted: `content_json` may hold anything."""

from __future__ import annotations

from typing import Any

from adf_format.jsontext import Decoded

SUMMARY = "[Loop Compacted"
CONTEXT = "[Context: "


def blocks_of(decoded: Any) -> list[Any] | None:
    """Return the blocks of a decoded `content_json`, None if it is no array of anything."""
    if type(decoded) is Decoded and type(decoded.value) is list:
        return decoded.value
    return None


def first_text(blocks: list[Any]) -> str:
    """Return the text of the first block, an empty string if that is no text block."""
    if blocks and type(blocks[0]) is dict and blocks[0].get("type") == "text":
        text = blocks[0].get("text")
        return text if type(text) is str else ""
    return ""
