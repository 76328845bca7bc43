"""Cutting a text to a budget by whole lines, and saying so where it was cut (MEM-075)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Keep = Literal["start", "end"]


@dataclass(frozen=True)
class Cut:
    """A text, or as much of it as fits.

    :ivar text: what was kept, the marker included if anything was left out
    :ivar lines: lines of the whole; :ivar kept: lines that are there
    """

    text: str
    lines: int
    kept: int

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.kept < self.lines


def cut(text: str, budget: int, keep: Keep, where: str) -> Cut:
    """Keep whole lines within a budget of characters, which holds the marker too if it has room for one.

    :param keep: from the start, or from the end of the text
    :param where: path that the marker names, so that a reader can find the rest
    """
    lines = text.splitlines(keepends=True)
    if len(text) <= budget:
        return Cut(text, len(lines), len(lines))
    room = budget - len(_marker(len(lines), len(lines), len(text), where)) - 1
    kept = _fitting(lines if keep == "start" else lines[::-1], room)
    shown = lines[:kept] if keep == "start" else lines[len(lines) - kept :]
    left_out = len(lines) - kept
    marker = _marker(left_out, len(lines), len(text) - sum(map(len, shown)), where)
    if keep == "end":
        return Cut("".join([marker, "\n", *shown]), len(lines), kept)
    body = "".join(shown)
    gap = "" if not body or body.endswith("\n") else "\n"
    return Cut(f"{body}{gap}{marker}", len(lines), kept)


def _fitting(lines: Sequence[str], room: int) -> int:
    used = 0
    for number, line in enumerate(lines):
        used += len(line)
        if used > room:
            return number
    return len(lines)


def _marker(left_out: int, lines: int, characters: int, where: str) -> str:
    return f"[left out here: {left_out:,} of {lines:,} lines, {characters:,} characters; the whole is in {where}]"
