"""Targets that do not wake at once: debounce, interval and batch as one state machine on somebody else's clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from adf_format.runtime.triggers.model import Event, Target

MOST_EVENTS = 100
"""Events that one dispatch tells of by their text; older ones are counted."""


@dataclass(frozen=True)
class Dispatch:
    """A target that is woken now.

    :ivar events: what it is told, in the order in which it happened, never empty
    :ivar earlier: how many older events are only counted
    """

    target: Target
    events: tuple[Event, ...]
    earlier: int = 0


_Key = tuple[object, ...]


@dataclass
class _Window:
    target: Target
    due: int
    events: list[Event] = field(default_factory=list)
    earlier: int = 0

    def add(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) > MOST_EVENTS:
            del self.events[0]
            self.earlier += 1


class Coalescer:
    """Holds events until their targets wake; in memory only, what is held dies with the process.

    Times are epoch milliseconds of whatever clock the caller has; they never run backwards.
    """

    def __init__(self) -> None:
        self._open: dict[_Key, _Window] = {}
        self._last: dict[_Key, int] = {}

    def offer(self, target: Target, event: Event, now: int) -> Dispatch | None:
        """Take an event that a target has accepted; return the dispatch if it wakes at once."""
        timing = target.timing
        key = _key(target)
        window = self._open.get(key)
        if window is None:
            due = self._opening(target, now)
            if due <= now:
                self._last[key] = now
                return Dispatch(target, (event,))
            window = self._open[key] = _Window(target, due)
        window.add(event)
        if timing.mode == "debounce":
            window.due = now + timing.ms
        if timing.count is not None and len(window.events) + window.earlier >= timing.count:
            return self._close(key, now)
        return None

    def due(self, now: int) -> Iterator[Dispatch]:
        """Yield what has come due, in that order."""
        for key in sorted(
            (key for key in self._open if self._open[key].due <= now), key=lambda key: self._open[key].due
        ):
            yield self._close(key, now)

    def next_due(self) -> int | None:
        """Return when the next window ends."""
        return min((window.due for window in self._open.values()), default=None)

    def forget(self) -> None:
        """Drop everything that is held: the agent stops or is suspended."""
        self._open.clear()

    def _opening(self, target: Target, now: int) -> int:
        """Return when an event that finds no open window is due."""
        timing = target.timing
        if timing.mode == "immediate":
            return now
        if timing.mode == "interval":
            last = self._last.get(_key(target))
            return now if last is None else max(now, last + timing.ms)
        return now + timing.ms

    def _close(self, key: _Key, now: int) -> Dispatch:
        window = self._open.pop(key)
        self._last[key] = now
        return Dispatch(window.target, tuple(window.events), window.earlier)


def _key(target: Target) -> _Key:
    """Tell targets apart by everything but their filter: a window outlives an edit of another target."""
    return (target.kind, target.place, target.scope, target.loop, target.timing)
