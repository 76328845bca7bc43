"""One model call of a turn: the request, the records of what it held, the answer as a row."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adf_format.loops import MAIN
from adf_format.loops.derive import find, threshold
from adf_format.memory.injection import context_block
from adf_format.models import Completion, ModelChoice, ModelError, Usage, estimate
from adf_format.models.recovery import RecoveryPolicy
from adf_format.runtime.context import Context
from adf_format.runtime.core.content import Block, text_block
from adf_format.runtime.core.messages import messages
from adf_format.runtime.core.session import Entry
from adf_format.runtime.core.turn import Measured
from adf_format.runtime.ports import Happening
from adf_format.runtime.prompts import dynamic_instructions, system_prompt

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent


@dataclass(frozen=True)
class Request:
    """What is sent.

    :ivar news: dynamic instructions, which stand at the end and are no part of the history
    """

    system: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    news: str | None

    def sent(self) -> list[Mapping[str, Any]]:
        """Return the messages with the news behind them."""
        news = [{"role": "user", "content": [text_block(self.news)]}] if self.news else []
        return [*self.messages, *news]

    def tokens(self) -> int:
        """Estimate the size of it all (CMP-006)."""
        tools = estimate.text(json.dumps(self.tools, ensure_ascii=False, default=str)) if self.tools else 0
        return estimate.text(self.system) + tools + estimate.messages(self.sent())


class Asking:
    """Asks the model for one loop.

    :ivar retrying: a call failed and waits for the clock
    """

    def __init__(self, agent: Agent, context: Context) -> None:
        self._agent = agent
        self._context = context
        self.loop = context.loop
        self.retrying = False
        self._built: tuple[tuple[Entry, ...], list[dict[str, Any]]] | None = None

    def limit(self) -> int:
        """Return the size at which this loop's history is compacted (LOOP-048)."""
        config = self._agent.config
        return threshold(config, None if self.loop == MAIN else find(config, self.loop))

    def measure(self) -> Measured:
        """Place what waits, and say how large everything is."""
        session = self._context.session()
        session.boundary()
        size = self._size()
        new = sum(entry.tokens for entry in session.since_answer())
        projected = max(size + new, sum(entry.tokens for entry in session.entries))
        return Measured(size, projected, self.limit(), empty=not self.messages(), nudged=session.nudged)

    def request(self) -> Request:
        """Build a request from the session as it is."""
        effective = self._agent.effective(self.loop)
        system = system_prompt(effective, self.loop, self._context.files())
        tools = self._agent.tools_of(self.loop)
        built = self.messages()
        unread = self._agent.unread() if self.loop == MAIN else 0
        news = dynamic_instructions(
            effective, self.loop, unread=unread, size=self._context.size or 0, threshold=self.limit()
        )
        return Request(system, built, tools, news)

    async def ask(self) -> list[Block]:
        """Ask until there is an answer, and record it. Gives its tool calls.

        :raises ModelError: it failed, and trying again is of no use
        """
        failed = 0
        while True:
            self._context.session().boundary()
            request = self.request()
            self._record(request)
            try:
                completion = await self._call(request)
            except ModelError as error:
                failed += 1
                policy = RecoveryPolicy.from_config(self._agent.config)
                delay = policy.delay_ms(failed, error)
                if delay is None:
                    raise
                await self._wait(delay, error)
                continue
            return self._take(completion, request)

    def _record(self, request: Request) -> None:
        """Write down what is sent besides the history, if it is new (ROW-020, ROW-021); from here on all is read."""
        session = self._context.session()
        held = (("system_prompt", request.system), ("dynamic_instructions", request.news))
        for category, text in held:
            if text and session.told.get(category) != text:
                session.told[category] = text
                self._context.record(context_block(category, text))
        session.sent()
        self._agent.pool.boundary(self.loop)

    async def _call(self, request: Request) -> Completion:
        self._agent.show(Happening("model_called", self.loop, {"purpose": "turn"}))
        return await self._agent.model.complete(
            purpose="turn",
            loop=self.loop,
            system=request.system,
            messages=request.sent(),
            tools=request.tools,
            model=self.choice(),
        )

    def choice(self) -> ModelChoice:
        """Return the model of this loop as it is configured now (LOOP-047)."""
        return ModelChoice.from_config(self._agent.effective(self.loop).get("model"))

    async def _wait(self, delay: int, error: ModelError) -> None:
        self._agent.log("warn", "model_retry", f"{error.message}; trying again in {delay} ms", loop=self.loop)
        self._agent.show(Happening("retrying", self.loop, {"delay_ms": delay, "error": error.message}))
        self.retrying = True
        self._agent.pulse()
        try:
            await self._agent.clock.sleep(delay)
        finally:
            self.retrying = False

    def _take(self, completion: Completion, request: Request) -> list[Block]:
        """Record an answer and what it cost, in one step."""
        blocks = sound(completion.content)
        usage = completion.usage
        if not usage.input and not usage.output:  # a provider that does not tell (CMP-003)
            usage = Usage(request.tokens(), estimate.messages([{"content": blocks}]))
        size = usage.input + usage.output
        with self._agent.store.transaction():
            self._context.append(
                "assistant", blocks, read=True, model=self.choice().model_id or None, tokens=usage.as_tokens()
            )
            self._agent.store.checkpoints.measure(self.loop, size, estimated=False)
        self._context.size = size
        return [block for block in blocks if block.get("type") == "tool_use"]

    def _size(self) -> int:
        """Return the size of the context: as recorded, else of the newest answer, else estimated (CMP-002)."""
        if self._context.size is None:
            store = self._agent.store
            recorded = store.checkpoints.baseline(self.loop)
            if recorded is None:
                recorded = store.transcript.usage(self.loop)
            self._context.size = self.estimated() if recorded is None else recorded
        return self._context.size

    def estimated(self) -> int:
        """Estimate the size of the history."""
        return sum(entry.tokens for entry in self._context.session().entries)

    def messages(self) -> list[dict[str, Any]]:
        """Return the history as it is sent; built once as long as nothing is added."""
        entries = tuple(self._context.session().entries)
        if self._built is None or self._built[0] != entries:
            self._built = (entries, messages(entries))
        return self._built[1]


def sound(content: Sequence[Block]) -> list[Block]:
    """Return an answer with an id on each call, and no id twice (BUG-18)."""
    seen: set[str] = set()
    blocks: list[Block] = []
    for block in content:
        made = dict(block)
        if made.get("type") == "tool_use":
            identity = made.get("id")
            if not isinstance(identity, str) or not identity or identity in seen:
                made["id"] = f"call_{secrets.token_hex(12)}"
            seen.add(made["id"])
        blocks.append(made)
    return blocks
