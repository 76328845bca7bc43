"""How many tokens a text may take, when no provider has counted them (CMP-003)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

CHARS_PER_TOKEN = 3.5
CHARS_PER_MESSAGE = 16
MEDIA_CHARS_PER_TOKEN = 100
_MEDIA = {"image_url": "url", "video_url": "url", "input_audio": "data"}


def messages(items: Iterable[Mapping[str, Any]]) -> int:
    """Estimate the tokens of messages `{role, content}`; lengths are UTF-16 units, as everywhere in the format."""
    chars = media = 0
    for item in items:
        chars += CHARS_PER_MESSAGE
        for block in item["content"]:
            if block.get("type") in _MEDIA:
                media += _media(block)
            else:
                chars += _block(block)
    return math.ceil(chars / CHARS_PER_TOKEN) + math.ceil(media / MEDIA_CHARS_PER_TOKEN)


def text(value: str) -> int:
    """Estimate the tokens of a text, such as a system prompt."""
    return math.ceil(units(value) / CHARS_PER_TOKEN)


def units(value: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


def _block(block: Mapping[str, Any]) -> int:
    kind = block.get("type")
    if kind == "tool_use":
        return units(str(block.get("name", ""))) + _json(block.get("input"))
    field = {"text": "text", "tool_result": "content", "thinking": "thinking"}.get(str(kind))
    if field is None:
        return _json(block)
    details = _json(block["reasoning_details"]) if "reasoning_details" in block else 0
    value = block.get(field)
    return details + (units(value) if isinstance(value, str) else _json(value))


def _media(block: Mapping[str, Any]) -> int:
    kind = str(block["type"])
    inner = block.get(kind)
    value = inner.get(_MEDIA[kind]) if isinstance(inner, Mapping) else None
    return units(value) if isinstance(value, str) else 0


def _json(value: object) -> int:
    return units(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))
