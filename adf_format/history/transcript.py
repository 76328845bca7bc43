"""A loop as a reader wants it: what is live in display order, or its whole life in the order in which it was lived."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adf_format.container import Container
from adf_format.history.agreement import fingerprint
from adf_format.history.copies import other_copies
from adf_format.history.coverage import Coverage, LoopCoverage, coverage
from adf_format.history.cursor import Cursors
from adf_format.history.live import Live
from adf_format.history.model import Gap, Place, Summary
from adf_format.history.seqs import assign
from adf_format.history.snapshots import file_of
from adf_format.history.summaries import Match, summary_of

LIVE = 0  # rank of the live table: it is asked first
Piece = tuple[int, int, int]


@dataclass(frozen=True)
class Item:
    """One row of a transcript.

    :ivar summary: what it is if a compaction wrote it
    :ivar match: the snapshot that the summary most likely stands for
    :ivar copies: the same seq elsewhere, with other content
    """

    place: Place
    summary: Summary | None = None
    match: Match | None = None
    copies: tuple[Place, ...] = ()


def transcript(
    container: Container, loop: str, *, history: bool = False, last: int | None = None
) -> Iterator[Item | Gap]:
    """Yield the rows of a loop, one at a time.

    :param history: merge archived rows by seq, and tell what is gone; otherwise live rows in display order (STO-032)
    :param last: only the end of what would be shown otherwise: so many rows, and the gaps between and after them
    """
    if history:
        yield from life(container, coverage(container), loop, last=last)
        return
    for place in Live(file_of(container)).displayed(loop, last):
        yield Item(place, _summary(place))


def life(container: Container, known: Coverage, loop: str, *, last: int | None = None) -> Iterator[Item | Gap]:
    """Yield all rows that a loop ever had, by seq, from what is known of the file already."""
    one = known.loops.get(loop)
    if one is None:
        return
    owners = dict(enumerate(_by_trust(known, loop), LIVE + 1))
    sets = [(rank, known.survey.checked[number].seqs) for rank, number in owners.items()]
    pieces = assign([(LIVE, one.live), *sets])
    count = (one.live | one.archived).count()
    if last == 0:
        return
    if last is not None and last < count:
        pieces = _skipped(pieces, count - last)
    gaps = [gap for gap in known.gone if gap.loop in (None, loop)]
    yield from _Life(container, known, one, owners).items(pieces, gaps, from_start=last is None or last >= count)


def _by_trust(known: Coverage, loop: str) -> list[int]:
    """Return the snapshots of a loop: sound ones first, each kind in the order in which they were made."""
    return [one.row.id for one in sorted(known.survey.of_loop(loop), key=lambda one: (not one.sound, one.row.id))]


def _skipped(pieces: Iterator[Piece], count: int) -> Iterator[Piece]:
    for start, end, rank in pieces:
        size = end - start + 1
        if count >= size:
            count -= size
            continue
        yield start + max(count, 0), end, rank
        count = 0


class _Life:
    def __init__(self, container: Container, known: Coverage, one: LoopCoverage, owners: dict[int, int]) -> None:
        self._known = known
        self._one = one
        self._owners = owners
        self._live = Live(file_of(container))
        self._cursors = Cursors(container, known.survey.checked)
        self._matches = {match.summary.seq: match for match in known.matches}
        self._copies = other_copies(container, known, one)

    def items(self, pieces: Iterator[Piece], gaps: list[Gap], *, from_start: bool) -> Iterator[Item | Gap]:
        """Yield rows and gaps by seq."""
        waiting = iter(gaps)
        gap = next(waiting, None)
        for start, end, rank in pieces:
            while gap is not None and gap.start < start:
                if from_start:
                    yield gap
                gap = next(waiting, None)
            from_start = True
            for place in self._places(start, end, rank):
                yield self._item(place)
        while gap is not None:
            yield gap
            gap = next(waiting, None)

    def _places(self, start: int, end: int, rank: int) -> Iterator[Place]:
        if rank == LIVE:
            return self._live.between(start, end, self._one.name)
        return self._cursors.fetch(self._owners[rank], start, end)

    def _item(self, place: Place) -> Item:
        seq, copies = place.entry.seq, tuple[Place, ...]()
        if seq in self._one.differing:
            own = fingerprint(place)
            copies = tuple(one for one in self._copies.get(seq, ()) if fingerprint(one) != own)
        return Item(place, _summary(place), self._matches.get(seq), copies)


def _summary(place: Place) -> Summary | None:
    return summary_of(place.entry, place.loop, place.audit_id)
