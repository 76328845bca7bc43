"""One timer, and what its firing makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from adf_format import jsontext
from adf_format.errors import JsonTextError
from adf_format.runtime.timers.schedule import Schedule, ScheduleError

Scope = Literal["system", "agent"]
MAIN = "main"


@dataclass(frozen=True)
class Timer:
    """One row of `adf_timers`; times are epoch milliseconds.

    :ivar schedule_json: as stored; read by `schedule` only, so that what cannot be read is kept
    :ivar loop: the loop that it wakes; None: `main`, or nobody if the scope is not `agent`
    :ivar expired: it has fired for the last time; the row stays
    """

    id: int
    schedule_json: str
    next_wake_at: int
    scope: tuple[str, ...]
    payload: str | None = None
    lambda_: str | None = None
    loop: str | None = None
    run_count: int = 0
    last_fired_at: int | None = None
    locked: bool = False
    expired: bool = False

    @property
    def schedule(self) -> Schedule:
        """The schedule.

        :raises ScheduleError: what is stored is none
        """
        try:
            return Schedule.stored(jsontext.decode_column(self.schedule_json).value)
        except JsonTextError as error:
            raise ScheduleError("the schedule is not JSON") from error

    @property
    def is_once(self) -> bool:
        """Whether it fires one time only."""
        try:
            return self.schedule.mode == "once"
        except ScheduleError:
            return False

    def fired(self, now: int) -> Timer:
        """Return the row after a firing: the next moment, or expired; a schedule that is none fires no more."""
        runs = self.run_count + 1
        try:
            following = self.schedule.following(self.next_wake_at, now, runs)
        except ScheduleError:
            following = None
        after = replace(self, run_count=runs, last_fired_at=now)
        return replace(after, expired=True) if following is None else replace(after, next_wake_at=following)


def scope_of(text: object) -> tuple[str, ...]:
    """Read `adf_timers.scope`: a JSON array, or the bare text of old files; what is neither counts as system."""
    try:
        value = jsontext.decode_column(text).value if isinstance(text, str) else None
    except JsonTextError:
        value = [text]
    found = value if isinstance(value, list) else [value]
    known = [{"document": "system"}.get(item, item) for item in found if isinstance(item, str)]
    return tuple(dict.fromkeys(item for item in known if item in {"system", "agent"})) or ("system",)


def stamp(scope: Iterable[str], loop: str | None) -> str | None:
    """Return the loop that a new timer carries: only a timer of agent scope wakes a loop (LOOP-235).

    Every way to add a timer comes through here.
    """
    return loop if "agent" in scope else None


@dataclass(frozen=True)
class Firing:
    """A timer that has come due.

    :ivar before: the row as it was
    :ivar after: the row to write, in the transaction that wakes somebody
    :ivar dropped: why nobody is woken, None if it can be
    """

    before: Timer
    after: Timer
    dropped: str | None = None


class Held:
    """Timers of mode `once` whose firing was dropped: they wait, unexpired, and are told of once (LOOP-242).

    In memory only: after a restart they come due, and are dropped and logged, again.
    """

    def __init__(self) -> None:
        self._waiting: set[int] = set()

    def hold(self, timer: Timer) -> None:
        """Let a timer wait whose drop has been told of."""
        self._waiting.add(timer.id)

    def due(self, timers: Iterable[Timer], now: int, obstacle: Callable[[Timer], str | None]) -> Iterator[Firing]:
        """Yield what has come due, the longest overdue first.

        :param obstacle: why a timer's loop cannot be woken now, None if it can
        """
        ready = [timer for timer in timers if not timer.expired and timer.next_wake_at <= now]
        for timer in sorted(ready, key=lambda timer: (timer.next_wake_at, timer.id)):
            reason = obstacle(timer)
            if reason is None or not timer.is_once:
                self._waiting.discard(timer.id)
                yield Firing(timer, timer.fired(now), reason)
            elif timer.id not in self._waiting:
                self._waiting.add(timer.id)
                yield Firing(timer, timer, reason)

    def next_due(self, timers: Iterable[Timer]) -> int | None:
        """Return when the next timer comes due; those that wait for their loop do not count."""
        moments = (timer.next_wake_at for timer in timers if not timer.expired and timer.id not in self._waiting)
        return min(moments, default=None)
