"""What a row is to somebody who looks at a transcript, told by its role and the beginning of its text.

Apart from context rows, deliveries and summaries, the beginnings are free text of the runtimes (ROW-032): what is not
recognised is a message of the owner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from adf_format.history import Item
from adf_format.history.summaries import first_text

Kind = Literal["owner", "agent", "context", "delivery", "trigger", "system", "summary", "results", "empty"]
_CONTEXT = re.compile(r"\[Context: ([^\]\n|]{1,200})((?: \| [^\]\n]{0,300})?)\] ?")
_DELIVERY = re.compile(r"\[from loop:([^\]\n]{1,200})\] ?")
_SUMMARY = re.compile(r"\[Loop Compacted(?:, audited)?\] ?")
_TRIGGER = re.compile(
    r"\[(Inbox notification|Timer|Trigger|File change|Task|Scheduled|Wake|Message Received|on_[a-z_]+)\b"
    r"[^\]\n]{0,200}\]"
    r"|\[Event: [^\]\n]{0,200}\]",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\[(System notice|System|USER INTERRUPT|Continue working autonomously|Provider )[^\]\n]{0,400}\]?"
)
_OPTION = re.compile(r"([a-z_]+)=([^ |]+)")


@dataclass(frozen=True)
class Said:
    """What a row is.

    :ivar label: category of a context row, sender of a delivery, what kind of trigger or notice
    :ivar options: `origin` and `key` of an injected context row (ROW-022)
    :ivar start: characters of the first text that are the mark, not the message
    """

    kind: Kind
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()
    start: int = 0


def classify(item: Item) -> Said:
    """Return what a row is."""
    entry = item.place.entry
    if item.summary is not None:
        match = _SUMMARY.match(item.summary.text)
        return Said("summary", start=match.end() if match else 0)
    if entry.role == "assistant":
        return Said("agent")
    blocks = [block for block in entry.content if isinstance(block, dict)] if isinstance(entry.content, list) else []
    if blocks and all(block.get("type") == "tool_result" for block in blocks):
        return Said("results")
    opening = first_text(entry.content)
    if opening is not None:
        return _by_text(opening)
    return Said("owner") if entry.content or entry.content is None else Said("empty")


def _by_text(opening: str) -> Said:
    if not opening.startswith("["):
        return Said("owner")
    if match := _CONTEXT.match(opening):
        return Said("context", match[1].strip(), tuple(_OPTION.findall(match[2])), match.end())
    if match := _DELIVERY.match(opening):
        return Said("delivery", match[1], (), match.end())
    if match := _TRIGGER.match(opening):
        return Said("trigger", match[0].strip("[]")[:60])
    if match := _SYSTEM.match(opening):
        return Said("system", match[1].strip())
    return Said("owner")


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Return the blocks of a row; what is no block is wrapped so that it can be shown."""
    if not isinstance(content, list):
        return [] if content is None else [{"type": "?", "value": content}]
    return [block if isinstance(block, dict) else {"type": "?", "value": block} for block in content]
