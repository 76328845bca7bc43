"""When a timer fires: once, at an interval or by the calendar (config.md 4.1). Times are epoch milliseconds, UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

Mode = Literal["once", "interval", "cron"]
EARLIEST = 1
LATEST_MS = 253_402_300_799_000  # the end of the year 9999, where the calendar of the standard library ends
_LIMITS = ("start_at", "end_at", "max_runs")


class ScheduleError(ValueError):
    """A schedule that means nothing; the text says why."""


@dataclass(frozen=True)
class Schedule:
    """One schedule, as `adf_timers.schedule_json` stores it.

    :ivar at: moment of a `once` schedule
    :ivar every_ms: milliseconds between firings of an `interval` schedule
    :ivar cron: five fields, read in UTC
    :ivar start_at: first firing of an interval
    :ivar end_at: nothing fires after this moment
    :ivar max_runs: most firings
    """

    mode: Mode
    at: int | None = None
    every_ms: int | None = None
    cron: str | None = None
    start_at: int | None = None
    end_at: int | None = None
    max_runs: int | None = None

    @classmethod
    def stored(cls, value: object) -> Schedule:
        """Read a stored schedule; null counts as absent (K9).

        :raises ScheduleError: not a schedule
        """
        if not isinstance(value, Mapping) or value.get("mode") not in get_args(Mode):
            raise ScheduleError("a schedule has the mode once, interval or cron")
        mode: Mode = value["mode"]
        needed = {"once": "at", "interval": "every_ms", "cron": "cron"}[mode]
        numbers = {key: _positive(value, key) for key in ("at", "every_ms", *_LIMITS)}
        cron = value.get("cron")
        if needed == "cron":
            if not isinstance(cron, str):
                raise ScheduleError("a cron schedule needs cron, a text")
        elif numbers[needed] is None:
            raise ScheduleError(f"a schedule of mode {mode} needs {needed}")
        kept = {needed, *(_LIMITS if mode == "interval" else _LIMITS[1:] if mode == "cron" else ())}
        made = cls(mode, cron=cron if mode == "cron" else None, **{k: v for k, v in numbers.items() if k in kept})
        made._cron_after(EARLIEST)
        return made

    @classmethod
    def asked(cls, wish: Mapping[str, Any], now: int) -> Schedule:
        """Read what `sys_set_timer` is given: `type` is once (`at`), delay (`delay_ms`), interval or cron.

        :raises ScheduleError: not a schedule
        """
        if wish.get("type") == "delay":
            delay = _positive(wish, "delay_ms")
            if delay is None:
                raise ScheduleError("a schedule of type delay needs delay_ms")
            return cls.stored({"mode": "once", "at": now + delay})
        return cls.stored({**wish, "mode": wish.get("type")})

    def as_json(self) -> dict[str, Any]:
        """Return what is stored: keys that are not set are left out."""
        keys = ("mode", "at", "every_ms", "cron", *_LIMITS)
        return {key: value for key in keys if (value := getattr(self, key)) is not None}

    def first(self, now: int) -> int | None:
        """Return the first firing of a schedule that is made now, None if it never fires; `once` may be overdue."""
        if self.mode == "once":
            return self.at
        if self.mode == "interval":
            every = self.every_ms or 1
            start = now + every if self.start_at is None else self.start_at
            return self._bounded(start if start >= now else _next_of(start, every, now))
        return self._bounded(self._cron_after(now))

    def following(self, due: int, now: int, runs: int) -> int | None:
        """Return the firing after the one that was due; what was missed in between fires no more.

        :param due: when the firing that was just made should have been
        :param runs: firings so far, this one included
        :returns: a moment after `now`, or None: it has fired for the last time
        """
        if self.mode == "once" or (self.max_runs is not None and runs >= self.max_runs):
            return None
        if self.mode == "interval":
            return self._bounded(_next_of(due, self.every_ms or 1, max(due, now)))
        return self._bounded(self._cron_after(max(due, now)))

    def _bounded(self, moment: int | None) -> int | None:
        if moment is None or moment > LATEST_MS or (self.end_at is not None and moment > self.end_at):
            return None
        return moment

    def _cron_after(self, moment: int) -> int | None:
        """Return the first moment after another one that the calendar names, None without one in fifty years."""
        if self.cron is None:
            return None
        from cronsim import CronSim, CronSimError

        start = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=min(moment, LATEST_MS))
        try:
            if len(self.cron.split()) != 5:
                raise CronSimError("Wrong number of fields")
            found = next(CronSim(self.cron, start), None)
        except CronSimError as error:
            raise ScheduleError(f"{self.cron[:80]!r} is not a cron line of five fields: {error}") from error
        except OverflowError:
            return None
        return int(found.timestamp() * 1000) if found else None


def _next_of(start: int, every: int, now: int) -> int:
    """Return the first moment after `now` among `start`, `start + every`, …"""
    return start + every * ((now - start) // every + 1)


def _positive(value: Mapping[str, Any], key: str) -> int | None:
    number = value.get(key)
    if number is None:
        return None
    whole = isinstance(number, int | float) and not isinstance(number, bool) and number == number // 1
    if not whole or not 1 <= number <= LATEST_MS:
        raise ScheduleError(f"{key} must be a whole number from 1 on")
    return int(number)
