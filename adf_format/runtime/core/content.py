"""Content blocks: small questions about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Block = Mapping[str, Any]
Blocks = Sequence[Block]


def text_block(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def result_block(call_id: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return the result of a call."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return block | {"is_error": True} if is_error else block


def first_text(blocks: Blocks) -> str:
    """Return the text of the first block, an empty one if it is no text."""
    text = blocks[0].get("text") if blocks and blocks[0].get("type") == "text" else None
    return text if isinstance(text, str) else ""


def calls(blocks: Blocks) -> Iterator[Block]:
    """Yield the tool calls."""
    return (block for block in blocks if block.get("type") == "tool_use")


def is_results(blocks: Blocks) -> bool:
    """Whether these are results of calls."""
    return any(block.get("type") == "tool_result" for block in blocks)


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most so many UTF-16 units, never half a character (CMP-010, BUG-28)."""
    if len(text) * 2 <= most:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * most:
        return text
    piece = units[: 2 * most].decode("utf-16-le", "surrogatepass")
    return piece[:-1] if piece and "\ud800" <= piece[-1] <= "\udbff" else piece


def ending(text: str, most: int) -> str:
    """Return the end of a text, at most so many UTF-16 units, never half a character."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * most:
        return text
    piece = units[len(units) - 2 * most :].decode("utf-16-le", "surrogatepass")
    return piece[1:] if piece and "\udc00" <= piece[0] <= "\udfff" else piece
