"""What an agent does when it is opened, before anything runs: old files, and what a crash left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.config.access import entries
from adf_format.loops import MAIN, problems
from adf_format.runtime.core.content import text_block

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

BACKFILLED = "adf_loop_tools_backfilled"
GRANDFATHERED = ("loop_send", "loop_list")
NOTICE = (
    "[System notice: the last session ended in the middle of a turn ({reason}). What it had done up to then is in your "
    "history; it was not run again.]"
)


def grandfather(agent: Agent) -> None:
    """Give loops from before the allow-list was absolute the two tools they always had, once per file (LOOP-023)."""
    if agent.store.meta.get(BACKFILLED) is not None:
        return
    config = agent.store.config.read()
    changed = False
    for _, loop in entries(config, "loops"):
        tools = loop.get("tools")
        named = list(tools) if isinstance(tools, list) else []
        missing = [name for name in GRANDFATHERED if name not in named]
        if missing:
            loop["tools"] = [*named, *missing]
            changed = True
    with agent.store.transaction():
        agent.store.meta.set(BACKFILLED, "1", "none")
        if changed:
            agent.store.config.write(config)
    if changed:
        agent.reload_quietly()


async def recover(agent: Agent) -> None:
    """Finish what a crash interrupted (LOOP-132, LOOP-271), and say what is wrong with the configuration (LOOP-019)."""
    await agent.pool.teardown.orphans()
    known = {MAIN, *agent.declared()}
    for loop, malformed in agent.store.checkpoints.stale():
        if loop in known:
            _interrupted(agent, loop, malformed=malformed)
        else:
            agent.store.checkpoints.drop(loop)
    _validate(agent)


def _interrupted(agent: Agent, loop: str, *, malformed: bool) -> None:
    """Note that a turn was cut off; it is never run again (ROW-031)."""
    with agent.store.transaction():
        agent.store.checkpoints.recover(loop, malformed=malformed)
        reason = "its record cannot be read" if malformed else "a crash or a kill"
        agent.store.transcript.append(loop, "user", [text_block(NOTICE.format(reason=reason))])
        message = f"{loop}: a turn was interrupted when the agent last stopped; it is not run again"
        agent.log("warn", "turn_checkpoint_recovered", message, loop=loop)


def _validate(agent: Agent) -> None:
    found = []
    names: set[str] = set()
    for index, loop in entries(agent.config, "loops"):
        found += [f"/loops/{index}{problem}" for problem in problems(loop)]
        name = loop.get("name")
        if isinstance(name, str):
            if name.lower() in names:
                found.append(f"/loops/{index}/name: a loop of this name is declared before")
            names.add(name.lower())
        if name == MAIN:
            message = "a declared loop called main is ignored: main always exists"
            agent.log("error", "loop_start_failed", message, origin="loop", target=MAIN)
    if found:
        told = "; ".join(found[:5]) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
        agent.log("warn", "config_validation", f"the configuration is loaded although it is not valid: {told}")
