"""What changed between two context rows of a kind, line by line."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from adf_format.view.html import Safe, el, html, text

LINES = 200  # lines that are compared with each other; more are shown as replaced
AROUND = 2  # equal lines before and after a change


@dataclass(frozen=True)
class Change:
    """A difference.

    :ivar marked: `(mark, line)`: `+` new, `-` gone, a space for equal lines around, `…` for those that are skipped
    """

    added: int
    removed: int
    marked: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The difference in a few words."""
        if not self.added and not self.removed:
            return "same as before"
        return f"+{self.added:,} −{self.removed:,} lines"

    def html(self) -> Safe:
        """Return the difference for the page; marks and words say what colours say."""
        names = {"+": "ins", "-": "del"}
        lines = [
            el(names.get(mark, "span"), el("span", mark, class_="mark"), text(line), "\n", class_="line")
            for mark, line in self.marked
        ]
        return el("pre", html(lines), class_="diff", tabindex="0")


def change(before: str, after: str) -> Change:
    """Compare two texts; equal lines at both ends cost nothing, so that long prompts with small changes are fast."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = _marked(old[head : len(old) - tail], new[head : len(new) - tail])
    added, removed = (sum(mark == sign for mark, _ in middle) for sign in "+-")
    if not middle:
        return Change(0, 0, ())
    before_it = _context(new[max(0, head - AROUND) : head], skipped=head > AROUND, first=True)
    after_it = _context(
        new[len(new) - tail : len(new) - tail + AROUND] if tail else [], skipped=tail > AROUND, first=False
    )
    return Change(added, removed, (*before_it, *middle, *after_it))


def _context(lines: list[str], *, skipped: bool, first: bool) -> list[tuple[str, str]]:
    shown = [(" ", line) for line in lines]
    more = [("…", "")] if skipped else []
    return more + shown if first else shown + more


def _marked(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    if len(old) > LINES or len(new) > LINES:
        return [("-", line) for line in old] + [("+", line) for line in new]
    marked: list[tuple[str, str]] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        if marked:
            marked.append(("…", ""))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                marked += [(" ", line) for line in old[start:end]]
                continue
            marked += [("-", line) for line in old[start:end]]
            marked += [("+", line) for line in new[new_start:new_end]]
    return marked
