"""Two clocks: the system's, and one that stands still until it is moved."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable

Action = Callable[[], Awaitable[None]]


class RealClock:
    """The clock of the system; actions run as tasks of the running event loop."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def now(self) -> int:
        """Return the time, epoch ms."""
        return time.time_ns() // 1_000_000

    def schedule(self, at: int, action: Action) -> asyncio.TimerHandle:
        """Run an action at a time; see `Clock`."""
        delay = max(0.0, (at - self.now()) / 1000)
        return asyncio.get_running_loop().call_later(delay, self._run, action)

    async def sleep(self, ms: int) -> None:
        """Wait."""
        await asyncio.sleep(ms / 1000)

    def _run(self, action: Action) -> None:
        async def run() -> None:
            await action()

        task = asyncio.get_running_loop().create_task(run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)


class Planned:
    """An action that a virtual clock will run."""

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        """Drop it."""
        self.action = None


class VirtualClock:
    """Time that moves only by `advance`; what comes due runs in order, each at its own moment.

    :param start: epoch ms; 2026-01-01T00:00:00Z where nothing else is said (driver protocol)
    """

    START = 1_767_225_600_000

    def __init__(self, start: int = START) -> None:
        self._now = start
        self._order = itertools.count()
        self._heap: list[tuple[int, int, Planned]] = []

    def now(self) -> int:
        """Return the time, epoch ms."""
        return self._now

    def at_least(self, moment: int) -> None:
        """Set the clock forward, without running anything: before an agent starts."""
        self._now = max(self._now, moment)

    def schedule(self, at: int, action: Action) -> Planned:
        """Run an action when time has moved there; a time that has passed runs with the next `advance`."""
        planned = Planned(action)
        heapq.heappush(self._heap, (at, next(self._order), planned))
        return planned

    async def sleep(self, ms: int) -> None:
        """Wait until time has moved so far."""
        if ms <= 0:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def wake() -> None:
            if not done.done():
                done.set_result(None)

        planned = self.schedule(self._now + ms, wake)
        try:
            await done
        finally:
            planned.cancel()

    async def advance(self, ms: int) -> int:
        """Move time; returns when everything that came due has run. Gives the new time."""
        target = self._now + max(0, ms)
        while self._heap and self._heap[0][0] <= target:
            at, _, planned = heapq.heappop(self._heap)
            self._now = max(self._now, at)
            if planned.action is not None:
                await planned.action()
        self._now = target
        return target
