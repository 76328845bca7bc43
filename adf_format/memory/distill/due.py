"""Which notes are unprocessed, and whether a distillation is due (MEM-090 to MEM-094, MEM-100).

Pure functions over facts about notes. Days are those of the zone of the workspace, hours are differences of instants,
so a change of the clocks alters no hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, NamedTuple

HEARTBEAT_HOURS, HEARTBEAT_NOTES = 48.0, 3
WEEKLY_DAYS = 7.0
OVERDUE_HOURS = 96.0

Why = Literal["new", "changed", "late-edit"]


@dataclass(frozen=True)
class Note:
    """What is known of one daily note.

    :ivar day: of its name
    :ivar size: bytes; :ivar sha256: of the content
    :ivar changed: when it was changed last, an aware time
    :ivar empty: no text besides headings, blank lines and comments (MEM-015)
    """

    path: str
    day: date
    sha256: str
    size: int
    changed: datetime
    empty: bool


class Recorded(NamedTuple):
    """The state of a note when it was last consolidated (MEM-052)."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Last:
    """The last distillation.

    :ivar at: an aware time, None if there was none or it cannot be read
    :ivar notes: the states of notes by path below `memory/` without `.md`, which is the day for a plain note
    """

    at: datetime | None = None
    notes: Mapping[str, Recorded] = field(default_factory=dict)


@dataclass(frozen=True)
class Unprocessed:
    """A note that waits to be distilled, and why."""

    note: Note
    why: Why


@dataclass(frozen=True)
class Thresholds:
    """When a distillation is due; an explicit 0 is honoured."""

    hours: float = HEARTBEAT_HOURS
    notes: int = HEARTBEAT_NOTES
    weekly_days: float = WEEKLY_DAYS
    overdue_hours: float = OVERDUE_HOURS


DEFAULTS = Thresholds()


@dataclass(frozen=True)
class Due:
    """Whether a distillation is due.

    :ivar reason: in words; :ivar error: what is wrong with the state, if anything
    :ivar hours: since the last one, None if there was none
    :ivar overdue: long since the last one, with notes waiting (MEM-100)
    """

    due: bool
    reason: str
    hours: float | None
    unprocessed: tuple[Unprocessed, ...]
    heartbeat: bool
    weekly: bool
    overdue: bool
    error: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the result as JSON (MEM-093)."""
        return {
            "due": self.due,
            "reason": self.reason,
            "hoursSince": None if self.hours is None else round(self.hours, 2),
            "unprocessed": [one.note.path for one in self.unprocessed],
            "triggers": {"heartbeat": self.heartbeat, "weekly": self.weekly},
            "overdue": self.overdue,
            "error": self.error,
        }


def key(note: Note) -> str:
    """Return the name under which the state of a note is recorded: `2026-04-01`, or with its slug."""
    return note.path.removeprefix("memory/").removesuffix(".md")


def unprocessed(notes: Iterable[Note], last: Last, now: datetime) -> list[Unprocessed]:
    """Return the notes that wait, the oldest first (MEM-091).

    :param now: an aware time in the zone of the workspace, which says what day it is
    """
    found = []
    for note in sorted(notes, key=lambda note: (note.day, note.path)):
        why = None if note.empty or note.day > now.date() else _why(note, last, now)
        if why is not None:
            found.append(Unprocessed(note, why))
    return found


def _why(note: Note, last: Last, now: datetime) -> Why | None:
    if last.at is None:
        return "new"
    day = last.at.astimezone(now.tzinfo).date()
    recorded = last.notes.get(key(note))
    if recorded is not None and recorded.sha256 == note.sha256:
        return None  # exactly this text was consolidated, whatever its date says
    if note.day > day:
        return "new"
    if note.day == day:
        if recorded is not None:
            return "changed"
        return "changed" if _hours(last.at, note.changed) > 0 else None
    return "late-edit" if recorded is not None else None


def due(notes: Iterable[Note], last: Last, now: datetime, limits: Thresholds = DEFAULTS) -> Due:
    """Say whether a distillation is due; a last one in the future is an error and means no (MEM-093, MEM-094)."""
    waiting = tuple(unprocessed(notes, last, now))
    hours = None if last.at is None else _hours(last.at, now)
    if hours is not None and hours < 0:
        error = "the last distillation lies in the future"
        return Due(False, error, hours, waiting, False, False, False, error)
    heartbeat = len(waiting) >= limits.notes and (hours is None or hours >= limits.hours)
    weekly = len(waiting) >= 1 and (hours is None or hours >= limits.weekly_days * 24)
    overdue = len(waiting) >= 1 and hours is not None and hours >= limits.overdue_hours
    return Due(
        heartbeat or weekly, _reason(waiting, hours, heartbeat, weekly), hours, waiting, heartbeat, weekly, overdue
    )


def _hours(before: datetime, after: datetime) -> float:
    """Hours between two instants; two times of one zone would be subtracted by the wall clock."""
    return (after.astimezone(UTC) - before.astimezone(UTC)) / timedelta(hours=1)


def _reason(waiting: tuple[Unprocessed, ...], hours: float | None, heartbeat: bool, weekly: bool) -> str:
    many = f"{len(waiting)} unprocessed {'note' if len(waiting) == 1 else 'notes'}"
    since = "never distilled" if hours is None else f"{hours:,.0f} hours since the last distillation"
    if heartbeat or weekly:
        return f"{many}, {since}"
    return f"not yet: {many}, {since}" if waiting else f"nothing to distil, {since}"
