"""`ask`: ask the owner a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import MAIN, Refused
from adf_format.runtime.tools.inputs import inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Ask, and wait for the answer. An inner loop has no human to ask (LOOP-056)."""
    if call.loop != MAIN:
        raise Refused("a loop has nobody to ask: send the question to `main`")
    return ToolResult(await host.owner.ask(loop=call.loop, question=call.input["question"]))


TOOL = Tool(
    "ask",
    "Ask the owner a question and wait for the answer.",
    inputs("question", question=text("The question.", least=1, most=48_000)),
    run,
)
