"""All tasks of an agent in one group, which ends when the agent stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

OnError = Callable[[str, BaseException], None]


class Supervisor:
    """Owns the `TaskGroup`; a task that fails is reported and takes nobody with it."""

    def __init__(self, on_error: OnError) -> None:
        self._on_error = on_error
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stop = asyncio.Event()
        self._main: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the group."""
        ready = asyncio.Event()
        self._main = asyncio.create_task(self._run(ready), name="agent")
        await ready.wait()

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run something in the group."""
        assert self._group is not None  # noqa: S101 - started before anything is spawned
        task = self._group.create_task(self._guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Cancel what still runs, wait for it, and close the group."""
        self._stop.set()
        for task in tuple(self._tasks):
            task.cancel()
        if self._main is not None:
            await self._main
            self._main = None

    async def _run(self, ready: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            ready.set()
            await self._stop.wait()

    async def _guarded(self, work: Coroutine[Any, Any, Any], name: str) -> Any:
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - one loop's fault is not another's
            self._on_error(name, error)
            return None
