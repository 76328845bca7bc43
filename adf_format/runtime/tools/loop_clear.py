"""`loop_clear`: deletes entries of the caller's own history."""

from __future__ import annotations

from adf_format.runtime.host import Host
from adf_format.runtime.tools.protocol import Call, Cleared, Tool, ToolResult


async def run(call: Call, host: Host) -> ToolResult:
    """Clear a slice (LCL): exactly the slice, whatever other runtimes do after it (BUG-01)."""
    deleted, audited = await host.clear(call.loop, call.input.get("start"), call.input.get("end"))
    if not deleted:
        return ToolResult("No entries are in that range; nothing was deleted.")
    kept = " They are in the audit log." if audited else " They were not archived."
    return ToolResult(f"Deleted {deleted} {'entry' if deleted == 1 else 'entries'}.{kept}", effect=Cleared())


TOOL = Tool(
    name="loop_clear",
    description=(
        "Delete entries of your own history, chosen like a Python slice: `end: 5` the first five, `start: -10` the "
        "last ten, neither all of them."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "start": {"type": "integer", "description": "First entry; negative counts from the end."},
            "end": {"type": "integer", "description": "Entry behind the last; negative counts from the end."},
        },
    },
    run=run,
)
