"""A conversation with a running agent: lines in, happenings out, the owner's decisions in between."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from adf_format.audit import javascript_json
from adf_format.cli import run_commands
from adf_format.cli.options import Output
from adf_format.cli.run_lines import Lines
from adf_format.cli.run_once import settled
from adf_format.cli.run_text import CUT, RunText
from adf_format.loops import MAIN, Refused
from adf_format.models import Model
from adf_format.runtime.agent import Agent
from adf_format.runtime.attachments import attachments
from adf_format.runtime.ports import Happening
from adf_format.terminal import visible

YES = frozenset({"y", "yes"})


class Session:
    """The owner at a terminal.

    :param approves: every approval is given unasked
    """

    def __init__(self, path: Path, model: Model, out: Output, stream: TextIO, *, approves: bool = False) -> None:
        self._out = out
        self._text = RunText(out.screen)
        self._lines = Lines(stream)
        self._patient = not stream.isatty()
        self._approves = approves
        self._questions: deque[asyncio.Future[str | None]] = deque()
        self._ended = False
        self._path = path
        self._model = model

    async def run(self) -> None:
        """Talk until the input ends or the owner quits; the agent is stopped cleanly whatever happens."""
        agent = Agent(self._path, model=self._model, owner=self, attachments=attachments(), sink=self._see)
        try:
            state = await agent.start()
            name, loops = agent.config.get("name", "the agent"), ", ".join([MAIN, *agent.declared()])
            self._say(visible(f"{name} is {state}; loops: {loops}. /help, /quit"))
            self._lines.start()
            await self._talk(agent)
        finally:
            self._lines.stop()
            await agent.stop()

    async def _talk(self, agent: Agent) -> None:
        while True:
            if self._patient:
                await self._quiet(agent)
            line = await self._lines.next()
            if line is None:
                break
            if self._questions:
                self._answer(line)
            elif line.strip() and not await self._understood(agent, line.strip()):
                return
        self._ended = True
        while self._questions:
            self._answer(None)
        await settled(agent)

    async def _quiet(self, agent: Agent) -> None:
        """Wait until the agent is done or has a question: what comes from a script is said in its order."""
        waiting = asyncio.ensure_future(settled(agent))
        try:
            while not waiting.done() and not self._questions:
                await asyncio.wait([waiting], timeout=0.02)
        finally:
            waiting.cancel()

    async def _understood(self, agent: Agent, line: str) -> bool:
        """Do what a line says; False: the owner quits."""
        if line.startswith("/"):
            try:
                told = await run_commands.perform(agent, line)
            except Refused as refusal:
                told = [f"! {visible(str(refusal))}"]
            if told is None:
                return False
            for text in told:
                self._say(text)
            return True
        loop, text = MAIN, line
        if line.startswith("@") and " " in line:
            loop, text = line[1:].split(" ", 1)
        try:
            agent.chat(text, loop)
        except Refused as refusal:
            self._say(f"! {visible(str(refusal))}")
        return True

    # the owner

    async def approve(self, *, loop: str, tool: str, given: Mapping[str, Any], reason: str) -> bool:
        """Ask, unless everything was approved beforehand."""
        shown = javascript_json(dict(given), exact=True)
        shown = shown if len(shown) <= CUT else f"{shown[:CUT]}… ({len(shown):,} characters)"
        question = visible(f"? {loop} wants to call {tool} {shown} ({reason}): approve? [y/N]")
        if self._approves:
            self._say(f"{question} y (--yes)")
            return True
        answer = await self._ask(question)
        return answer is not None and answer.strip().lower() in YES

    async def ask(self, *, loop: str, question: str) -> str:
        """Ask a question of the agent."""
        answer = await self._ask(visible(f"? {loop}: {question}", lines=True))
        return "(the owner has left)" if answer is None else answer

    async def say(self, *, loop: str, text: str) -> None:
        """Show what the agent says."""
        for line in self._text.speech(f"{loop} says", text, "blue"):
            self._say(line)

    async def _ask(self, question: str) -> str | None:
        self._say(question)
        if self._ended:
            return None
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._questions.append(answer)
        try:
            return await answer
        finally:
            if answer in self._questions:
                self._questions.remove(answer)

    def _answer(self, line: str | None) -> None:
        """Give a line to the oldest question; one that was withdrawn in this moment takes none."""
        question = self._questions.popleft()
        if not question.done():
            question.set_result(line)

    def _see(self, happening: Happening) -> None:
        for line in self._text.lines(happening):
            self._say(line)

    def _say(self, text: str) -> None:
        self._out.line(text)
        self._out.stream.flush()
