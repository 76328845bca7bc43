"""Text on its way to a terminal: made harmless, coloured, wrapped.

Text read from a file may hold escape sequences, bidi controls or invisible characters, which would let the file
rewrite what the reader sees. Nothing from a file is printed before it went through `visible` or, inside a JSON
document, through `harmless_json`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LOOKS_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
_JOINER = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")  # part of emoji and of several scripts
_NOT_PLAIN = re.compile("[^\n\x20-\x7e]")
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"  # visible as spaces, common in honest text


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with every character that a terminal might act on, or not show, spelled out.

    Control, format, private, unassigned and surrogate characters become `\\u{202e}` (line feed, carriage return
    and tab: `\\n`, `\\r`, `\\t`). Joiners between two characters outside ASCII stay.

    :param lines: whether line feeds stay as they are
    """
    if (text.replace("\n", "") if lines else text).isprintable() and (text.isascii() or not _LOOKS_BLANK.search(text)):
        return text
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return "".join(
        char if index in joiners or (lines and char == "\n") or _harmless(char) else _spelled(char)
        for index, char in enumerate(text)
    )


def harmless_json(document: str) -> str:
    """Return a JSON document, as text, with the same value and without a character that a terminal acts on."""
    return _NOT_PLAIN.sub(_json_escape, document)


def _harmless(char: str) -> bool:
    return (char.isprintable() and not _LOOKS_BLANK.match(char)) or char in _SPACES


def _spelled(char: str) -> str:
    return _SHORT.get(char) or f"\\u{{{ord(char):x}}}"


def _json_escape(match: re.Match[str]) -> str:
    char = match[0]
    if _harmless(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


@dataclass(frozen=True)
class Screen:
    """How to write to one stream.

    :ivar color: whether ANSI colours are wanted
    :ivar width: columns to wrap at, None for no wrapping
    """

    color: bool = False
    width: int | None = None

    def paint(self, text: str, *styles: str) -> str:
        """Return the text in some styles (`bold`, `dim`, a colour), or as it is without colours."""
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def wrapped(self, text: str, *, indent: int = 0, hang: int | None = None) -> str:
        """Return the text indented and wrapped; continuation lines are indented by `hang` columns."""
        later = " " * (indent if hang is None else hang)
        if self.width is None:
            return " " * indent + text
        return f"\n{later}".join(_wrap(" " * indent + text, self.width, len(later)))


def screen(stream: TextIO, color: str = "auto") -> Screen:
    """Return how to write to a stream: `color` is `auto`, `always` or `never`; NO_COLOR and FORCE_COLOR count."""
    tty = stream.isatty()
    wanted = color == "always" or (color == "auto" and _auto_color(tty))
    return Screen(wanted, max(40, shutil.get_terminal_size().columns) if tty else None)


def _auto_color(tty: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (tty and os.environ.get("TERM") != "dumb")


def width_of(text: str) -> int:
    """Return how many terminal columns a text takes; colour codes take none."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return len(plain) if plain.isascii() else sum(_columns(char) for char in plain)


def _columns(char: str) -> int:
    import unicodedata

    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _wrap(text: str, width: int, hang: int) -> Iterator[str]:
    """Break at spaces; a word longer than a line stays whole, so that it can be copied."""
    line, room = "", width
    for word in re.split(r"(?<=\S) ", text):
        candidate = f"{line} {word}" if line else word
        if line and width_of(candidate) > room:
            yield line
            line, room = word, width - hang
        else:
            line = candidate
    yield line


def table(rows: Sequence[tuple[str, ...]], gap: int = 2) -> list[str]:
    """Return aligned lines; the last column is not padded."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(width_of, column)) for column in columns[:-1]]
    return [
        "".join(cell + " " * (width - width_of(cell) + gap) for cell, width in zip(row, widths, strict=False)) + row[-1]
        for row in rows
    ]
