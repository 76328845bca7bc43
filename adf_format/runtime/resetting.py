"""Clearing parts of a running agent, as its owner does (CLS-001 to CLS-004)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import MAIN, Refused
from adf_format.runtime.ports import Event

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

MIND = "mind.md"
DOCUMENT = "README.md"
PARTS = ("loop", "mind", "inbox", "all")


async def reset(agent: Agent, what: str, loop: str = MAIN) -> None:
    """Clear a transcript, the working memory, the inbox, or everything with the document and every loop.

    A turn that runs is aborted first. What the configuration says must be archived is.

    :raises Refused: no such loop, or no such part
    """
    names = [MAIN, *agent.declared()]
    if what not in PARTS or loop not in names:
        raise Refused(f"there is no {what} of {loop} to clear")
    if what in ("loop", "all"):
        for name in names if what == "all" else [loop]:
            await agent.pool.interrupt(name)
            await agent.clear(name)
    if what in ("mind", "all"):
        _empty(agent, MIND)
    if what == "all":
        _empty(agent, DOCUMENT)
    if what in ("inbox", "all"):
        agent.store.connection.execute("DELETE FROM adf_inbox")


def _empty(agent: Agent, path: str) -> None:
    """Empty a file; its protection stays, and prompts that hold it are made anew (MEM-153)."""
    sql = "UPDATE adf_files SET content = x'', size = 0, updated_at = ? WHERE path = ?"
    agent.store.connection.execute(sql, (agent.store.iso(), path))
    for loop in agent.pool.active():
        loop.context.forget(())
    agent.emit(Event("file_change", {"path": path, "change": "written", "by_agent": False}))
