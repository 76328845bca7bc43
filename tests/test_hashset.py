"""The compact set of hashes holds what a set would hold."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from adf_format.validation.hashset import HashSet

SMALL = st.integers(-4, 4).filter(bool)  # zero marks a free slot: it and one are one member
HASHES = st.one_of(st.integers(2, 2**63 - 1), SMALL.map(lambda number: number * 2**20))  # shared low bits


@given(st.lists(HASHES), st.lists(HASHES))
def test_it_holds_what_was_added_and_nothing_else(added: list[int], asked: list[int]) -> None:
    ours, theirs = HashSet(), set[int]()
    for known in added:
        ours.add(known)
        theirs.add(known)
    assert len(ours) == len(theirs)
    for known in added + asked:
        assert (known in ours) == (known in theirs)


def test_it_grows_and_stays_small() -> None:
    """100,000 members in 24 bytes each at most, where a set takes 70."""
    ours = HashSet()
    members = [hash((index, "toolu")) for index in range(100_000)]
    for known in members:
        assert known not in ours
        ours.add(known)
    assert len(ours) == len(members)
    assert all(known in ours for known in members)
    assert sys.getsizeof(ours._slots) < 24 * len(members)
