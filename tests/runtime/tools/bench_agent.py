"""An agent with every tool enabled, for tests of tools that need no model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from runtime.world import World, config_with

from adf_format.config.loops import PROHIBITED_TOOLS
from adf_format.runtime.attachments import attachments
from adf_format.runtime.tools import checks
from adf_format.runtime.tools.protocol import Call, ToolResult
from adf_format.runtime.tools.registry import NAMES

GARDENER = {
    "name": "gardener",
    "goal": "Water the plants.",
    "tools": [name for name in NAMES if name not in PROHIBITED_TOOLS],
}


class Table(World):
    """A world whose tools are called directly."""

    async def call(self, tool: str, given: Any = None, loop: str = "main") -> ToolResult:
        """Call a tool as a loop would."""
        return await checks.run(Call("call_1", tool, {} if given is None else given, loop), self.agent)

    async def ok(self, tool: str, given: Any = None, loop: str = "main") -> str:
        """Call a tool that must succeed."""
        result = await self.call(tool, given, loop)
        assert not result.is_error, result.content
        return result.content

    async def json(self, tool: str, given: Any = None, loop: str = "main") -> Any:
        """Call a tool that must succeed with JSON."""
        return json.loads(await self.ok(tool, given, loop))

    async def refused(self, tool: str, given: Any = None, loop: str = "main") -> str:
        """Call a tool that must refuse; nothing in the file may change but logs and tasks."""
        before = self.state()
        result = await self.call(tool, given, loop)
        assert result.is_error, result.content
        assert self.state() == before, "a refusal changed something"
        return result.content

    def sql(self, text: str, *bindings: Any) -> list[tuple[Any, ...]]:
        """Look into the file."""
        return self.agent.store.connection.execute(text, bindings).fetchall()

    def state(self) -> list[Any]:
        """Everything that a refused call must leave alone."""
        tables = ("adf_config", "adf_meta", "adf_files", "adf_timers", "adf_inbox", "adf_outbox", "adf_audit")
        return [self.sql(f"SELECT * FROM {table}") for table in tables]

    def tasks(self) -> list[tuple[Any, ...]]:
        """`(tool, status, result, error, approval_meta)` of tasks."""
        return self.sql("SELECT tool, status, result, error, approval_meta FROM adf_tasks ORDER BY rowid")


def table(
    path: Path, scenario: Callable[[Table], Awaitable[None]], *loops: Any, approves: bool = True, **changes: Any
) -> None:
    """Run a scenario on an agent that holds every tool; its file must be valid afterwards."""
    changes = {"triggers": {"on_inbox": {"enabled": False, "targets": []}}, **changes}
    config = config_with(*(loops or (GARDENER,)), on=NAMES, **changes)
    for tool in config["tools"]:
        tool.pop("restricted", None)

    async def run() -> None:
        async with Table(path / "agent.adf", config, attachments=attachments()) as world:
            world.owner.approves = approves
            await scenario(world)
            await world.quiet()

    asyncio.run(run())
