"""`say`: tell the owner something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime.tools.inputs import inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Say it; nobody waits for an answer."""
    await host.owner.say(loop=call.loop, text=call.input["text"])
    return ToolResult("said")


TOOL = Tool(
    "say",
    "Tell the owner something in the middle of your work, without waiting for an answer.",
    inputs("text", text=text("What to say.", least=1, most=48_000)),
    run,
)
