"""`loop_send`: a message from this loop to another."""

from __future__ import annotations

from adf_format.runtime.core.delivery import DISABLED, Delivery
from adf_format.runtime.host import Host
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

MAX_CHARS = 48_000


async def run(call: Call, host: Host) -> ToolResult:
    """Send; the row is written before this returns (LOOP-150)."""
    target, wake = call.input["to_loop"], call.input.get("wake", False)
    delivery = host.send(call.loop, target, call.input["content"], wake=wake)
    start = f"Sent to `{target}`, stamped [from loop:{call.loop}]."
    return ToolResult(f"{start} {_told(delivery, target, wake=wake)}")


def _told(delivery: Delivery, target: str, *, wake: bool) -> str:
    """Say when it is read, and promise nothing else (LOOP-199)."""
    if delivery.woke:
        return "It is running a turn now."
    if delivery.reason == DISABLED:
        return f"`{target}` is DISABLED: it reads this only if it is re-enabled."
    if wake:
        return f"It was not woken: {delivery.reason}."
    return "It will be read on its next run."


TOOL = Tool(
    name="loop_send",
    description=(
        "Send a message to another loop of this agent, or to `main`. It is written to that loop's history, stamped "
        "with your name. With `wake` an idle loop runs a turn for it now, and a busy one reads it at its next step."
    ),
    input_schema={
        "type": "object",
        "required": ["to_loop", "content"],
        "properties": {
            "to_loop": {"type": "string", "minLength": 1, "description": "Name of the loop, or `main`."},
            "content": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_CHARS,
                "description": "What it reads.",
            },
            "wake": {"type": "boolean", "default": False, "description": "Have it read now, not when it next runs."},
        },
    },
    run=run,
)
