"""A transcript for people: who said what, when; harmless on any terminal, however hostile the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adf_format.audit import javascript_json
from adf_format.cli.history import interval, moment
from adf_format.errors import JsonTextError
from adf_format.history import Gap, Item, Place
from adf_format.terminal import Screen, visible, width_of

TEXT = 4000  # characters of a text
DATA = 600  # characters of what a tool got or gave
INDENT = 2
_USAGE = {"input": "in", "output": "out", "cache_read": "cache read", "reasoning": "reasoning"}


@dataclass
class TranscriptText:
    """Turns items into lines.

    :ivar full: nothing is shortened
    """

    screen: Screen
    full: bool = False

    def lines(self, item: Item | Gap) -> Iterator[str]:
        """Yield the lines of one item."""
        if isinstance(item, Gap):
            yield from self._gap(item)
            return
        if item.summary is not None:
            yield from self._wrapped(f"-- compaction: {_meaning(item)} --", "cyan", indent=0)
        yield from self.place(item.place)
        for copy in item.copies:
            where = "the live row" if copy.audit_id is None else f"snapshot {copy.audit_id}"
            yield from self._wrapped(f"   another version, in {where}:", "yellow", indent=0)
            yield from self._content(copy)

    def place(self, place: Place) -> Iterator[str]:
        """Yield the lines of one row."""
        entry = place.entry
        color = "green" if entry.role == "assistant" else "blue"
        parts = [f"S{entry.seq}", self.screen.paint(visible(entry.role) or "no role", color), moment(entry.created_at)]
        parts += [part for part in (_by_model(place), f"ord {entry.ord}" if entry.ord is not None else "") if part]
        if place.audit_id is not None:
            parts.append(self.screen.paint(f"[snapshot {place.audit_id}]", "dim"))
        yield "  ".join(parts)
        if place.problem:
            yield from self._wrapped(f"! {visible(place.problem)}", "red")
        yield from self._content(place)

    def text(self, text: str) -> Iterator[str]:
        """Yield the lines of a text."""
        yield from self._wrapped(self._cut(text, TEXT))

    def _gap(self, gap: Gap) -> Iterator[str]:
        whose = "" if gap.loop else "; of which loop is not known"
        rows = f"{gap.count:,} row{'' if gap.count == 1 else 's'}"
        text = f"-- {interval(gap.start, gap.end)} gone ({rows}): {visible(gap.detail)}{whose} --"
        yield from self._wrapped(text, "yellow" if gap.known else "red", indent=0)

    def _content(self, place: Place) -> Iterator[str]:
        content = place.entry.content
        if not isinstance(content, list):
            yield from self._wrapped(self._cut(_written(content), DATA))
            return
        for block in content:
            yield from self._block(block if isinstance(block, dict) else {"type": "?", "value": block})

    def _block(self, block: dict[str, Any]) -> Iterator[str]:
        match block:
            case {"type": "text", "text": str(text)}:
                yield from self._wrapped(self._cut(text, TEXT))
            case {"type": "thinking", "thinking": str(text)}:
                yield from self._wrapped(f"(thinking) {self._cut(text, DATA)}", "dim")
            case {"type": "tool_use"}:
                call = f"-> {_word(block.get('name'))} [{_word(block.get('id'))}] "
                yield from self._wrapped(call + self._cut(_written(block.get("input")), DATA), "cyan")
            case {"type": "tool_result"}:
                failed = "ERROR " if block.get("is_error") is True else ""
                result = block.get("content")
                text = result if isinstance(result, str) else _written(result)
                start = f"<- [{_word(block.get('tool_use_id'))}] {failed}"
                yield from self._wrapped(start + self._cut(text, DATA), "red" if failed else "cyan")
            case _:
                kind = _word(block.get("type"))
                yield from self._wrapped(f"({kind}) {self._cut(_written(block), DATA)}", "dim")

    def _cut(self, text: str, limit: int) -> str:
        """Shorten a text and make it harmless; its lines stay."""
        if self.full or len(text) <= limit:
            return visible(text, lines=True)
        return f"{visible(text[:limit], lines=True)} … {len(text) - limit:,} more characters (--full shows them)"

    def _wrapped(self, text: str, style: str | None = None, indent: int = INDENT) -> Iterator[str]:
        for part in text.split("\n"):
            for piece in _folded(part, None if self.screen.width is None else self.screen.width - indent):
                shown = self.screen.paint(piece, style) if style else piece
                yield f"{' ' * indent}{shown}".rstrip()


def _meaning(item: Item) -> str:
    if item.summary is None or item.match is None:
        return "the rows before were replaced by this summary"
    apart = "" if item.match.apart_ms is None else f", made {item.match.apart_ms / 1000:g} s before"
    return f"this summary likely stands for snapshot {item.match.audit_id}{apart}"


def _by_model(place: Place) -> str:
    entry = place.entry
    usage = entry.tokens if isinstance(entry.tokens, dict) else {}
    counts = [f"{usage[key]:,} {word}" for key, word in _USAGE.items() if type(usage.get(key)) is int and usage[key]]
    return ", ".join([part for part in [visible(entry.model or "")[:60], *counts] if part])


def _word(value: Any) -> str:
    return visible(value)[:80] if isinstance(value, str) and value else "?"


def _written(value: Any) -> str:
    try:
        return value if isinstance(value, str) else javascript_json(value, exact=True)
    except JsonTextError as error:
        return f"({error.message})"


def _folded(text: str, width: int | None) -> Iterator[str]:
    """Break a line at spaces, and inside a word that is longer than the line."""
    if width is None or width_of(text) <= width:
        yield text
        return
    line: str | None = None
    for word in text.split(" "):
        candidate = word if line is None else f"{line} {word}"
        if width_of(candidate) <= width:
            line = candidate
            continue
        if line:
            yield line
        *whole, line = _chopped(word, width)
        yield from whole
    yield line or ""


def _chopped(word: str, width: int) -> list[str]:
    if width_of(word) <= width:
        return [word]
    step = width if word.isascii() else width // 2
    return [word[start : start + step] for start in range(0, len(word), step)]
