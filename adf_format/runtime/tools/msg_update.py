"""`msg_update`: mark received messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.tools.inputs import choice, inputs, listed
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Set their status."""
    count = host.store.messages.mark(call.input["ids"], call.input["status"])
    if not count:
        raise Refused("there is no such message in the inbox")
    return ToolResult(f"{count} messages are {call.input['status']} now")


TOOL = Tool(
    "msg_update",
    "Mark received messages as read, unread or archived.",
    inputs(
        "ids",
        "status",
        ids=listed("Ids of the messages.", {"type": "string", "minLength": 1}, least=1, most=500),
        status=choice("Their new status.", "unread", "read", "archived"),
    ),
    run,
)
