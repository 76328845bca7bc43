"""The agent in one file, running: the host of tools, triggers and timers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from adf_format import loops as rules
from adf_format.clearing.slices import Slice
from adf_format.config.loops import declared, disabled
from adf_format.loops import MAIN, Refused
from adf_format.loops.derive import derive, find
from adf_format.memory.injection import context_block
from adf_format.models import Model
from adf_format.runtime import recovery
from adf_format.runtime.clock import RealClock
from adf_format.runtime.core import injecting, logging
from adf_format.runtime.core.delivery import Delivery
from adf_format.runtime.core.dispatch import Dispatch
from adf_format.runtime.core.states import gate, starting_state
from adf_format.runtime.host import Config, Created, Deleted, Host
from adf_format.runtime.pool import Pool
from adf_format.runtime.ports import Clock, Event, Happening, Owner, Sink
from adf_format.runtime.prompts import flattened
from adf_format.runtime.store import Row, Store
from adf_format.runtime.supervisor import Supervisor
from adf_format.runtime.tools.registry import offered

KICKOFF = "Autostart: this is the start of a session. Work on your goal now, and stop when nothing is left to do."
LOGS_BETWEEN_PRUNING = 64


class Attachment(Protocol):
    """Something that belongs to a running agent: triggers, timers."""

    def attach(self, host: Host) -> None:
        """Get to know the agent."""
        ...

    def start(self) -> None:
        """The agent has started."""
        ...

    def stop(self) -> None:
        """The agent stops."""
        ...

    def config_changed(self) -> None:
        """The configuration changed, or a loop can run again."""
        ...

    def handle(self, event: Event) -> None:
        """Something happened."""
        ...

    def dropped(self, loop: str, dispatch: Dispatch, reason: str) -> None:
        """A dispatch that was accepted will not run after all."""
        ...

    def is_quiet(self) -> bool:
        """Whether no window that has come due is open."""
        ...


class Agent:
    """A running agent.

    :param can_build: whether there is a model for a provider id
    :param sink: watches
    """

    def __init__(
        self,
        path: str | Path,
        *,
        model: Model,
        owner: Owner,
        clock: Clock | None = None,
        attachments: Sequence[Attachment] = (),
        can_build: Callable[[str], bool] = lambda _: True,
        sink: Sink | None = None,
    ) -> None:
        self.clock = clock or RealClock()
        self.model = model
        self.owner = owner
        self.can_build = can_build
        self.is_stopping = False
        self._sink = sink
        self.store = Store(Path(path), self.clock.now)
        try:
            self._config = rules.loaded(self.store.config.read())
        except BaseException:
            self.store.close(clean=False)
            raise
        self._derived: dict[str, Config] = {}
        self._tools: dict[str, list[dict[str, Any]]] = {}
        self._attachments = attachments
        self._supervisor = Supervisor(self._task_failed)
        self._pulse = asyncio.Event()
        self._next_state: str | None = None
        self.pool = Pool(self)

    # life

    async def start(self) -> str:
        """Start: finish what a crash left undone, start the loops, send the kickoffs. Gives the state."""
        await self._supervisor.start()
        recovery.grandfather(self)
        await recovery.recover(self)
        self._save_state(starting_state(self._config))
        self.pool.reconcile(self._config)
        for attachment in self._attachments:
            attachment.attach(self)
            attachment.start()
        if self.state == "active":
            self._kick_off()
        self.emit(Event("startup"))
        return self.state

    async def stop(self) -> None:
        """Stop: abort what runs, write what has to be written, close the file and leave nothing beside it."""
        self.is_stopping = True
        for attachment in self._attachments:
            attachment.stop()
        self.pool.perform(self.pool.machine.close("the agent is stopped"))
        await self._supervisor.stop()
        self.store.close()

    async def idle(self, timeout_s: float | None = None) -> bool:
        """Wait until no turn runs and none is owed; a turn that waits for a retry counts as none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not self.is_idle():
                    self._pulse.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._pulse.wait(), 0.02)
                return True
        return self.is_idle()

    def is_idle(self) -> bool:
        """Whether nothing is going on."""
        waiting = {loop.name for loop in self.pool.active() if loop.asking.retrying}
        busy = set(self.pool.machine.running()) - waiting
        quiet = all(attachment.is_quiet() for attachment in self._attachments)
        return not busy and quiet and self.pool.teardown.is_quiet

    def pulse(self) -> None:
        """Something ended: whoever waits for idleness looks again."""
        self._pulse.set()

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run something for as long as the agent runs."""
        return self._supervisor.spawn(work, name)

    # configuration and state

    @property
    def config(self) -> Config:
        """The configuration as it is now."""
        return self._config

    @property
    def state(self) -> str:
        """State of the agent."""
        state = self._config.get("state")
        return state if isinstance(state, str) else "active"

    def effective(self, loop: str) -> Config:
        """Return the configuration of a loop; the agent's own for `main`. One that is gone gets nothing at all."""
        if loop == MAIN:
            return self._config
        if loop not in self._derived:
            known = find(self._config, loop) is not None
            self._derived[loop] = derive(self._config, loop) if known else {"tools": [], "loops": []}
        return self._derived[loop]

    def tools_of(self, loop: str) -> list[dict[str, Any]]:
        """Return the tools that the model of a loop is told of."""
        if loop not in self._tools:
            found = offered(self.effective(loop), main=loop == MAIN)
            self._tools[loop] = [tool.document() for tool in found]
        return self._tools[loop]

    def declared(self) -> list[str]:
        """Return the names of declared loops, in order, each once."""
        return list(dict.fromkeys(name for _, name, _ in declared(self._config)))

    def disabled(self) -> frozenset[str]:
        """Return the names of those that do not run."""
        return disabled(self._config)

    async def edit_config(self, edit: Callable[[Config], Config], *, by_owner: bool = False) -> Config:
        """Change the configuration; see `Host`.

        :param by_owner: a state that it sets stops or opens everything now, not with the end of a turn
        """
        before = self.state
        self.save_config(edit)
        if by_owner and self.state != before:
            self.set_state(self.state)
        return self._config

    def save_config(self, edit: Callable[[Config], Config]) -> Config:
        """Change the configuration: written, then effective for every loop at once (LOOP-054, LOOP-076)."""
        self.store.config.write(edit(self.store.config.read()))
        self.reload()
        return self._config

    def reload(self) -> None:
        """Take over what is stored."""
        self.reload_quietly()
        if not self.is_stopping:
            self.pool.reconcile(self._config)
            self.configured()

    def reload_quietly(self) -> None:
        """Take over what is stored, before anything runs."""
        self._config = rules.loaded(self.store.config.read())
        self._derived, self._tools = {}, {}

    def configured(self) -> None:
        """Tell attachments."""
        for attachment in self._attachments:
            attachment.config_changed()
        self.pulse()

    def set_state(self, state: str) -> None:
        """Set the state of the agent: some stop everything that runs (LOOP-135)."""
        self._save_state(state)
        reason = gate(state)
        if reason is None:
            self.pool.machine.open()
        else:
            self.pool.perform(self.pool.machine.close(reason))
        self.show(Happening("state", MAIN, {"state": state}))
        self.configured()

    def set_state_after_turn(self, state: str) -> None:
        """Set the state once `main` has ended its turn."""
        self._next_state = state

    def main_turn_ended(self) -> None:
        """Do what waited for it."""
        state, self._next_state = self._next_state, None
        if state is not None and not self.is_stopping:
            self.set_state(state)

    def _save_state(self, state: str) -> None:
        if self._config.get("state") != state:
            self.store.config.write(self.store.config.read() | {"state": state})
            self._config = self._config | {"state": state}
            self._derived, self._tools = {}, {}

    # what happens

    def emit(self, event: Event) -> None:
        """Tell triggers."""
        for attachment in self._attachments:
            attachment.handle(event)

    def show(self, happening: Happening) -> None:
        """Tell whoever watches."""
        if self._sink is not None:
            self._sink(happening)

    def appended(self, loop: str, row: Row) -> None:
        """A row was appended; it is shown once it is durable."""
        if self._sink is not None:
            self.store.when_durable(lambda: self.show(Happening("row", loop, {"row": row})))

    def log(self, level: str, event: str, message: str, **fields: Any) -> None:
        """Write a row of `adf_logs`, if the configuration wants it."""
        origin = fields.setdefault("origin", "runtime")
        if not logging.is_kept(self._config, level, origin):
            return
        number = self.store.logs.put(level, event, message, **fields)
        if number % LOGS_BETWEEN_PRUNING == 0:
            self.store.logs.prune(logging.max_rows(self._config))
        facts = {"level": level, "event": event, "message": message, "origin": origin}
        self.show(Happening("log", fields.get("loop") or MAIN, facts))
        if event != "loop_dispatch_dropped":  # a drop must not cause the next
            self.emit(Event("logs", facts, fields.get("loop") or MAIN))

    def wake(self, loop: str, dispatch: Dispatch) -> str | None:
        """Start or queue a turn; a drop is logged and never goes to `main` (LOOP-231)."""
        reason = self.pool.dispatch(loop, dispatch)
        if reason is not None:
            self._drop(loop, dispatch, reason)
        return reason

    def obstacle(self, loop: str) -> str | None:
        """Return why `wake` would drop a dispatch now, None if it would not; nothing is logged."""
        return self.pool.machine.refusal(loop)

    def dropped(self, loop: str, dispatch: Dispatch, reason: str) -> None:
        """A dispatch that had been accepted will not run."""
        if dispatch.held is not None:
            self.pool.loop(loop).context.release(dispatch.held)
        self._drop(loop, dispatch, reason)
        for attachment in self._attachments:
            attachment.dropped(loop, dispatch, reason)

    def _drop(self, loop: str, dispatch: Dispatch, reason: str) -> None:
        message = f"a dispatch of type {dispatch.event_type} was dropped: {reason}"
        self.log("warn", "loop_dispatch_dropped", message, target=loop)

    def why_aborted(self, loop: str) -> str:
        """Return the reason that a turn's record gives for an abort."""
        if self.is_stopping:
            return "executor_stopped"
        return "owner_state_transition" if self.pool.machine.gate is not None else f"loop_stopped:{loop}"

    # what comes from outside

    def chat(self, text: str, loop: str = MAIN) -> Row:
        """Take what the owner says: its row is written now, its turn runs now or after the running one.

        :raises Refused: the loop does not run
        """
        reason = self.obstacle(loop)
        if reason is not None:
            raise Refused(reason)
        row = self.pool.loop(loop).context.arrive(text, held=True)
        self.pool.dispatch(loop, Dispatch("chat", held=row.seq))
        self.emit(Event("chat", {"text": text}, loop))
        return row

    def note(self, loop: str, text: str) -> Row:
        """Append a user's row to a stream; it is read when the loop next runs."""
        return self.pool.loop(loop).context.arrive(text)

    def inject(
        self,
        loop: str,
        content: object,
        *,
        category: object = None,
        key: object = None,
        role: object = None,
        origin: str = "code",
    ) -> str | None:
        """Put context into a loop's own stream (LOOP-260 to LOOP-263); gives the reason if it is refused."""
        if loop not in {MAIN, *self.declared()}:
            return f'no loop named "{loop}" on this agent'
        problem = injecting.problem(self.effective(loop), content, category, key, role)
        if problem is not None:
            return problem
        named = "loop_inject" if category is None else str(category)
        text = context_block(named, str(content), origin=origin, key=None if key is None else str(key))
        row = self.pool.loop(loop).context.arrive(text, key=None if key is None else str(key), injected=True)
        self.show(Happening("context_injected", loop, {"category": named, "origin": origin, "seq": row.seq}))
        return None

    def unread(self) -> int:
        """Return how many messages of the inbox nobody has read."""
        return int(self.store.connection.execute("SELECT count(*) FROM adf_inbox WHERE status = 'unread'").get)

    # the loop tools

    def send(self, sender: str, target: str, content: str, *, wake: bool = False) -> Delivery:
        """Deliver a message from loop to loop; see `Host`."""
        return self.pool.send(sender, target, content, wake=wake)

    def roster(self) -> list[dict[str, Any]]:
        """Return all loops, `main` first (LOOP-190 to LOOP-192)."""
        summary = flattened(self._config.get("instructions"), 200)
        found = [self._listed(MAIN, summary, enabled=True)]
        off = self.disabled()
        for name in self.declared():
            loop = find(self._config, name) or {}
            found.append(self._listed(name, loop.get("goal", ""), enabled=name not in off))
        return found

    def _listed(self, name: str, goal: object, *, enabled: bool) -> dict[str, Any]:
        status = "running" if enabled and self.pool.machine.is_busy(name) else "idle"
        return {"name": name, "goal": goal, "status": status, "enabled": enabled, "is_main": name == MAIN}

    async def create_loop(self, wanted: Mapping[str, Any]) -> Created:
        """Declare a loop and start it; see `Host`."""
        await self.pool.teardown.settled(str(wanted.get("name")))
        edit = rules.create(self.store.config.read(), wanted, now=self.store.iso())
        self.save_config(lambda _: edit.config)
        name = edit.loop["name"]
        kickoff = None
        if edit.loop.get("autostart") is True and edit.loop.get("enabled") is not False:
            kickoff = self.send(MAIN, name, KICKOFF, wake=True)
        return Created(edit.loop, edit.tools, edit.excluded, kickoff)

    async def update_loop(self, name: str, patch: Mapping[str, Any]) -> tuple[str, ...]:
        """Change a loop; see `Host`."""
        edit = rules.update(self.store.config.read(), name, patch, now=self.store.iso())
        self.pool.deaf.discard(name)
        self.save_config(lambda _: edit.config)
        return edit.excluded

    async def delete_loop(self, name: str) -> Deleted:
        """Remove a loop; see `Host`."""
        return await self.pool.teardown.delete(name)

    async def clear(self, loop: str, start: int | None = None, end: int | None = None) -> tuple[int, bool]:
        """Delete a slice of a history; see `Host`."""
        seqs, audited = await self.store.transcript.clear(loop, Slice(start, end))
        self.pool.loop(loop).context.forget(seqs)
        self.pool.cleared(loop, seqs)
        self.show(Happening("cleared", loop, {"deleted": len(seqs), "archived": audited}))
        return len(seqs), audited

    # inside

    def _kick_off(self) -> None:
        """Wake the loops that start by themselves: an ordinary message from `main`, once per start (LOOP-082)."""
        for name in self._autostarting():
            with suppress(Refused):
                self.send(MAIN, name, KICKOFF, wake=True)

    def _autostarting(self) -> Iterable[str]:
        off = self.disabled()
        for name in self.declared():
            if name not in off and (find(self._config, name) or {}).get("autostart") is True:
                yield name

    def _task_failed(self, name: str, error: BaseException) -> None:
        self.log("error", "task_failed", f"{name}: {type(error).__name__}: {error}")
