"""Adding lines to a markdown file without touching any other byte (MEM-014, MEM-189)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adf_format.errors import UnreadableError, UsageError

BOM = "\ufeff"
_ENDING = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_LISTED = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]|[ \t]{2,}\S")


@dataclass(frozen=True)
class Heading:
    """A heading in a text.

    :ivar line: index of its line, from 0
    """

    level: int
    title: str
    line: int


@dataclass(frozen=True)
class Outline:
    """The lines of a text, with their endings, and its headings.

    :ivar open_since: line of a code block or comment that is never closed, None if there is none
    :ivar hidden: indexes of the lines that lie in a code block or comment
    """

    lines: tuple[str, ...]
    headings: tuple[Heading, ...]
    open_since: int | None
    hidden: frozenset[int] = frozenset()

    @property
    def ending(self) -> str:
        """How lines end: as the first one does."""
        return self.ending_at(0)

    def ending_at(self, at: int) -> str:
        """How a line ends that is put before the one with an index: as the one before it, or as the first."""
        near = self.lines[at - 1 : at] or self.lines[:1]
        found = _ENDING.search(near[0]) or _ENDING.search(self.lines[0]) if near else None
        return found[0] if found else "\n"

    def find(self, title: str, level: int = 2) -> Heading | None:
        """Return the first heading of a level with a title, without regard to case."""
        wanted = title.casefold()
        return next((one for one in self.headings if one.level == level and one.title.casefold() == wanted), None)

    def end(self, heading: Heading) -> int:
        """Return the index of the line after a section: that of the next heading that is not below it."""
        later = (one.line for one in self.headings if one.line > heading.line and one.level <= heading.level)
        return next(later, len(self.lines))

    def body(self, heading: Heading) -> tuple[str, ...]:
        """Return the lines of a section without its heading."""
        return self.lines[heading.line + 1 : self.end(heading)]


def outline(text: str) -> Outline:
    """Find the headings of a text; what looks like one in a code block or a comment is none."""
    lines = tuple(_split(text))
    headings: list[Heading] = []
    hidden: set[int] = set()
    fence, comment, since = "", False, None
    for number, line in enumerate(lines):
        bare = _ENDING.sub("", line.removeprefix(BOM) if number == 0 else line)
        inside = bool(comment or fence)
        if comment:
            comment = "-->" not in bare
        elif fence:
            fence = "" if _closes(bare, fence) else fence
        elif (found := _FENCE.fullmatch(bare)) and not (found[1][0] == "`" and "`" in found[2]):
            fence, since = found[1], number
        elif bare.lstrip().startswith("<!--") and "-->" not in bare:
            comment, since = True, number
        elif found := _HEADING.fullmatch(bare):
            headings.append(Heading(len(found[1]), (found[2] or "").strip(), number))
        if inside or fence or comment or bare.lstrip().startswith("<!--"):
            hidden.add(number)
    return Outline(lines, tuple(headings), since if fence or comment else None, frozenset(hidden))


def text_of(content: bytes, what: str) -> str:
    """Return a file as text that can be edited.

    :raises UnreadableError: it is not UTF-8 (MEM-006)
    """
    try:
        return content.decode()
    except UnicodeDecodeError as exc:
        raise UnreadableError(
            f"not UTF-8 at byte {exc.start}: nothing is written into it", place=what, hint="convert it first"
        ) from None


def bullet(text: str) -> str:
    """Return a text as one list item, with line feeds; further lines are indented.

    :raises UsageError: there is nothing in it, or NUL
    """
    lines = [line.rstrip() for line in _ENDING.split(text.strip())]
    if not lines[0] or "\0" in text:
        raise UsageError("there is no text to be written")
    return "\n".join([f"- {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])])


def append_to_section(text: str, title: str, item: str, order: Sequence[str] = (), what: str = "") -> str:
    """Add an item at the end of a section; a missing section is made, in its place among those of `order`.

    :param item: lines with line feeds; they get the line ending of the text
    :raises UnreadableError: a code block or comment is never closed, so that the item could end up in it
    """
    seen = outline(text)
    if seen.open_since is not None:
        place = f"{what} line {seen.open_since + 1}".strip()
        raise UnreadableError("a code block or comment is never closed", place=place, hint="close it first")
    heading = seen.find(title)
    if heading is None:
        return _with_section(seen, title, item, order)
    last = _last_filled(seen.lines, heading.line, seen.end(heading))
    gap = not _LISTED.match(seen.lines[last])
    return _inserted(seen, last + 1, ([""] if gap else []) + item.split("\n"))


def insert_after(text: str, line: int, items: Sequence[str]) -> str:
    """Insert whole lines after a line, given by its index; -1 for the beginning."""
    return _inserted(outline(text), line + 1, list(items))


def _with_section(seen: Outline, title: str, item: str, order: Sequence[str]) -> str:
    later = [name.casefold() for name in order[order.index(title) + 1 :]] if title in order else []
    following = next((one for one in seen.headings if one.level == 2 and one.title.casefold() in later), None)
    block = [f"## {title}", "", *item.split("\n")]
    if following is not None:
        return _inserted(seen, following.line, [*block, ""])
    filled = _last_filled(seen.lines, -1, len(seen.lines)) >= 0
    trailing = bool(seen.lines) and not _ENDING.sub("", seen.lines[-1]).strip()
    return _inserted(seen, len(seen.lines), ([] if trailing or not filled else [""]) + block)


def _inserted(seen: Outline, at: int, lines: list[str]) -> str:
    """Put lines before the line with an index, each with an ending; nothing else changes."""
    before, after = "".join(seen.lines[:at]), "".join(seen.lines[at:])
    ending = seen.ending_at(at)
    joint = "" if not before or before == BOM or before[-1] in "\r\n" else ending
    return before + joint + "".join(line + ending for line in lines) + after


def _last_filled(lines: Sequence[str], start: int, end: int) -> int:
    """Return the index of the last line of `start..end` that is not blank; `start` if all are."""
    filled = (number for number in range(end - 1, start, -1) if lines[number].strip().strip(BOM))
    return next(filled, start)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(line) - len(line.lstrip(" ")) < 4 and len(bare) >= len(fence) and set(bare) == {fence[0]}


def _split(text: str) -> list[str]:
    """Split at line feeds and carriage returns alone: other separators are part of a line."""
    lines, at = [], 0
    for found in _ENDING.finditer(text):
        lines.append(text[at : found.end()])
        at = found.end()
    return lines + ([text[at:]] if at < len(text) else [])
