"""Sets of seqs do what sets of numbers do, whatever their intervals."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from adf_format.history import SeqSet
from adf_format.history.seqs import assign, depths

numbers = st.sets(st.integers(-5, 40))


def made(wanted: set[int]) -> SeqSet:
    return SeqSet.of(sorted(wanted))


@given(numbers, numbers)
def test_operations_are_those_of_sets(a: set[int], b: set[int]) -> None:
    one, other = made(a), made(b)
    for result, expected in ((one & other, a & b), (one - other, a - b), (one | other, a | b)):
        assert list(result.numbers()) == sorted(expected)
        assert result == made(expected)
        assert result.count() == len(expected)
        assert bool(result) == bool(expected)
    assert (one.lowest, one.highest) == ((min(a), max(a)) if a else (None, None))
    assert [n in one for n in range(-7, 43)] == [n in a for n in range(-7, 43)]


@given(numbers, st.integers(-7, 43), st.integers(-7, 43))
def test_a_part_lies_within_its_bounds(a: set[int], start: int, end: int) -> None:
    assert list(made(a).within(start, end).numbers()) == sorted(n for n in a if start <= n <= end)


@given(numbers)
def test_intervals_neither_overlap_nor_touch(a: set[int]) -> None:
    found = list(made(a))
    assert all(start <= end for start, end in found)
    assert all(left[1] + 1 < right[0] for left, right in pairwise(found))
    assert len(made(a)) == len(found)
    assert len({made(a), made(a)}) == 1


@given(st.lists(numbers, max_size=6))
def test_depths_count_how_many_sets_hold_a_number(sets: list[set[int]]) -> None:
    once, twice = depths(map(made, sets))
    counts = {n: sum(n in one for one in sets) for n in set().union(*sets)}
    assert list(once.numbers()) == sorted(counts)
    assert list(twice.numbers()) == sorted(n for n, count in counts.items() if count > 1)


@given(st.lists(numbers, max_size=6))
def test_every_number_is_given_to_the_lowest_rank_that_holds_it(sets: list[set[int]]) -> None:
    found = [(n, rank) for start, end, rank in assign(enumerate(map(made, sets))) for n in range(start, end + 1)]
    expected = [(n, min(rank for rank, one in enumerate(sets) if n in one)) for n in sorted(set().union(*sets))]
    assert found == expected


def test_memory_follows_gaps_not_rows() -> None:
    """A million rows in a row are one interval; with a gap after each, 16 bytes a row."""
    tracemalloc.start()
    dense = SeqSet.of(range(1, 1_000_001))
    assert tracemalloc.get_traced_memory()[1] < 100_000
    sparse = SeqSet.of(range(0, 1_000_000, 2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (dense.count(), len(dense), len(sparse)) == (1_000_000, 1, 500_000)
    assert peak < 24 * 500_000
