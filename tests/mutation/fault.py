"""What a mutation is, and what it means that it was caught."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mutation.bench import Change, Found, Place


@dataclass(frozen=True)
class Fault:
    """One single-fault mutation of the rich sample.

    :ivar id: `<class>/<place>/<kind>`, unique within a storage version
    :ivar change: makes it
    :ivar tables: tables of which one must be named by the finding
    :ivar column: column that the finding must name, if it names one; None for any
    :ivar pointer: JSON pointer that the finding's pointer must lie on the way to or below, None for any
    :ivar rowid: row that the finding must name, if it names one; None for any
    """

    id: str
    change: Change
    tables: tuple[str | None, ...]
    column: str | None = None
    pointer: str | None = None
    rowid: int | None = None

    def caught_by(self, before: Found, after: Found) -> list[Place]:
        """Return the new findings at the mutated place."""
        return [place for place in after - before if self._here(place)]

    def _here(self, place: Place) -> bool:
        if place.table not in self.tables:
            return False
        if self.column is not None and place.column not in (None, self.column):
            return False
        if self.rowid is not None and place.rowid not in (None, self.rowid):
            return False
        return self.pointer is None or place.pointer is None or _related(self.pointer, place.pointer)


def _related(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def unique(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults, each id once.

    :raises AssertionError: two faults share an id
    """
    found: dict[str, Fault] = {}
    for fault in faults:
        assert fault.id not in found, fault.id
        found[fault.id] = fault
    return list(found.values())
