"""Whether the copies of a row agree, live and archived ones: compared by fingerprints, 8 bytes for each such row."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_right
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from adf_format.audit import javascript_json
from adf_format.container import Container
from adf_format.errors import JsonTextError, LimitError
from adf_format.history.live import Live
from adf_format.history.model import Place
from adf_format.history.reading import Reading
from adf_format.history.seqs import SeqSet, depths
from adf_format.inspection.file import File

if TYPE_CHECKING:
    from adf_format.history.coverage import Coverage

ROWS = 16_000_000  # rows that have copies


def compare(container: Container, file: File, coverage: Coverage) -> None:
    """Fill in `differing` of every loop.

    :raises LimitError: more rows have copies than fit into bounded memory
    """
    loops = coverage.loops.values()
    _, wanted = depths(part for one in loops for part in (one.live, one.archived, one.repeated))
    if not wanted:
        return
    if wanted.count() > ROWS:
        raise LimitError(f"more than {ROWS:,} rows have copies")
    prints = _Prints(wanted)
    for checked in coverage.survey.checked.values():
        if checked.row.loop is not None and checked.seqs & wanted:
            for _, entry in Reading(container, checked.row).rows():
                if entry.seq in wanted:
                    prints.add(Place(entry, ""))
    live, table = SeqSet(), Live(file)
    for one in loops:
        live = live | one.live
    for start, end in live & wanted:
        for place in table.between(start, end):
            prints.add(place)
    differing = prints.differing()
    for one in loops:
        one.differing = differing & (one.live | one.archived)


class _Prints:
    """One fingerprint for each of some seqs, the first that was met, and a mark where another one differed."""

    def __init__(self, wanted: SeqSet) -> None:
        self._wanted = wanted
        self._starts = array("q", (start for start, _ in wanted))
        self._ranks = array("q", itertools.accumulate((end - start + 1 for start, end in wanted), initial=0))
        self._first = array("Q", bytes(8 * self._ranks[-1]))
        self._differs = bytearray(self._ranks[-1])

    def add(self, place: Place) -> None:
        """Take a copy."""
        at = self._at(place.entry.seq)
        found = fingerprint(place)
        if not self._first[at]:
            self._first[at] = found
        elif self._first[at] != found:
            self._differs[at] = 1

    def _at(self, seq: int) -> int:
        interval = bisect_right(self._starts, seq) - 1
        return self._ranks[interval] + seq - self._starts[interval]

    def differing(self) -> SeqSet:
        """Return the seqs whose copies differ."""
        marked = (self._wanted if any(self._differs) else SeqSet()).numbers()
        return SeqSet.of(seq for at, seq in enumerate(marked) if self._differs[at])


def fingerprint(place: Place) -> int:
    """Return a number, never 0, that is equal for equal content, whatever the order of keys."""
    digest = blake2b(canonical(place.content), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


def canonical(value: Any) -> bytes:
    """Return a value as bytes that equal values share: `1.0` is 1, the order of keys means nothing."""
    try:
        value = _integral(value)
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return javascript_json(_sorted(value), exact=True).encode()
    except (JsonTextError, RecursionError):
        return b"too deep"


def _integral(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, (list, tuple)):
        return [_integral(item) for item in value]
    if isinstance(value, dict):
        return {key: _integral(item) for key, item in value.items()}
    return value


def _sorted(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return {key: _sorted(value[key]) for key in sorted(value)} if isinstance(value, dict) else value
