"""`sys_set_timer`: be woken later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format.config.loops import declared
from adf_format.loops import MAIN, Refused
from adf_format.runtime.ports import Event
from adf_format.runtime.timers.schedule import Schedule, ScheduleError
from adf_format.runtime.tools.inputs import answer, choice, flag, inputs, listed, text, whole
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

_ASK_MAIN = "do the work in the turn that the timer starts, or ask `main` with loop_send"


async def run(call: Call, host: Host) -> ToolResult:
    """Add a timer; one of an inner loop is its own, whatever it asks for (LOOP-236)."""
    given = call.input
    loop = _of_main(given, host) if call.loop == MAIN else _of_loop(given, call.loop)
    try:
        schedule = Schedule.asked(given["schedule"], host.clock.now())
        first = schedule.first(host.clock.now())
    except ScheduleError as error:
        raise Refused(f"schedule: {error}") from error
    if first is None:
        raise Refused("schedule: it would never fire")
    timer = host.store.timers.add(
        schedule,
        first,
        given["scope"],
        loop=loop,
        payload=given.get("payload"),
        lambda_=given.get("lambda") or None,
        warm=given.get("warm", False),
        locked=given.get("locked", False),
    )
    host.emit(Event("timer", {"added": timer.id}, call.loop))
    return answer({"id": timer.id, "next_wake_at": timer.next_wake_at, "loop": timer.loop or MAIN})


def _of_main(given: Any, host: Host) -> str | None:
    """Return the loop that `main` names; `main` itself is no stamp (LOOP-237)."""
    loop = given.get("loop")
    if loop is None or loop == MAIN:
        return None
    names = [name for _, name, _ in declared(host.config)]
    if loop not in names:
        raise Refused(f"there is no loop {loop[:40]!r}; there are: {', '.join([MAIN, *names])}")
    return str(loop)


def _of_loop(given: Any, loop: str) -> str:
    """Return the calling loop, if it may have such a timer (LOOP-237, LOOP-239)."""
    if given.get("locked"):
        raise Refused(f"a loop cannot set a locked timer: {_ASK_MAIN}")
    if given.get("lambda"):
        raise Refused(f"a loop cannot set a timer that runs a lambda: {_ASK_MAIN}")
    if "loop" in given:
        raise Refused("a timer of a loop is its own: leave `loop` out")
    return loop


SCHEDULE = inputs(
    "type",
    type=choice("Kind of schedule.", "once", "delay", "interval", "cron"),
    at=whole("once: when, epoch milliseconds.", 1),
    delay_ms=whole("delay: in how many milliseconds.", 1),
    every_ms=whole("interval: milliseconds between firings.", 1),
    cron=text("cron: five fields, in UTC.", least=1, most=200),
    start_at=whole("interval: first firing, epoch milliseconds.", 1),
    end_at=whole("interval, cron: no firing after this.", 1),
    max_runs=whole("interval, cron: most firings.", 1),
)
TOOL = Tool(
    "sys_set_timer",
    "Be woken later, once or again and again. Scope `agent` wakes a loop with the payload; scope `system` runs the"
    " lambda.",
    inputs(
        "schedule",
        "scope",
        schedule=SCHEDULE | {"description": "When it fires."},
        scope=listed("`agent`, `system`, or both.", choice("A scope.", "agent", "system"), least=1, most=2),
        payload=text("What you are told when it fires.", most=48_000),
        **{"lambda": text("Code to run: `path/file.ts:function`.", most=500)},
        warm=flag("Whether the code is kept ready."),
        locked=flag("Whether only the owner can delete it."),
        loop=text("The loop that it wakes; `main` when left out.", least=1, most=64),
    ),
    run,
)
