"""One loop at work: carries out what the turn machine says, one turn after the other."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import nullcontext
from typing import TYPE_CHECKING

from adf_format.config.access import section
from adf_format.errors import AdfError
from adf_format.loops import MAIN
from adf_format.models import ModelError
from adf_format.runtime.asking import Asking
from adf_format.runtime.compacting import compact
from adf_format.runtime.context import Abandoned, Context
from adf_format.runtime.core import turn as machine
from adf_format.runtime.core.compaction import NUDGE
from adf_format.runtime.core.content import Block, cut, result_block
from adf_format.runtime.core.dispatch import Dispatch
from adf_format.runtime.core.messages import LOST
from adf_format.runtime.core.turn import Turn
from adf_format.runtime.ports import Event, Happening
from adf_format.runtime.prompts import REMINDER
from adf_format.runtime.tools import checks
from adf_format.runtime.tools.protocol import Call, Compact, Effect, EndTurn

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

CHARS_PER_TOKEN = 3
NEEDS_NEWS = frozenset({"kick", "chat"})


class Loop:
    """The executor of one loop. A loop that is stopped and runs again gets a new one.

    :ivar context: its session
    :ivar deaf: a state that the loop has set for itself and in which it takes no further turns
    """

    def __init__(self, agent: Agent, name: str) -> None:
        self._agent = agent
        self.name = name
        self.context = Context(agent.store, name, agent.appended)
        self.asking = Asking(agent, self.context)
        self.deaf: str | None = None
        self._calls: list[Block] = []
        self._effects: list[Effect] = []
        self._why = "executor_stopped"
        self._task: asyncio.Task[None] | None = None

    def run(self, dispatch: Dispatch) -> asyncio.Task[None]:
        """Start a turn as a task; it never fails."""
        self._task = self._agent.spawn(self.turn(dispatch), f"turn of {self.name}")
        return self._task

    def abort(self, why: str) -> None:
        """Cancel the running turn."""
        self._why = why
        if self._task is not None:
            self._task.cancel()

    async def ended(self) -> None:
        """Wait for the end of the turn that runs now."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def abandon(self) -> None:
        """Whatever still runs must not write any more (LOOP-102)."""
        self.context.closed = True

    async def turn(self, dispatch: Dispatch) -> None:
        """Run one turn from its first row to its last."""
        agent = self._agent
        self._effects = []
        status, reason = "completed", None
        agent.show(Happening("turn_started", self.name, {"event": dispatch.event_type}))
        try:
            self._begin(dispatch)
            await self._steps(dispatch)
        except asyncio.CancelledError:
            status, reason = "interrupted", self._why
        except Abandoned:
            return
        except (ModelError, AdfError) as error:
            status, reason = "failed", "turn_error"
            agent.log("error", "turn_failed", f"{self.name}: {error.message}", loop=self.name)
        except Exception as error:  # noqa: BLE001 - a fault of ours ends the turn, not the agent
            status, reason = "failed", "turn_error"
            agent.log("error", "turn_failed", f"{self.name}: {type(error).__name__}: {error}", loop=self.name)
            self.context.drop()  # what was rolled back must not stay in memory
        if not self.context.closed:
            agent.store.checkpoints.end(self.name, status, reason)
        agent.show(Happening("turn_ended", self.name, {"status": status, "reason": reason}))

    def _begin(self, dispatch: Dispatch) -> None:
        """Write that a turn runs, and what it is about, in one step (LOOP-270, LOOP-245)."""
        self.context.session()
        with self._agent.store.transaction() if dispatch.text is not None else nullcontext():
            self._agent.store.checkpoints.begin(self.name, secrets.token_hex(8), dispatch.event_type)
            if dispatch.text is not None:
                self.context.say(dispatch.text)
        if dispatch.held is not None:
            self.context.release(dispatch.held)

    async def _steps(self, dispatch: Dispatch) -> None:
        if dispatch.event_type in NEEDS_NEWS and not self._has_news():
            return
        effective = self._agent.effective(self.name)
        limit = section(effective, "limits").get("max_active_turns")
        state = Turn(effective.get("autonomous") is True, limit if isinstance(limit, int) and limit > 0 else None)
        command: machine.Command = machine.Measure()
        while not isinstance(command, machine.End):
            state, command = state.step(await self._carry_out(command))
        self._end(command, state)

    def _has_news(self) -> bool:
        """Whether there is anything that no request has held: a wake may have been read in the turn before."""
        session = self.context.session()
        return bool(session.unread) or any(not entry.held for entry in session.waiting)

    async def _carry_out(self, command: machine.Command) -> machine.Event:
        match command:
            case machine.Measure(remind):
                if remind:
                    self.context.say(REMINDER)
                return self.asking.measure()
            case machine.Ask(nudge):
                if nudge:
                    self._nudge()
                self._calls = await self.asking.ask()
                return machine.Answered(len(self._calls))
            case machine.RunTools():
                return await self._run_tools()
            case machine.Compact(trigger):
                return machine.Compacted(await self._compact(trigger))
            case _:  # pragma: no cover - the end is not carried out
                raise AssertionError(command)

    def _nudge(self) -> None:
        """Warn that the history will be condensed (CMP-005)."""
        self.context.session().nudged = True
        self.context.say(NUDGE.format(size=self.context.size or 0, threshold=self.asking.limit()))

    async def _compact(self, trigger: machine.Trigger) -> bool:
        wishes = [effect.instructions for effect in self._effects if isinstance(effect, Compact)]
        self._effects = [effect for effect in self._effects if not isinstance(effect, Compact)]
        return await compact(self._agent, self.context, self.asking, trigger, "\n".join(filter(None, wishes)))

    async def _run_tools(self) -> machine.Event:
        """Run the calls of an answer in order; their results are one row, also if the turn is aborted (ROW-006)."""
        results: list[Block] = []
        try:
            for call in self._calls:
                results.append(await self._run_tool(call))  # noqa: PERF401 - those before a fault count
        except BaseException:
            done = {result["tool_use_id"] for result in results}
            lost = [result_block(call["id"], LOST, is_error=True) for call in self._calls if call["id"] not in done]
            if not self.context.closed:
                self.context.append("user", [*results, *lost], read=True)
            raise
        self.context.append("user", results, read=True)
        ends = [effect for effect in self._effects if isinstance(effect, EndTurn)]
        return machine.ToolsDone(ends=bool(ends), compacts=any(isinstance(effect, Compact) for effect in self._effects))

    async def _run_tool(self, block: Block) -> Block:
        agent = self._agent
        call = Call(str(block["id"]), str(block.get("name", "")), block.get("input") or {}, self.name)
        agent.show(Happening("tool_called", self.name, {"tool": call.name, "input": call.input}))
        result = await checks.run(call, agent)
        if result.effect is not None and not result.is_error:
            self._effects.append(result.effect)
        agent.show(
            Happening("tool_done", self.name, {"tool": call.name, "failed": result.is_error, "content": result.content})
        )
        if self.name == MAIN:
            agent.emit(Event("tool_call", {"tool": call.name, "failed": result.is_error}, self.name))
        return result_block(call.id, self._bounded(result.content), is_error=result.is_error)

    def _bounded(self, content: str) -> str:
        """Cut a result that is too long, and say so."""
        most = section(self._agent.config, "limits").get("max_tool_result_tokens")
        limit = CHARS_PER_TOKEN * (most if isinstance(most, int) and most > 0 else 16_000)
        if len(content) <= limit:
            return content
        return f"{cut(content, limit)}\n[cut: this result has {len(content):,} characters, {limit:,} are shown]"

    def _end(self, command: machine.End, state: Turn) -> None:
        agent = self._agent
        if command.broken:
            message = f"{self.name} answered {state.narrations} times without a tool call; its turn was ended"
            agent.log("warn", "narration_loop_break", message, origin="executor", loop=self.name, target=self.name)
        if command.suspend:
            message = f"{self.name} has made {state.steps} model calls in one turn, which is the limit"
            agent.log("warn", "active_turns_limit", message, origin="executor", loop=self.name, target=self.name)
            self._set_state("suspended")
        for effect in self._effects:
            if isinstance(effect, EndTurn):
                self._set_state(effect.state)

    def _set_state(self, state: str) -> None:
        """`main` speaks for the agent, a loop for itself alone (LOOP-214)."""
        if self.name == MAIN:
            self._agent.set_state_after_turn(state)
        elif state in ("off", "suspended"):
            self.deaf = state
