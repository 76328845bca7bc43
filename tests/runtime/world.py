"""A world for one agent under test: a model that the test answers, an owner that says yes, a clock that stands still.

Everything runs in one event loop; `asyncio.run` per test. Nothing waits for time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import apsw

from adf_format import creation
from adf_format.audit import Blob, decompress_all
from adf_format.config.fresh import defaults, merge
from adf_format.jsontext import decode
from adf_format.models import Completion, ModelChoice, ModelError, Purpose, Usage
from adf_format.runtime.agent import Agent
from adf_format.runtime.clock import VirtualClock
from adf_format.runtime.core.messages import is_valid
from adf_format.runtime.ports import Happening
from adf_format.schemas import LATEST
from adf_format.validation.engine import validate_file

STEPS = 400
"""Rounds of the event loop after which something that should have happened will not."""


Scene = Callable[["World"], Awaitable[None]]


def played(config: Mapping[str, Any] | None = None, **options: Any) -> Callable[[Scene], Callable[[Path], None]]:
    """Turn a scene into a test: it is played in a world of its own, whose file is validated."""

    def decorate(scene: Scene) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            async def play() -> None:
                async with World(tmp_path / "a.adf", config, **options) as world:
                    await scene(world)

            asyncio.run(play())

        test.__name__, test.__doc__ = scene.__name__, scene.__doc__
        return test

    return decorate


@dataclass
class Asked:
    """An open model call."""

    purpose: Purpose
    loop: str
    system: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    model: ModelChoice
    reply: asyncio.Future[Completion] = field(repr=False)
    cancelled: bool = False

    def text(self) -> str:
        """Everything the model reads, results included."""
        return "\n".join(
            str(block.get("text", block.get("content", "")))
            for message in self.messages
            for block in message["content"]
        )

    def tool_names(self) -> set[str]:
        """Names of the tools offered."""
        return {tool["name"] for tool in self.tools}


class HeldModel:
    """A model that answers when the test says so."""

    def __init__(self) -> None:
        self.open: list[Asked] = []
        self.log: list[Asked] = []

    async def complete(self, **request: Any) -> Completion:
        """Hold a call open."""
        asked = Asked(reply=asyncio.get_running_loop().create_future(), **request)
        assert is_valid(asked.messages), asked.messages
        assert not any(other.loop == asked.loop for other in self.open), f"two calls of {asked.loop} at once"
        self.open.append(asked)
        self.log.append(asked)
        try:
            return await asked.reply
        except asyncio.CancelledError:
            asked.cancelled = True
            raise
        finally:
            self.open.remove(asked)


class YesOwner:
    """An owner who agrees; :ivar asked: what was asked."""

    def __init__(self, *, approves: bool = True) -> None:
        self.approves = approves
        self.asked: list[tuple[str, str]] = []

    async def approve(self, *, loop: str, tool: str, given: Mapping[str, Any], reason: str) -> bool:  # noqa: ARG002
        """Approve, or not."""
        self.asked.append((loop, tool))
        return self.approves

    async def ask(self, *, loop: str, question: str) -> str:  # noqa: ARG002
        """Answer."""
        return "yes"

    async def say(self, *, loop: str, text: str) -> None:
        """Hear."""


def config_with(*loops: Mapping[str, Any], on: Sequence[str] = (), **changes: Any) -> dict[str, Any]:
    """Configuration of an agent whose model is `suite`, with some tools enabled besides the default ones."""
    tools = defaults(LATEST)["tools"]
    for tool in tools:
        if tool["name"] in on:
            tool |= {"enabled": True, "visible": True}
    base: dict[str, Any] = {
        "instructions": "INSTRUCTIONS of the agent.",
        "model": {"provider": "suite", "model_id": "m"},
        "tools": tools,
    }
    if loops:
        base["loops"] = [{"goal": f"Goal of {loop['name']}.", "enabled": True, **loop} for loop in loops]
    return merge(base, changes)


class World:
    """One agent."""

    def __init__(
        self, path: Path, config: Mapping[str, Any] | None = None, *, fresh: bool = True, **options: Any
    ) -> None:
        self.path = path
        self.model = HeldModel()
        self.owner = YesOwner()
        self.clock = VirtualClock()
        self.happenings: list[Happening] = []
        self.checks_turns = True
        self.options = {"sink": self._watch, "can_build": lambda provider: provider == "suite", **options}
        if fresh:
            creation.new(path, name="agent", config=dict(config or config_with()))
        self.agent = self._agent()
        if fresh:
            self.agent.store.meta.set("adf_loop_tools_backfilled", "1", "none")

    def _agent(self) -> Agent:
        return Agent(self.path, model=self.model, owner=self.owner, clock=self.clock, **self.options)

    async def __aenter__(self) -> Self:
        await self.agent.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.agent.stop()
        if error[0] is None:
            self.validate()

    def validate(self, path: Path | None = None) -> None:
        """Demand that the file has no error."""
        report = validate_file(path or self.path)
        errors = [finding for finding in report.findings if finding.severity.name == "ERROR"]
        assert not errors, errors
        assert report.valid, report.error

    async def restart(self) -> None:
        """Stop cleanly and start again."""
        await self.agent.stop()
        self.validate()
        self.agent = self._agent()
        await self.agent.start()

    def validate_copy(self) -> None:
        """Demand the same of the file as it is now, while the agent runs."""
        copy = self.path.with_suffix(".copy")
        copy.unlink(missing_ok=True)
        target = apsw.Connection(str(copy))
        with target.backup("main", self.agent.store.connection, "main") as backup:
            backup.step(-1)
        target.close()
        self.validate(copy)

    def _watch(self, happening: Happening) -> None:
        self.happenings.append(happening)
        if happening.kind == "turn_ended" and self.checks_turns:
            self.validate_copy()

    # the model

    async def turn_of_events(self) -> None:
        """Let everything happen that can happen without an answer."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def asked(self, loop: str = "main", purpose: str = "turn") -> Asked:
        """Wait for a model call."""
        for _ in range(STEPS):
            for call in self.model.open:
                if call.loop == loop and call.purpose == purpose and not call.reply.done():
                    return call
            await asyncio.sleep(0.001)
        raise AssertionError(f"no call of {loop} ({purpose}); open: {self.model.open}; logs: {self.logs()}")

    async def answer(
        self, loop: str = "main", text: str = "Done.", *, calls: Sequence[tuple[str, Any]] = (), usage: Any = None,
        purpose: str = "turn",
    ) -> Asked:  # fmt: skip
        """Answer the open call of a loop."""
        asked = await self.asked(loop, purpose)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        for index, (name, given) in enumerate(calls):
            identity = f"c{len(self.model.log)}_{index}"
            blocks.append({"type": "tool_use", "id": identity, "name": name, "input": given})
        counted = Usage(*usage) if usage else Usage(100, 10)
        asked.reply.set_result(Completion(blocks, "tool_use" if calls else "end_turn", counted))
        while asked in self.model.open:
            await asyncio.sleep(0)
        return asked

    async def fail(self, loop: str = "main", *, transient: bool = False, purpose: str = "turn") -> Asked:
        """Let the open call of a loop fail."""
        asked = await self.asked(loop, purpose)
        asked.reply.set_exception(ModelError("it failed", transient=transient))
        while asked in self.model.open:
            await asyncio.sleep(0)
        return asked

    async def use(self, tool: str, given: Any, loop: str = "main") -> str:
        """Make a loop's turn call a tool; gives the result as the next request shows it."""
        await self.answer(loop, "", calls=[(tool, given)])
        asked = await self.asked(loop)
        results = [block for block in asked.messages[-1]["content"] if block.get("type") == "tool_result"]
        if not results:
            results = [b for m in asked.messages for b in m["content"] if b.get("type") == "tool_result"]
        return str(results[-1]["content"])

    async def chat(self, text: str = "Hello.", loop: str = "main") -> Asked:
        """Speak as the owner, and wait for the call."""
        self.agent.chat(text, loop)
        return await self.asked(loop)

    async def quiet(self) -> None:
        """Wait until nothing runs."""
        assert await self.agent.idle(2.0), self.model.open

    # the file

    def rows(self, loop: str = "main") -> list[tuple[int, str, str]]:
        """`(seq, role, text)` of a stream, context rows left out."""
        found = []
        for row in self.agent.store.transcript.rows(loop):
            blocks = row.blocks or ()
            text = " ".join(str(b.get("text") or b.get("content") or b.get("name") or "") for b in blocks)
            if not text.startswith("[Context: system_prompt]"):
                found.append((row.seq, row.role, text))
        return found

    def texts(self, loop: str = "main") -> list[str]:
        """Texts of a stream."""
        return [text for _, _, text in self.rows(loop)]

    def logs(self, event: str | None = None) -> list[tuple[str, ...]]:
        """`(level, origin, event, target, message)` of log rows."""
        sql = "SELECT level, origin, event, target, message FROM adf_logs WHERE ?1 IS NULL OR event = ?1 ORDER BY id"
        return list(self.agent.store.connection.execute(sql, (event,)))

    def audits(self) -> list[tuple[str, int, int, int, list[Any]]]:
        """`(source, start, end, count, entries)` of snapshots."""
        connection = self.agent.store.connection
        sql = "SELECT id, source, start_seq, end_seq, entry_count FROM adf_audit ORDER BY id"
        found = []
        for rowid, *facts in connection.execute(sql).fetchall():
            text = decompress_all(Blob(connection, "adf_audit", "data", rowid), limit_bytes=1 << 26)
            found.append((*facts, decode(text).value))
        return found

    def loop(self, name: str) -> dict[str, Any] | None:
        """The declaration of a loop as stored."""
        return next((one for one in self.agent.store.config.read().get("loops", []) if one["name"] == name), None)
