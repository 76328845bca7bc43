"""Times and order of what was archived, and the counter it was numbered from."""

from __future__ import annotations

from typing import Any

from adf_format.validation.rule import Example, Severity, rule
from adf_format.validation.rules.audit.examples import WRITTEN, archived, archived_until_27, entry
from adf_format.validation.rules.audit.model import AuditRow, Content, Source

REMEMBERED = 250_000  # seqs kept per snapshot to see one again; an ascending snapshot needs none of them
CLOCK = 1000  # ms by which a clock may have been set back between an entry and its archiving

TIMES = rule(
    "ADF518",
    "archived-times",
    Severity.WARNING,
    what="`start_at` and `end_at` are the times of the first and last entry, or twice that of a message or file.",
    why="Versions up to 27 find archived entries by these times alone.",
    source=("AUD-013",),
    until=27,
    fires=Example(archived_until_27([entry(3), entry(5)], end_at=WRITTEN), on=27),
    silent=Example(archived_until_27([entry(3, created_at=0), entry(5)]), on=27),
)
TWICE = rule(
    "ADF519",
    "seq-twice-in-snapshot",
    Severity.ERROR,
    what="A snapshot holds each `seq` once.",
    why="`seq` is the key of a row: rows that share one cannot both be restored.",
    source=("STO-033", "AUD-020"),
    fires=archived([entry(3), entry(3, "another")]),
    silent=archived([entry(3), entry(5, "hi")]),
)
ORDER = rule(
    "ADF520",
    "snapshot-out-of-order",
    Severity.WARNING,
    what="Entries stand in display order: by `ord` where there is one, else by `seq`.",
    why="A reader that shows the snapshot as it is shows answers before their questions.",
    source=("AUD-021", "STO-032"),
    fires=archived([entry(5), entry(3)]),
    silent=archived([entry(5, ord=2), entry(3)]),
)
ABOVE_MARK = rule(
    "ADF521",
    "archived-seq-above-mark",
    Severity.ERROR,
    what="The counter of `adf_loop` in `sqlite_sequence` is not below any archived `seq`.",
    why="The next rows get numbers that archived rows already have: `[S137]` then means two things.",
    source=("STO-033",),
    fires="UPDATE sqlite_sequence SET seq = 5 WHERE name = 'adf_loop'; DELETE FROM adf_loop",
    silent="DELETE FROM adf_loop",
)
TOO_EARLY = rule(
    "ADF523",
    "archived-before-written",
    Severity.WARNING,
    what="A snapshot is not older than its newest entry.",
    why="The clock was set back, or the snapshot was changed afterwards.",
    source=("AUD-012",),
    fires=archived([entry(3)], created_at=WRITTEN - 60_000),
    silent=archived([entry(3)], created_at=WRITTEN + 3),
)
RULES = (TIMES, TWICE, ORDER, ABOVE_MARK, TOO_EARLY)


class Order:
    """Watches the entries of one transcript go by."""

    def __init__(self, row: AuditRow) -> None:
        self._row = row
        self._seen: set[int] = set()
        self._last: tuple[int, int] | None = None
        self._ascending = True
        self._reported = False

    def entry(self, index: int, seq: int, order: Any) -> None:
        """Look at the next entry; `order` is its `ord`, if it has one."""
        key = (order if type(order) is int else seq, seq)
        if self._last is not None and key < self._last:
            self._ascending = False
            if not self._reported:
                self._reported = True
                self._row.report(ORDER, "an entry stands after one that it precedes", "data", f"/{index}")
        if seq in self._seen or (self._last is not None and seq == self._last[1]):
            self._row.report(TWICE, "an earlier entry has this seq", "data", f"/{index}/seq")
        elif len(self._seen) < REMEMBERED:
            self._seen.add(seq)
        elif not self._ascending:
            self._row.context.not_checked("repeated seqs in large snapshots", f"more than {REMEMBERED:,} entries")
        self._last = key


def check_mark(row: AuditRow, content: Content, mark: int) -> None:
    """Compare the highest seq of a snapshot with the counter of `adf_loop`."""
    if content.seqs.count and content.seqs.high > mark:
        text = f"the snapshot reaches seq {content.seqs.high}, the counter of adf_loop stands at {mark}"
        row.report(ABOVE_MARK, text, "data")


def check_times(row: AuditRow, source: Source, content: Content) -> None:
    """Compare the times of a row with those of its entries."""
    taken = row.integer("created_at")
    if taken is not None and content.times.count and content.times.high > taken + CLOCK:
        row.report(TOO_EARLY, "an entry is younger than its snapshot", "created_at")
    start, end = row.integer("start_at"), row.integer("end_at")
    if start is None or end is None or source.locator != "times" or not content.complete:
        return
    if source.container == "object":
        if start != end:
            row.report(TIMES, "start_at and end_at of a single item differ", "end_at")
    elif content.count and content.times.count == content.count:
        wanted = content.times.bounds(ordered=source.is_transcript)
        for column, found, expected in zip(("start_at", "end_at"), (start, end), wanted, strict=True):
            if found != expected:
                row.report(TIMES, f"{column} is not the time of the entry it stands for", column)
