"""The loops of a running agent: carries out what the pool machine says, and what follows from the configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from adf_format.config.access import section
from adf_format.config.loops import disabled
from adf_format.loops import MAIN, Refused
from adf_format.loops.derive import find, may_override
from adf_format.runtime.core.delivery import Delivery
from adf_format.runtime.core.dispatch import Dispatch
from adf_format.runtime.core.pool import Abort, Command, Dropped, Phase, PoolMachine, Settled, Start
from adf_format.runtime.loop import Loop
from adf_format.runtime.ports import Happening
from adf_format.runtime.teardown import Teardown

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

DISABLED_ROWS = 100


class Pool:
    """All loops, `main` among them.

    :ivar machine: what each of them is allowed to do
    :ivar deaf: loops that have switched themselves off; whatever rebuilds them wakes them up
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.machine = PoolMachine()
        self.deaf: set[str] = set()
        self.teardown = Teardown(agent, self)
        self._loops: dict[str, Loop] = {}
        self._warned: set[tuple[str, str]] = set()
        self._still: dict[str, asyncio.Event] = {}

    # what is declared

    def reconcile(self, config: Mapping[str, Any]) -> None:
        """Bring the loops in line with the configuration: what is new starts, what is disabled stops now, what is
        gone is torn down behind the caller's back (LOOP-071, LOOP-094, LOOP-105)."""
        off = disabled(dict(config))
        self.machine.declare(MAIN, runs=True)
        declared = self._agent.declared()
        for name in declared:
            state = self.machine.loops.get(name)
            if state is None or state.phase is Phase.DOWN:
                runs = name not in off and name not in self.deaf and self._can_run(config, name)
                self.machine.declare(name, runs=runs)
            elif name in off and state.phase is not Phase.STOPPING:
                self.stop(name)
        for name in set(self.machine.loops) - {MAIN, *declared}:
            self.teardown.remove(name)

    def stop(self, name: str) -> None:
        """Stop a loop now, which stays declared (LOOP-094)."""
        self._loops_gone(name)
        self.perform(self.machine.condemn(name, "disabled"))

    def loop(self, name: str) -> Loop:
        """Return the executor of a loop, made when it is first needed."""
        if name not in self._loops:
            self._loops[name] = Loop(self._agent, name)
        return self._loops[name]

    def active(self) -> Iterable[Loop]:
        """Return the executors that exist."""
        return self._loops.values()

    def discard(self, name: str, *, goes_on: bool) -> None:
        """Let go of an executor; the next turn gets a new one, with the rows as its memory.

        :param goes_on: the loop stays: what waited for the old executor waits for the new one
        """
        old = self._loops.pop(name, None)
        if old is not None:
            old.abandon()
            if goes_on:
                self.loop(name).context.inherit(old.context.undelivered())

    def release(self, name: str) -> None:
        """Let go of the history of a loop that does nothing; the rows supply it again (LOOP-267)."""
        if not self.machine.is_busy(name):
            self.loop(name).context.drop()
            self._log("info", "session_released", name, f"the history of {name} was released from memory")

    # events

    def perform(self, commands: Iterable[Command]) -> None:
        """Carry out what the machine says."""
        for command in commands:
            match command:
                case Start(name, turn, dispatch):
                    task = self.loop(name).run(dispatch)
                    task.add_done_callback(partial(self._turn_ended, name, turn))
                case Abort(name, _):
                    self.loop(name).abort(self._agent.why_aborted(name))
                    self._log("info", "loop_turn_aborted", name, f"the turn of {name} was aborted")
                case Dropped(name, dispatch, reason):
                    self._agent.dropped(name, dispatch, reason)
                case Settled(name, why):
                    self._settled(name, why)

    def boundary(self, name: str) -> None:
        """A request of a loop was built."""
        if name in self.machine.loops:
            self.machine.boundary(name)

    def cleared(self, name: str, seqs: Collection[int]) -> None:
        """Rows of a loop are gone."""
        self.machine.cleared(name, seqs)

    def dispatch(self, name: str, dispatch: Dispatch) -> str | None:
        """Start or queue a turn; gives the reason if it is refused."""
        reason, commands = self.machine.dispatch(name, dispatch)
        self.perform(commands)
        return reason

    def send(self, sender: str, target: str, content: str, *, wake: bool) -> Delivery:
        """Deliver a message (loops.md 4): the row first, then whatever follows from it.

        :raises Refused: nothing was appended
        """
        known = [MAIN, *self._agent.declared()]
        if sender not in known or not self._speaks(sender):
            raise Refused(f"there is no loop `{sender:.40}` that could send")
        if target == sender:
            raise Refused("a loop cannot send to itself")
        if target not in known or self._is_removed(target):
            raise Refused(f"there is no loop `{target:.40}`; there are: {', '.join(known)}")
        if self.machine.loops[target].phase is Phase.DOWN:
            self._room(target)
        row = self.loop(target).context.arrive(f"[from loop:{sender}] {content}")
        delivery, commands = self.machine.deliver(target, row.seq, wake=wake)
        self.perform(commands)
        told = {"category": "loop", "origin": f"loop:{sender}", "seq": row.seq}
        self._agent.show(Happening("context_injected", target, told))
        return delivery

    async def interrupt(self, name: str) -> None:
        """Abort the turn of a loop, if there is one, and wait for its end."""
        self.perform(self.machine.interrupt(name))
        await self.loop(name).ended()

    async def stillness(self, name: str) -> None:
        """Wait until a condemned loop has settled."""
        await self._still.setdefault(name, asyncio.Event()).wait()

    # inside

    def _turn_ended(self, name: str, turn: int, _task: asyncio.Task[None]) -> None:
        loop = self._loops.get(name)
        state = self.machine.loops.get(name)
        if state is not None and state.turn == turn:
            if loop is not None and loop.deaf and state.phase is Phase.RUNNING:
                self.deaf.add(name)
                self.machine.condemn(name, "disabled")
            commands = self.machine.ended(name, turn)
            if name == MAIN:
                self._agent.main_turn_ended()
            if not self._agent.is_stopping:
                self.perform(commands)
        self._agent.pulse()

    def _settled(self, name: str, why: str) -> None:
        self.discard(name, goes_on=why == "disabled")
        self._still.setdefault(name, asyncio.Event()).set()
        if why == "disabled":
            del self._still[name]
            self.reconcile(self._agent.config)
            self._agent.configured()

    def _loops_gone(self, name: str) -> None:
        self._still.pop(name, None)

    def condemned(self, name: str) -> None:
        """A teardown begins: whoever waited for an earlier stop waits for this one."""
        event = self._still.get(name)
        if event is None or event.is_set():
            self._still[name] = asyncio.Event()

    def _speaks(self, name: str) -> bool:
        state = self.machine.loops.get(name)
        return state is not None and not (state.phase is Phase.STOPPING and state.why != "disabled")

    def _is_removed(self, name: str) -> bool:
        state = self.machine.loops.get(name)
        return state is None or (state.phase is Phase.STOPPING and state.why == "removed")

    def _room(self, target: str) -> None:
        """Refuse to pile up rows in a loop that reads none (LOOP-176)."""
        if self._agent.store.transcript.count(target) >= DISABLED_ROWS:
            raise Refused(f"`{target}` is disabled and holds {DISABLED_ROWS} rows already; nothing was sent")

    def _can_run(self, config: Mapping[str, Any], name: str) -> bool:
        """Whether a loop can be built (LOOP-058, LOOP-059); what is wrong is told once."""
        loop = find(config, name) or {}
        override = loop.get("model")
        if not isinstance(override, dict):
            return True
        provider = override.get("provider")
        if not may_override(config):
            self._once("warn", "loop_model_override_ignored", name, "its model needs sys_code or sys_lambda enabled")
            return True
        if self._agent.can_build(str(provider or "")):
            return True
        if provider == section(config, "model").get("provider"):
            return True
        self._once("error", "loop_start_failed", name, f"its model provider {str(provider)!a:.60} cannot be built")
        return False

    def _once(self, level: str, event: str, name: str, message: str) -> None:
        if (event, name) not in self._warned:
            self._warned.add((event, name))
            self._log(level, event, name, f"{name}: {message}")

    def _log(self, level: str, event: str, name: str, message: str) -> None:
        self._agent.log(level, event, message, origin="loop", target=name)
