"""The transcript of a loop: rows one after another, calls with their results, folds, gaps, tasks and log entries."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from adf_format.history import Gap, Item, SeqSet
from adf_format.view.context import View
from adf_format.view.html import Page, Safe, el, html
from adf_format.view.kinds import blocks_of
from adf_format.view.pieces import icon
from adf_format.view.rows import Rows
from adf_format.view.story import Event, Fold, Story, Unfold
from adf_format.view.tools import Result
from adf_format.view.words import counted, interval, time, utc
from adf_format.view.woven import Woven

AHEAD = 12  # events among which the results of a call are looked for
_REASONS = {
    "damaged-snapshot": "damaged",
    "compacted-unaudited": "compacted without audit",
    "audit-off": "audit was off",
}


class Transcript:
    """Writes the rows of one loop that stand in one page."""

    def __init__(self, view: View, story: Story, wanted: SeqSet, woven: Woven | None = None) -> None:
        self._view = view
        self._story = story
        self._wanted = wanted
        self._rows = Rows(view, story.loop)
        self._woven = woven or Woven(())
        self._coming: deque[Event] = deque()
        self._taken: dict[int, set[str]] = {}
        self._depth = 0
        self._day = ""

    def write(self, page: Page, *, gaps: bool = True) -> None:
        """Write a list of rows."""
        with page.inside("ol", class_="rows"):
            try:
                for event in self._events():
                    self._event(page, event, gaps)
            finally:
                self._close(page)
            page.write(self._woven.rest() if gaps else None)

    def _event(self, page: Page, event: Event, gaps: bool) -> None:
        match event:
            case Fold():
                self._fold(page, event)
            case Unfold():
                self._close(page)
            case Gap():
                page.write(_gap(event) if gaps else None)
            case Item():
                when = event.place.entry.created_at
                page.write(self._woven.before(when), self._new_day(when), self._row(event))

    def _new_day(self, when: int | None) -> Safe | None:
        """Return the date where a day begins: rows only show the time."""
        found = utc(when) if when is not None else None
        day = found.strftime("%A, %-d %B %Y") if found else self._day
        if day == self._day:
            return None
        self._day = day
        return el("li", day, class_="day")

    def _events(self) -> Iterator[Event]:
        """Yield what belongs into the page; a fold only if rows of it do, or if something is wrong with it."""
        source = self._source()
        while True:
            while len(self._coming) < AHEAD and (event := next(source, None)) is not None:
                self._coming.append(event)
            if not self._coming:
                return
            yield self._coming.popleft()

    def _source(self) -> Iterator[Event]:
        skipping = False
        for event in self._story.events():
            match event:
                case Fold():
                    skipping = bool(event.rows) and not event.seqs & self._wanted
                    if not skipping:
                        yield event
                case Unfold():
                    if not skipping:
                        yield event
                    skipping = False
                case Item() if event.place.entry.seq not in self._wanted:
                    continue
                case _:
                    yield event

    def _row(self, item: Item) -> Safe | None:
        entry = item.place.entry
        taken = frozenset(self._taken.pop(entry.seq, ()))
        blocks = blocks_of(entry.content)
        if taken and all(block.get("tool_use_id") in taken for block in blocks) and not item.copies:
            return None
        calls = [
            block["id"] for block in blocks if block.get("type") == "tool_use" and isinstance(block.get("id"), str)
        ]
        return self._rows.row(item, dict(self._results(calls)) if calls else {}, taken)

    def _results(self, calls: list[str]) -> Iterator[tuple[str, Result]]:
        """Find the answers to some calls in the rows that come next."""
        waiting = set(calls)
        for event in self._coming:
            if not waiting or not isinstance(event, Item):
                continue
            entry, blocks = event.place.entry, blocks_of(event.place.entry.content)
            anchored = False
            gone = not event.copies and all(block.get("tool_use_id") in calls for block in blocks)
            for block in blocks:
                key = block.get("tool_use_id")
                if block.get("type") == "tool_result" and isinstance(key, str) and key in waiting:
                    waiting.discard(key)
                    self._taken.setdefault(entry.seq, set()).add(key)
                    yield key, Result(entry.seq, block, anchor=gone and not anchored)
                    anchored = True

    def _fold(self, page: Page, fold: Fold) -> None:
        shown = (fold.seqs & self._wanted).count()
        row = fold.row
        problems = [one.message for one in fold.checked.problems]
        span = interval(fold.seqs.lowest or 0, fold.seqs.highest or 0) if fold.seqs else "no rows of its own"
        head = html(
            icon("fold"),
            el("b", f"{counted(shown, 'archived row')}"),
            el("span", span, class_="span"),
            el("span", f"snapshot {row.id}", class_="tag"),
            el("span", "archived ", time(row.created_at), class_="arg") if row.created_at is not None else None,
            el("span", f"{shown:,} of {fold.rows:,} here", class_="tag") if shown < fold.rows else None,
            el("span", f"{fold.elsewhere:,} more are shown elsewhere", class_="arg") if fold.elsewhere else None,
            el("span", icon("alert"), "; ".join(problems), class_="bad") if problems else None,
        )
        page.write(
            Safe(f'<li class="fold" id="fold-{row.id}"><details><summary>'), head, Safe('</summary><ol class="rows">')
        )
        self._depth += 1

    def _close(self, page: Page) -> None:
        if self._depth:
            page.write(Safe("</ol></details></li>\n"))
            self._depth -= 1


def _gap(gap: Gap) -> Safe:
    whose = None if gap.loop else el("span", "of which loop is not known", class_="arg")
    words = [el("b", f"{counted(gap.count, 'row')} gone"), el("span", interval(gap.start, gap.end), class_="span")]
    return el("li", icon("gap"), words, el("span", gap.detail, class_="arg"), whose, class_="gapline")


def reasons(gaps: Iterable[Gap]) -> str:
    """Return why rows are gone, in a few words."""
    return ", ".join(dict.fromkeys(_REASONS.get(gap.reason, "unknown") for gap in gaps))
