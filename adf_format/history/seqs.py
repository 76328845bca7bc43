"""Sets of `seq` numbers as sorted intervals: memory follows the number of gaps, not of rows."""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

Interval = tuple[int, int]


class SeqSet:
    """An immutable set of integers, kept as inclusive intervals that neither overlap nor touch: 16 bytes each."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        """Take intervals in ascending order of their starts; overlapping and touching ones are merged."""
        self._starts = array("q")
        self._ends = array("q")
        for start, end in intervals:
            if self._ends and start <= self._ends[-1] + 1:
                self._ends[-1] = max(self._ends[-1], end)
            elif start <= end:
                self._starts.append(start)
                self._ends.append(end)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> SeqSet:
        """Make a set of numbers in ascending order; repeated ones count once."""
        return cls((number, number) for number in numbers)

    def __iter__(self) -> Iterator[Interval]:
        """Yield the intervals."""
        return zip(self._starts, self._ends, strict=True)

    def __len__(self) -> int:
        """Return how many intervals there are; `count()` tells how many numbers."""
        return len(self._starts)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeqSet) and self._starts == other._starts and self._ends == other._ends

    def __hash__(self) -> int:
        return hash((self._starts.tobytes(), self._ends.tobytes()))

    def __repr__(self) -> str:
        return f"SeqSet({list(self)})"

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._starts, number) - 1
        return at >= 0 and number <= self._ends[at]

    def count(self) -> int:
        """Return how many numbers there are."""
        return sum(self._ends) - sum(self._starts) + len(self._starts)

    @property
    def lowest(self) -> int | None:
        """The lowest number."""
        return self._starts[0] if self._starts else None

    @property
    def highest(self) -> int | None:
        """The highest number."""
        return self._ends[-1] if self._ends else None

    def numbers(self) -> Iterator[int]:
        """Yield the numbers one by one."""
        for start, end in self:
            yield from range(start, end + 1)

    def within(self, start: int, end: int) -> SeqSet:
        """Return what lies from `start` to `end`."""
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        pairs = zip(self._starts[first:last], self._ends[first:last], strict=True)
        return SeqSet((max(low, start), min(high, end)) for low, high in pairs)

    def __and__(self, other: SeqSet) -> SeqSet:
        return SeqSet(_common(self, other))

    def __sub__(self, other: SeqSet) -> SeqSet:
        return SeqSet(_without(self, other))

    def __or__(self, other: SeqSet) -> SeqSet:
        return SeqSet(heapq.merge(self, other))


def depths(sets: Iterable[Iterable[Interval]]) -> tuple[SeqSet, SeqSet]:
    """Return what lies in at least one of some sets, and what lies in at least two."""
    twice: list[Interval] = []
    covered = array("q")

    def once() -> Iterator[Interval]:
        for start, end in heapq.merge(*sets):
            if covered and start <= covered[0]:
                twice.append((start, min(end, covered[0])))
            if not covered:
                covered.append(end)
            covered[0] = max(covered[0], end)
            yield start, end
            if len(twice) > 1 and twice[-1][0] <= twice[-2][1] + 1:
                (low, high), (_, end_of_last) = twice[-2:]
                twice[-2:] = [(low, max(high, end_of_last))]

    union = SeqSet(once())
    return union, SeqSet(twice)


def assign(sets: Iterable[tuple[int, Iterable[Interval]]]) -> Iterator[tuple[int, int, int]]:
    """Cut what lies in some sets into pieces `(start, end, rank)`, ascending, each owned by the lowest rank there is.

    :param sets: pairs of rank and intervals
    """
    waiting = heapq.merge(*(_ranked(rank, intervals) for rank, intervals in sets))
    active: list[tuple[int, int]] = []  # (rank, end)
    following = next(waiting, None)
    at = 0
    while active or following is not None:
        if not active and following is not None:
            at = following[0]
        while following is not None and following[0] <= at:
            heapq.heappush(active, (following[1], following[2]))
            following = next(waiting, None)
        while active and active[0][1] < at:
            heapq.heappop(active)
        if active:
            rank, end = active[0]
            if following is not None:
                end = min(end, following[0] - 1)
            yield at, end, rank
            at = end + 1


def _ranked(rank: int, intervals: Iterable[Interval]) -> Iterator[tuple[int, int, int]]:
    for start, end in intervals:
        yield start, rank, end


def _common(one: Iterable[Interval], other: Iterable[Interval]) -> Iterator[Interval]:
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        start, end = max(a[0], b[0]), min(a[1], b[1])
        if start <= end:
            yield start, end
        if a[1] < b[1]:
            a = next(left, None)
        else:
            b = next(right, None)


def _without(one: Iterable[Interval], other: Iterable[Interval]) -> Iterator[Interval]:
    holes = iter(other)
    hole = next(holes, None)
    for first, end in one:
        start = first
        while hole is not None and hole[0] <= end:
            if hole[1] >= start:
                if start < hole[0]:
                    yield start, hole[0] - 1
                start = hole[1] + 1
            if hole[1] > end:
                break
            hole = next(holes, None)
        if start <= end:
            yield start, end
