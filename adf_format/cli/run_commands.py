"""What the owner can do in a conversation besides talking: `/loops`, `/compact`, …"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from adf_format.clearing.slices import Slice
from adf_format.cli.history import moment
from adf_format.errors import AdfError
from adf_format.loops import MAIN, Refused
from adf_format.runtime.compacting import compact
from adf_format.runtime.settings.guard import STATES
from adf_format.terminal import table, visible

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

SHOWN = 20
HELP = (
    ("TEXT", "say something to main"),
    ("@LOOP TEXT", "say something to another loop"),
    ("/loops", "the loops, and what they are doing"),
    ("/inbox", "the newest messages of the agent's inbox"),
    ("/timers", "what will wake it"),
    ("/compact [LOOP] [WISHES]", "put a summary in the place of a history"),
    ("/clear [LOOP] [A:B]", "delete a history or a slice of it; /clear! even where nothing is archived"),
    ("/state STATE", f"set the state: {', '.join(STATES)}"),
    ("/quit", "stop the agent and leave"),
)


async def perform(agent: Agent, line: str) -> list[str] | None:
    """Do what a line with a command says; gives what to show, None to leave.

    :raises Refused: it cannot be done
    """
    name, *arguments = line.split()
    if name in {"/quit", "/exit", "/q"}:
        return None
    command = COMMANDS.get(name)
    if command is None:
        raise Refused(f"no command {name[:40]}; /help lists them")
    try:
        return await command(agent, arguments)
    except AdfError as error:
        raise Refused(error.message) from error


async def _help(_agent: Agent, _arguments: list[str]) -> list[str]:
    return table(list(HELP))


async def _loops(agent: Agent, _arguments: list[str]) -> list[str]:
    rows = [
        (visible(loop["name"]), loop["status"] if loop["enabled"] else "disabled", _line(str(loop["goal"])))
        for loop in agent.roster()
    ]
    return table(rows)


async def _inbox(agent: Agent, _arguments: list[str]) -> list[str]:
    rows, total = agent.store.messages.find("inbox", {}, limit=SHOWN)
    lines = [
        (row["id"], row["status"], moment(row["received_at"]), _line(str(row["from"])), _line(str(row["content"])))
        for row in rows
    ]
    more = [f"{total - len(rows)} older ones are not shown"] if total > len(rows) else []
    return [*table([tuple(map(visible, line)) for line in lines]), *more] if lines else ["the inbox is empty"]


async def _timers(agent: Agent, _arguments: list[str]) -> list[str]:
    waiting = agent.store.timers.waiting()
    lines = [
        (str(timer.id), moment(timer.next_wake_at), timer.loop or MAIN, _line(timer.payload or "")) for timer in waiting
    ]
    return table([tuple(map(visible, line)) for line in lines]) if lines else ["no timer is set"]


async def _compact(agent: Agent, arguments: list[str]) -> list[str]:
    loop, wishes = _addressed(agent, arguments)
    if agent.pool.machine.is_busy(loop):
        raise Refused(f"{loop} is in a turn; wait for its end")
    executor = agent.pool.loop(loop)
    done = await compact(agent, executor.context, executor.asking, "auto", " ".join(wishes))
    return [] if done else [f"{visible(loop)}: nothing was compacted"]


async def _clear(agent: Agent, arguments: list[str], *, force: bool = False) -> list[str]:
    loop, rest = _addressed(agent, arguments)
    part = Slice.parse(rest[0]) if rest else Slice()
    if not force and not agent.store.audit.policy()["loop"]:
        raise Refused("nothing is archived, so it would be gone for good; /clear! does it")
    await agent.pool.interrupt(loop)
    await agent.clear(loop, part.start, part.end)
    return []


async def _clear_now(agent: Agent, arguments: list[str]) -> list[str]:
    return await _clear(agent, arguments, force=True)


async def _state(agent: Agent, arguments: list[str]) -> list[str]:
    if not arguments:
        return [f"the agent is {visible(agent.state)}"]
    if arguments[0] not in STATES:
        raise Refused(f"a state is one of {', '.join(STATES)}")
    agent.set_state(arguments[0])
    return []


def _addressed(agent: Agent, arguments: list[str]) -> tuple[str, list[str]]:
    """Take a loop off the front of the arguments; `main` if there is none."""
    if arguments and arguments[0] in {MAIN, *agent.declared()}:
        return arguments[0], arguments[1:]
    return MAIN, arguments


def _line(text: str) -> str:
    line = " ".join(text.split())
    return visible(line if len(line) <= 80 else f"{line[:80]}…")


COMMANDS: dict[str, Callable[[Agent, list[str]], Awaitable[list[str]]]] = {
    "/help": _help,
    "/loops": _loops,
    "/inbox": _inbox,
    "/timers": _timers,
    "/compact": _compact,
    "/clear": _clear,
    "/clear!": _clear_now,
    "/state": _state,
}
