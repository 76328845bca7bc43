"""One message to an agent, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adf_format.cli.options import Output
from adf_format.cli.run_text import RunText
from adf_format.errors import EXIT_OK, EXIT_UNREADABLE, UsageError
from adf_format.loops import Refused
from adf_format.models import Model
from adf_format.runtime.agent import Agent
from adf_format.runtime.attachments import attachments
from adf_format.runtime.ports import Happening
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:run:1"


class AbsentOwner:
    """An owner who has said everything beforehand.

    :param approves: what is said to every question for an approval
    """

    def __init__(self, note: Any, *, approves: bool) -> None:
        self._note = note
        self._approves = approves

    async def approve(self, *, loop: str, tool: str, given: Mapping[str, Any], reason: str) -> bool:  # noqa: ARG002
        """Say what was decided beforehand."""
        told = "approved (--yes)" if self._approves else "denied: nobody is there to ask; --yes approves"
        self._note(visible(f"? {loop}: {tool} ({reason}) {told}"))
        return self._approves

    async def ask(self, *, loop: str, question: str) -> str:
        """Nobody is there."""
        self._note(visible(f"? {loop}: {question}"))
        return "(the owner is not there to answer)"

    async def say(self, *, loop: str, text: str) -> None:
        """Pass it on."""
        self._note(visible(f"{loop} says: {text}", lines=True))


class Record:
    """What happened, as the result tells it."""

    def __init__(self, loop: str, text: RunText, note: Any) -> None:
        self._loop, self._text, self._note = loop, text, note
        self.answers: list[str] = []
        self.status = "completed"
        self.errors: list[str] = []
        self.tools: list[dict[str, Any]] = []
        self.usage = {"input": 0, "output": 0}
        self.compactions = 0

    def see(self, happening: Happening) -> None:
        """Take note of one happening."""
        data = happening.data
        match happening.kind:
            case "row" if data["row"].role == "assistant":
                self._answered(happening.loop, data["row"])
            case "turn_ended" if happening.loop == self._loop:
                self.status = data["status"]
            case "tool_done":
                self.tools.append({"loop": happening.loop, "tool": data["tool"], "failed": data["failed"]})
            case "compacted":
                self.compactions += 1
            case "log" if data["level"] == "error":
                self.errors.append(str(data["message"]))
        for line in self._text.lines(happening):
            self._note(line)

    def _answered(self, loop: str, row: Any) -> None:
        for name in self.usage:
            self.usage[name] += int((row.tokens or {}).get(name, 0))
        if loop == self._loop:
            texts = (block.get("text", "") for block in row.blocks or () if block.get("type") == "text")
            self.answers.extend(text for text in texts if text.strip())


async def once(path: Path, model: Model, message: str, loop: str, *, approves: bool, out: Output) -> int:
    """Say one thing, wait until all is quiet, and show the answer.

    :raises UsageError: no such loop, or one that does not run
    """
    record = Record(loop, RunText(out.notes, show_answers=False), out.note)
    agent = Agent(
        path,
        model=model,
        owner=AbsentOwner(out.note, approves=approves),
        attachments=attachments(),
        sink=record.see,
    )
    try:
        await agent.start()
        try:
            agent.chat(message, loop)
        except Refused as refusal:
            raise UsageError(f"nobody hears this: {refusal}", path) from refusal
        await settled(agent)
    finally:
        await agent.stop()
    _show(path, loop, record, out)
    if record.status != "completed":
        why = record.errors[-1] if record.errors else record.status
        click.echo(f"adf-format: {visible(f'the turn of {loop} was {record.status}: {why}')}", err=True)
        return EXIT_UNREADABLE
    return EXIT_OK


async def settled(agent: Agent) -> None:
    """Wait until nothing runs and nothing waits for another try."""
    await agent.idle()
    while any(True for _ in agent.pool.machine.running()):
        await asyncio.sleep(0.05)
        await agent.idle()


def _show(path: Path, loop: str, record: Record, out: Output) -> None:
    if out.format == "human":
        for answer in record.answers:
            out.line(visible(answer, lines=True))
        return
    told = {"tools": record.tools, "compactions": record.compactions, "usage": record.usage, "errors": record.errors}
    document = {"$schema": SCHEMA, "file": str(path), "loop": loop, "status": record.status}
    out.json(document | {"answers": record.answers} | told)
