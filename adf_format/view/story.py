"""A loop as it is shown: live rows in display order, and what was archived folded at the place where it was.

A snapshot is one fold. It stands where its first row stood: the order is that of the table, `COALESCE(ord, seq)`, then
`seq` (STO-032), which archived rows share. A row that is in several places is shown once, live if it can be; other
versions of it stand beside it (ROW-013).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from adf_format.audit import LoopEntry
from adf_format.container import Container
from adf_format.history import Coverage, Gap, Item, Place, SeqSet, SnapshotRow, Summary
from adf_format.history.agreement import fingerprint
from adf_format.history.copies import other_copies
from adf_format.history.coverage import LoopCoverage
from adf_format.history.live import Live
from adf_format.history.model import Checked
from adf_format.history.reading import Reading
from adf_format.history.seqs import assign
from adf_format.history.snapshots import file_of
from adf_format.history.summaries import summary_of

Key = tuple[int, int]
LIVE = 0


@dataclass(frozen=True)
class Fold:
    """The beginning of archived rows.

    :ivar rows: rows that follow, up to `Unfold`
    :ivar elsewhere: further rows of the snapshot, which are live or in another one
    :ivar summary: the summary that most likely stands for them
    """

    checked: Checked
    rows: int
    elsewhere: int
    seqs: SeqSet
    summary: Summary | None

    @property
    def row(self) -> SnapshotRow:
        """The row of the snapshot."""
        return self.checked.row


@dataclass(frozen=True)
class Unfold:
    """The end of archived rows."""


Event = Fold | Unfold | Item | Gap


class Story:
    """One loop of a file."""

    def __init__(self, container: Container, known: Coverage, loop: str) -> None:
        self.loop = loop
        self._container = container
        self._known = known
        self._one = known.loops.get(loop) or LoopCoverage(loop)
        self._live = Live(file_of(container))
        self._matches = {match.summary.seq: match for match in known.matches}
        self._stands = {match.audit_id: match.summary for match in known.matches if match.summary.loop == loop}
        self._copies = other_copies(container, known, self._one) if self._one.differing else {}
        self._folds = sorted(self._owned(), key=lambda fold: fold[0])

    @property
    def rows(self) -> int:
        """How many rows there are, archived ones included."""
        return (self._one.live | self._one.archived).count()

    def events(self) -> Iterator[Event]:
        """Yield everything in order; rows are read one at a time."""
        folds = iter(self._folds)
        gaps = iter([one for one in self._known.gone if one.loop == self.loop or self._unclaimed(one)])
        fold, gap = next(folds, None), next(gaps, None)
        places = self._live.displayed(self.loop)
        for place in itertools.chain(places, (None,)):
            key = None if place is None else key_of(place.entry)
            while fold is not None and (key is None or fold[0] < key):
                while gap is not None and (gap.start, 0) < fold[0]:
                    yield gap
                    gap = next(gaps, None)
                yield from self._unfolded(fold[1])
                fold = next(folds, None)
            while gap is not None and (key is None or (gap.start, 0) < key):
                yield gap
                gap = next(gaps, None)
            if place is not None:
                self._container.check_deadline()
                yield self._item(place)

    def _unclaimed(self, gap: Gap) -> bool:
        """Whether a gap that any loop may have had is told here: in the first loop that the file has."""
        return gap.loop is None and self.loop == next(iter(self._known.loops), None)

    def _owned(self) -> Iterator[tuple[Key, Fold]]:
        """Yield every snapshot of the loop with the key of its first row, and the rows that only it has to show."""
        survey = self._known.survey
        trusted = sorted(survey.of_loop(self.loop), key=lambda one: (not one.sound, one.row.id))
        owned: dict[int, list[tuple[int, int]]] = {}
        sets = [(rank, one.seqs) for rank, one in enumerate(trusted, LIVE + 1)]
        for start, end, rank in assign([(LIVE, self._one.live), *sets]):
            owned.setdefault(rank, []).append((start, end))
        for rank, one in enumerate(trusted, LIVE + 1):
            seqs = SeqSet(owned.get(rank, ()))
            count = seqs.count()
            fold = Fold(one, count, one.seqs.count() - count, seqs, self._stands.get(one.row.id))
            yield self._place_of(fold), fold

    def _place_of(self, fold: Fold) -> Key:
        for _, entry in Reading(self._container, fold.row).rows():
            if not fold.seqs or entry.seq in fold.seqs:
                return key_of(entry)
        return fold.row.start_seq or 0, 0

    def _unfolded(self, fold: Fold) -> Iterator[Event]:
        yield fold
        row = fold.row
        seen = SeqSet()
        for index, entry in Reading(self._container, row).rows() if fold.rows else ():
            if entry.seq not in fold.seqs or (fold.checked.twice and entry.seq in seen):
                continue
            if fold.checked.twice and entry.seq in fold.checked.twice:
                seen = seen | SeqSet.of([entry.seq])
            yield self._item(Place(entry, self.loop, row.id, index, row.created_at))
        yield Unfold()

    def _item(self, place: Place) -> Item:
        seq = place.entry.seq
        copies: tuple[Place, ...] = ()
        if seq in self._copies:
            own = fingerprint(place)
            copies = tuple(one for one in self._copies[seq] if fingerprint(one) != own)
        summary = summary_of(place.entry, self.loop, place.audit_id)
        return Item(place, summary, self._matches.get(seq) if summary else None, copies)


def key_of(entry: LoopEntry) -> Key:
    """Return what a row is ordered by within its loop."""
    return (entry.seq if entry.ord is None else entry.ord), entry.seq
