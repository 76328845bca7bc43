"""Finding one row again, wherever it is (MIG-051)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from adf_format.container import Container
from adf_format.history.agreement import fingerprint
from adf_format.history.live import Live
from adf_format.history.model import Place, Problem, SnapshotRow
from adf_format.history.reading import Reading
from adf_format.history.snapshots import file_of, snapshots


@dataclass
class Resolution:
    """Where a row was found, and what could not be searched.

    :ivar places: the live row first, then snapshots in the order in which they were made
    :ivar damaged: snapshots that may hold it and could not be read to their end, with what is wrong
    :ivar outside: ids of snapshots that hold it though their range says otherwise
    :ivar decoded: snapshots that were decoded
    """

    seq: int
    loop: str | None
    places: list[Place] = field(default_factory=list)
    damaged: list[tuple[SnapshotRow, Problem]] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)
    decoded: int = 0

    @property
    def found(self) -> bool:
        """Whether it is anywhere."""
        return bool(self.places)

    @property
    def agree(self) -> bool:
        """Whether all copies say the same."""
        return len({fingerprint(place) for place in self.places}) < 2


def resolve(container: Container, loop: str | None, seq: int) -> Resolution:
    """Find a row: in the live table, then in every snapshot whose range holds it or that gives no usable range.

    Only if it is nowhere there, all other snapshots are decoded too: a range may be wrong.

    :param loop: only rows of this loop; None for any, since all loops share one counter (STO-034)
    """
    result = Resolution(seq, loop)
    live = Live(file_of(container)).get(seq, loop)
    if live is not None:
        result.places.append(live)
    rows = [row for row in snapshots(container) if row.loop is not None and loop in (None, row.loop)]
    _search(container, (row for row in rows if row.may_hold(seq)), result)
    if not result.places:
        _search(container, (row for row in rows if not row.may_hold(seq)), result)
        result.outside = [place.audit_id for place in result.places if place.audit_id is not None]
    return result


def _search(container: Container, rows: Iterable[SnapshotRow], result: Resolution) -> None:
    for row in rows:
        reading, before = Reading(container, row), len(result.places)
        for index, entry in reading.rows():
            if entry.seq == result.seq:
                result.places.append(Place(entry, row.loop or "", row.id, index, row.created_at))
        result.decoded += 1
        if reading.problems:
            result.damaged.append((row, reading.problems[0]))
            doubtful = f"from a damaged snapshot: {reading.problems[0].message}"
            result.places[before:] = [replace(place, problem=doubtful) for place in result.places[before:]]
