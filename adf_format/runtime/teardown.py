"""The end of a loop: condemn, abort, settle, archive, drop (loops.md 3.4).

Condemning is one step of the machine. What follows may wait for a turn, so it is a task of its own, which goes on even
if whoever asked for it is aborted.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from adf_format import loops as rules
from adf_format.errors import AdfError
from adf_format.loops import Refused
from adf_format.runtime.core.pool import Phase
from adf_format.runtime.host import Deleted
from adf_format.runtime.ports import Happening

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent
    from adf_format.runtime.pool import Pool

SETTLE_S = 30.0


class Teardown:
    """Tears loops down.

    :ivar settle_s: seconds of real time that an aborted turn gets (LOOP-102)
    """

    def __init__(self, agent: Agent, pool: Pool) -> None:
        self._agent, self._pool = agent, pool
        self.settle_s = SETTLE_S
        self._removals: dict[str, asyncio.Task[None]] = {}

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is being torn down."""
        return not self._removals

    def remove(self, name: str) -> None:
        """Tear down a loop that is no longer declared (LOOP-105); one that is on its way out already is left alone."""
        state = self._pool.machine.loops[name]
        if name in self._removals or (state.phase is Phase.STOPPING and state.why != "disabled"):
            return
        self._condemn(name, "removed")
        self._removals[name] = self._agent.spawn(self._removal(name), f"removal of {name}")

    async def settled(self, name: str) -> None:
        """Wait for a removal of this name that is under way, before the name is used again (LOOP-111)."""
        task = self._removals.get(name)
        if task is not None:
            await asyncio.wait([task])

    async def delete(self, name: str) -> Deleted:
        """Delete a loop that is declared (LOOP-100).

        :raises Refused: it stays as it was
        """
        rules.delete(self._agent.config, name, now=self._agent.store.iso())  # locked, unknown, main: before anything
        state = self._pool.machine.loops.get(name)
        if state is not None and state.phase is Phase.STOPPING and state.why != "disabled":
            raise Refused(f"`{name}` is being deleted already")
        interrupted = self._condemn(name, "deleted")
        work = self._agent.spawn(self._deletion(name, interrupted), f"deletion of {name}")
        outcome: Deleted | Refused = await asyncio.shield(work)
        if isinstance(outcome, Refused):
            raise outcome
        return outcome

    async def orphans(self) -> None:
        """Archive and clear the streams of loops that nobody declares: a crash came between (LOOP-132)."""
        store = self._agent.store
        known = {"main", *self._agent.declared()}
        for name in store.transcript.streams():
            if name not in known:
                await self._archive(name, lambda name=name: self._drop(name))

    def _condemn(self, name: str, why: str) -> bool:
        """Stop a loop for good; gives whether a turn was interrupted."""
        self._pool.condemned(name)
        running = self._pool.machine.is_busy(name)
        self._pool.perform(self._pool.machine.condemn(name, why))  # type: ignore[arg-type]
        return running

    async def _settle(self, name: str) -> None:
        try:
            await asyncio.wait_for(self._pool.stillness(name), self.settle_s)
        except TimeoutError:
            message = f"the turn of {name} did not stop within {self.settle_s:g} s; going on without it"
            self._agent.log("warn", "loop_turn_abort_timeout", message, origin="loop", target=name)
            self._pool.perform(self._pool.machine.give_up(name))

    async def _deletion(self, name: str, interrupted: bool) -> Deleted | Refused:
        def undeclare() -> None:
            edit = rules.delete(self._agent.config, name, now=self._agent.store.iso())
            self._agent.store.config.write(edit.config)
            self._drop(name)

        await self._settle(name)
        try:
            archived = await self._archive(name, undeclare)
        except (AdfError, Refused) as error:
            self._failed(name, str(error))
            return Refused(f"`{name}` could not be archived, so it was not deleted")
        self._gone(name)
        return Deleted(archived, interrupted)

    async def _removal(self, name: str) -> None:
        try:
            await self._settle(name)
            await self._archive(name, lambda: self._drop(name))
            self._gone(name)
        except AdfError as error:
            self._failed(name, str(error))
            self._pool.machine.forget(name)
        finally:
            self._removals.pop(name, None)
        self._agent.reload()

    def _failed(self, name: str, message: str) -> None:
        """The stream could not be archived: it stays, and the loop with it if it is declared (LOOP-110)."""
        self._agent.log("error", "loop_teardown_failed", f"{name}: {message}", origin="loop", target=name)
        runs = name in self._agent.declared() and name not in self._agent.disabled()
        self._pool.machine.restore(name, runs=runs)

    def _gone(self, name: str) -> None:
        self._pool.machine.forget(name)
        self._pool.deaf.discard(name)
        self._agent.reload()

    async def _archive(self, name: str, also: object) -> int:
        """Archive and clear a stream, with what else goes in the same transaction, and say so (LOOP-104)."""
        archived = await self._agent.store.transcript.tear_down(name, also)  # type: ignore[arg-type]
        message = f"loop {name} was removed; {archived} entries went to the archive as loop:{name}"
        self._agent.log("info", "loop_torn_down", message, origin="loop", target=name)
        self._agent.show(Happening("loop_torn_down", name, {"entries": archived}))
        return archived

    def _drop(self, name: str) -> None:
        """Drop the timers and records of a loop; what the owner has locked stays (LOOP-106)."""
        dropped, kept = self._agent.store.timers.drop_loop(name)
        self._agent.store.checkpoints.drop(name)
        if dropped:
            message = f"{dropped} timers of loop {name} were deleted with it"
            self._agent.log("info", "loop_timers_dropped", message, origin="loop", target=name)
        if kept:
            message = f"{kept} locked timers of loop {name} were kept; only the owner can delete them"
            self._agent.log("warn", "loop_timers_locked_kept", message, origin="loop", target=name)
