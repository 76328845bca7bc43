"""`sys_list_timers`: list timers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format import jsontext
from adf_format.errors import JsonTextError
from adf_format.loops import MAIN
from adf_format.runtime.timers.model import Timer
from adf_format.runtime.tools.inputs import answer, inputs
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """`main` sees all timers, an inner loop its own (LOOP-240)."""
    every = host.store.timers.every()
    return answer([_shown(timer) for timer in every if visible_to(call.loop, timer)])


def visible_to(loop: str, timer: Timer) -> bool:
    """Whether a loop may know of a timer, and delete it."""
    return loop in {MAIN, timer.loop}


def _shown(timer: Timer) -> dict[str, Any]:
    about = {
        "id": timer.id,
        "schedule": _decoded(timer.schedule_json),
        "next_wake_at": None if timer.expired else timer.next_wake_at,
        "scope": list(timer.scope),
        "loop": timer.loop or MAIN,
        "payload": timer.payload,
        "lambda": timer.lambda_,
        "run_count": timer.run_count,
        "last_fired_at": timer.last_fired_at,
        "locked": timer.locked,
        "expired": timer.expired,
    }
    return {key: value for key, value in about.items() if value is not None}


def _decoded(text: str) -> Any:
    try:
        return jsontext.decode_column(text).value
    except JsonTextError:
        return text


TOOL = Tool("sys_list_timers", "List your timers, with those that have fired for the last time.", inputs(), run)
