"""The deadline of one open file, shared by copying, SQL and loops in Python."""

from __future__ import annotations

import time
from pathlib import Path

from adf_format.errors import LimitError


class Clock:
    """Counts from its creation; without a limit it never raises."""

    def __init__(self, path: Path, limit_s: float | None) -> None:
        self._path = path
        self._limit_s = limit_s
        self._end = None if limit_s is None else time.monotonic() + limit_s

    def left(self) -> float | None:
        """Seconds left, at least 0; None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Do nothing while there is time.

        :raises LimitError: the deadline has passed
        """
        if self._end is not None and time.monotonic() > self._end:
            raise LimitError(f"the time limit of {self._limit_s:g} s was reached", self._path)

    def release(self) -> None:
        """Forget the limit: what follows is bounded by what is known already, and may wait for a reader."""
        self._end = None

    def tick(self) -> bool:
        """SQLite's progress handler: what it raises stops the statement and reaches the caller.

        Without a limit it is of use all the same: Ctrl-C is noticed inside a long statement.
        """
        self.check()
        return False
