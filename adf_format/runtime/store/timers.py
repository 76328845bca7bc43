"""`adf_timers`: every timer comes in by `add`, where its loop stamp is decided (LOOP-235)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json
from adf_format.runtime.timers.model import Timer, scope_of, stamp
from adf_format.runtime.timers.schedule import Schedule

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

_COLUMNS = "id, schedule_json, next_wake_at, scope, payload, lambda, loop, run_count, last_fired_at, locked, expired"
_INSERT = (
    "INSERT INTO adf_timers"
    " (schedule_json, next_wake_at, payload, scope, lambda, warm, run_count, created_at, locked, expired, loop)"
    " VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, 0, ?)"
)


class Timers:
    """Timers of all loops; the row of one that has fired for the last time stays (`expired`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(
        self,
        schedule: Schedule,
        first: int,
        scope: Sequence[str],
        *,
        loop: str | None,
        payload: str | None = None,
        lambda_: str | None = None,
        warm: bool = False,
        locked: bool = False,
    ) -> Timer:
        """Add a timer.

        :param first: moment of its first firing
        :param loop: the loop that it is meant for; kept only if the scope has a part that wakes a loop
        """
        stamped = stamp(scope, loop)
        text, scopes = javascript_json(schedule.as_json()), tuple(dict.fromkeys(scope))
        bindings = (text, first, payload, javascript_json(list(scopes)), lambda_, int(warm), self._store.now())
        self._store.connection.execute(_INSERT, (*bindings, int(locked), stamped))
        number = self._store.connection.last_insert_rowid()
        return Timer(number, text, first, scopes, payload, lambda_, stamped, locked=locked)

    def get(self, number: int) -> Timer | None:
        """Return a timer, None if there is none."""
        row = self._store.connection.execute(f"SELECT {_COLUMNS} FROM adf_timers WHERE id = ?", (number,)).fetchone()
        return _timer(row) if row else None

    def every(self) -> list[Timer]:
        """Return all timers, expired ones as well."""
        rows = self._store.connection.execute(f"SELECT {_COLUMNS} FROM adf_timers ORDER BY id").fetchall()
        return [_timer(row) for row in rows]

    def waiting(self) -> list[Timer]:
        """Return the timers that may still fire."""
        sql = f"SELECT {_COLUMNS} FROM adf_timers WHERE expired = 0 ORDER BY next_wake_at, id"
        return [_timer(row) for row in self._store.connection.execute(sql).fetchall()]

    def update(self, timer: Timer) -> None:
        """Write what a firing changes, in place (BUG-27)."""
        sql = "UPDATE adf_timers SET next_wake_at = ?, run_count = ?, last_fired_at = ?, expired = ? WHERE id = ?"
        bindings = (timer.next_wake_at, timer.run_count, timer.last_fired_at, int(timer.expired), timer.id)
        self._store.connection.execute(sql, bindings)

    def delete(self, number: int) -> None:
        """Delete a timer."""
        self._store.connection.execute("DELETE FROM adf_timers WHERE id = ?", (number,))

    def drop_loop(self, loop: str) -> tuple[int, int]:
        """Delete the timers of a loop that is gone, but not the locked ones (LOOP-106).

        :returns: how many were deleted, how many stay
        """
        connection = self._store.connection
        connection.execute("DELETE FROM adf_timers WHERE loop = ? AND locked = 0", (loop,))
        deleted = connection.changes()
        return deleted, int(connection.execute("SELECT count(*) FROM adf_timers WHERE loop = ?", (loop,)).get)


def _timer(row: tuple[Any, ...]) -> Timer:
    number, schedule, wake, scope, payload, lambda_, loop, runs, last, locked, expired = row
    return Timer(
        number,
        str(schedule),
        wake if isinstance(wake, int) else 0,
        scope_of(scope),
        _text(payload),
        _text(lambda_),
        _text(loop),
        runs if isinstance(runs, int) else 0,
        last if isinstance(last, int) else None,
        locked not in (0, None),
        expired not in (0, None),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
