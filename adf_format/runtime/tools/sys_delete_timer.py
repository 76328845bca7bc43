"""`sys_delete_timer`: delete a timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.ports import Event
from adf_format.runtime.tools.inputs import inputs
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult
from adf_format.runtime.tools.sys_list_timers import visible_to

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Delete it, unless it is locked, which no path of an agent lifts, or another loop's (LOOP-240)."""
    number = int(call.input["id"])
    timer = host.store.timers.get(number)
    if timer is None or not visible_to(call.loop, timer):
        raise Refused(f"there is no timer {number}")
    if timer.locked:
        raise Refused(f"timer {number} is locked: only the owner can delete it")
    host.store.timers.delete(number)
    host.emit(Event("timer", {"deleted": number}, call.loop))
    return ToolResult(f"timer {number} is deleted")


TOOL = Tool(
    "sys_delete_timer",
    "Delete a timer.",
    inputs(
        "id", id={"type": ["integer", "string"], "pattern": "^[0-9]{1,18}$", "description": "Its number.", "minimum": 0}
    ),
    run,
)
