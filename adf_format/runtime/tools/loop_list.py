"""`loop_list`: which loops there are."""

from __future__ import annotations

import json

from adf_format.runtime.host import Host
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult


async def run(call: Call, host: Host) -> ToolResult:
    """Return the roster as JSON (LOOP-190)."""
    listed = [loop | {"is_you": loop["name"] == call.loop} for loop in host.roster()]
    return ToolResult(json.dumps({"you": call.loop, "loops": listed}, ensure_ascii=False))


TOOL = Tool(
    name="loop_list",
    description="List the loops of this agent: name, goal, whether each is enabled, whether it runs now, which is you.",
    input_schema={"type": "object", "properties": {}},
    run=run,
)
