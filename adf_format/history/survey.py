"""One pass over all snapshots: which are sound, and which rows of which loop they hold."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from adf_format.audit import ArchivedFile, ShapeError, split_part
from adf_format.container import Container
from adf_format.errors import LimitError
from adf_format.history.model import Checked, Problem, SnapshotRow, Summary
from adf_format.history.reading import HIGHEST, Reading
from adf_format.history.seqs import SeqSet
from adf_format.history.snapshots import snapshots
from adf_format.history.summaries import summary_of

SNAPSHOTS = 500_000  # rows of adf_audit
INTERVALS = 8_000_000  # intervals of all snapshots together, 16 bytes each
SUMMARIES = 50_000


@dataclass
class Batch:
    """A batch that was split into single messages.

    :ivar of: how many messages it held
    """

    of: int
    found: set[int] = field(default_factory=set)

    def add(self, index: int) -> None:
        """Take one of its messages."""
        self.found.add(index)

    @property
    def whole(self) -> bool:
        """Whether all of its messages are there."""
        return len(self.found) == self.of


@dataclass
class Survey:
    """What all snapshots hold.

    :ivar checked: snapshots by id, in the order in which they were written
    :ivar summaries: archived compaction summaries
    :ivar batches: old batches of messages that a migration split, by the id that they had
    """

    checked: dict[int, Checked] = field(default_factory=dict)
    summaries: list[Summary] = field(default_factory=list)
    batches: dict[int, Batch] = field(default_factory=dict)

    def of_loop(self, loop: str) -> Iterator[Checked]:
        """Yield the snapshots of one loop."""
        return (one for one in self.checked.values() if one.row.loop == loop)

    def loops(self) -> set[str]:
        """Return the loops that have snapshots."""
        return {one.row.loop for one in self.checked.values() if one.row.loop is not None}

    def damaged(self) -> list[Checked]:
        """Return the snapshots that are not sound."""
        return [one for one in self.checked.values() if not one.sound]


def survey(container: Container) -> Survey:
    """Read every snapshot once.

    :raises LimitError: more of them, or more scattered, than fits into bounded memory
    """
    found, intervals = Survey(), 0
    for row in snapshots(container):
        if len(found.checked) >= SNAPSHOTS:
            raise LimitError(f"more than {SNAPSHOTS:,} snapshots", container.source.path)
        found.checked[row.id] = checked = _check(container, row, found)
        intervals += len(checked.seqs)
        if intervals > INTERVALS:
            raise LimitError("the archived rows are too scattered to be counted", container.source.path)
    return found


def check(container: Container, row: SnapshotRow) -> Checked:
    """Read one snapshot and compare it with the columns of its row."""
    return _check(container, row, Survey())


def _check(container: Container, row: SnapshotRow, found: Survey) -> Checked:
    reading, checked = Reading(container, row), Checked(row)
    if row.kind == "loop":
        _read_loop(reading, checked, found.summaries)
    else:
        for _, value in reading:
            checked.entries += 1
            _check_value(reading, row, value, found.batches)
    checked.problems = [*reading.problems, *_compare(row, checked, reading)]
    return checked


def _read_loop(reading: Reading, checked: Checked, summaries: list[Summary]) -> None:
    row, seqs, ascending, last = checked.row, array("q"), True, -HIGHEST
    for _, entry in reading.rows():
        checked.entries += 1
        ascending = ascending and entry.seq > last
        last = entry.seq
        seqs.append(last)
        summary = summary_of(entry, row.loop or "", row.id)
        if summary is not None and len(summaries) < SUMMARIES:
            summaries.append(summary)
    ordered = seqs if ascending else array("q", sorted(seqs))
    checked.seqs = SeqSet.of(ordered)
    if not ascending:
        checked.twice = SeqSet.of(one for at, one in enumerate(ordered) if at and one == ordered[at - 1])
        if checked.twice:
            reading.problem("seq-twice", f"seq {checked.twice.lowest} is in it more than once")


def _check_value(reading: Reading, row: SnapshotRow, value: Any, batches: dict[int, Batch]) -> None:
    if not isinstance(value, dict):
        return
    if row.kind == "file":
        try:
            file = ArchivedFile.parse(value)
        except ShapeError as error:
            reading.problem("file", error.message)
            return
        if file.size is not None and file.size != len(file.content):
            reading.problem("file", f"{len(file.content):,} bytes of content, its size says {file.size:,}")
    elif (part := split_part(value)) is not None:
        number, index, count = part
        batches.setdefault(number, Batch(count)).add(index)


def _compare(row: SnapshotRow, checked: Checked, reading: Reading) -> Iterator[Problem]:
    """Compare the columns of a row with its content, where that could be read."""
    if any(problem.code not in ("seq-twice", "file") for problem in reading.problems):
        return
    if row.entry_count is not None and row.entry_count != reading.count:
        yield Problem("entry-count", f"entry_count says {row.entry_count:,}, there are {reading.count:,}")
    if row.size_bytes is not None and row.size_bytes not in (reading.utf16, reading.utf8):
        yield Problem("size-bytes", f"size_bytes says {row.size_bytes:,}, the text has {reading.utf16:,}")
    low, high = checked.seqs.lowest, checked.seqs.highest
    if row.kind == "loop" and row.start_seq is not None and low is not None and high is not None:
        start, end = row.start_seq, row.end_seq if row.end_seq is not None else row.start_seq
        if start > low or end < high:
            text = f"the range {start} to {end} leaves out entries, which run from {low} to {high}"
            yield Problem("range", text, serious=False)
