"""`loop_compact`: asks for the caller's own history to be condensed. It only signals; the turn does the work."""

from __future__ import annotations

from adf_format.runtime.host import Host
from adf_format.runtime.tools.protocol import Call, Compact, Tool, ToolResult


async def run(call: Call, host: Host) -> ToolResult:  # noqa: ARG001
    """Signal (CMP-007)."""
    effect = Compact(call.input.get("instructions", ""))
    return ToolResult("Your history is condensed after this step; you go on from the briefing.", effect=effect)


TOOL = Tool(
    name="loop_compact",
    description=(
        "Condense your own history: everything but this step is replaced by a briefing that another call writes. Save "
        "lasting knowledge to files first."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "instructions": {"type": "string", "description": "What the briefing should keep, in your words."},
        },
    },
    run=run,
)
