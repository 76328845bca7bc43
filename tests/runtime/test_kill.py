"""kill -9 at every model boundary and at many instants of writing: what was durable is there, and goes on.

A child runs an agent through a life with everything in it, and is killed before its n-th model call or its n-th SQL
statement. It tells each row that it believes durable through a pipe, which survives it.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adf_format import creation
from adf_format.models import Completion, Usage
from adf_format.runtime.agent import Agent
from adf_format.runtime.clock import VirtualClock
from adf_format.runtime.ports import Happening

from .world import World, YesOwner, config_with

CONFIG = config_with(
    {"name": "a", "tools": ["loop_send"], "autostart": True},
    {"name": "b", "tools": ["loop_send"]},
    on=["loop_compact", "loop_clear"],
)
INSTANTS = int(os.environ.get("ADF_FORMAT_KILLS", "60"))  # 200 before a release
SHARDS = 4
CALLS: dict[str, list[list[tuple[str, Any]]]] = {
    "main": [
        [("loop_send", {"to_loop": "a", "content": "word-main-a", "wake": True})],
        [("loop_send", {"to_loop": "b", "content": "word-main-b"}), ("loop_list", {})],
        [("loop_compact", {"instructions": "x"})],
        [("loop_manage", {"action": "create", "config": {"name": "c", "goal": "g", "tools": []}})],
        [("loop_clear", {"start": 1, "end": 3})],
        [("loop_manage", {"action": "delete", "name": "c"})],
        [("loop_send", {"to_loop": "b", "content": "second-word-b", "wake": True})],
        [("loop_manage", {"action": "delete", "name": "b"})],
    ],
    "a": [[("loop_send", {"to_loop": "main", "content": "word-a-main", "wake": True})], [("loop_compact", {})]],
}


class Life:
    """A model that leads the agent through its life; :ivar before: called before each answer."""

    def __init__(self, before: Callable[[], None]) -> None:
        self.before = before
        self._next: Counter[str] = Counter()
        self._ids = 0

    async def complete(self, *, purpose: str, loop: str, **_: Any) -> Completion:
        """Answer from the script, then with words."""
        self.before()
        await asyncio.sleep(0)
        script = CALLS.get(loop, [])
        if purpose == "compaction" or self._next[loop] >= len(script):
            return Completion([{"type": "text", "text": "Done."}], "end_turn", Usage(10, 1))
        calls = script[self._next[loop]]
        self._next[loop] += 1
        blocks = []
        for name, given in calls:
            self._ids += 1
            blocks.append({"type": "tool_use", "id": f"c{self._ids}", "name": name, "input": given})
        return Completion(blocks, "tool_use", Usage(10, 1))


async def live(path: Path, told: Callable[[int], None], call: Callable[[], None], sql: Callable[[], None]) -> None:
    """Lead the life, to its end if nobody interferes."""

    def sink(happening: Happening) -> None:
        if happening.kind == "row":
            told(happening.data["row"].seq)

    agent = Agent(path, model=Life(call), owner=YesOwner(), clock=VirtualClock(), sink=sink)

    def trace(*_: object) -> bool:
        sql()
        return True

    agent.store.connection.exec_trace = trace
    await agent.start()
    agent.chat("hello-there")
    agent.inject("main", "injected-there", key="k")
    await agent.idle(20)
    agent.chat("once more")
    await agent.idle(20)
    await agent.stop()


def child(path: Path, at: int, *, by_call: bool) -> tuple[set[int], bool]:
    """Lead the life in a child and kill it; gives the seqs that it told, and whether it was killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover - killed
        counted = 0

        def count() -> None:
            nonlocal counted
            counted += 1
            if counted == at:
                os.kill(os.getpid(), signal.SIGKILL)

        def tell(seq: int) -> None:
            os.write(writing, f"{seq}\n".encode())

        quiet: Callable[[], None] = lambda: None  # noqa: E731
        try:
            asyncio.run(live(path, tell, count if by_call else quiet, quiet if by_call else count))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = {int(line) for line in pipe.read().split()}
    _, status = os.waitpid(pid, 0)
    return told, os.WIFSIGNALED(status)


async def survives(path: Path, told: set[int]) -> None:
    """Open what a kill has left: sound, complete, and able to go on."""
    world = World(path, fresh=False)
    world.checks_turns = False
    world.validate_copy()
    connection = world.agent.store.connection
    live_seqs = {seq for (seq,) in connection.execute("SELECT seq FROM adf_loop")}
    archived = [entry["seq"] for audit in world.audits() for entry in audit[4]]
    assert told <= live_seqs | set(archived), "a durable row is gone"
    assert len(archived) == len(set(archived))
    assert not live_seqs & set(archived)
    await world.agent.start()
    declared = world.agent.declared()
    for name in declared:
        world.agent.send("main", name, "after-the-kill", wake=True)
    world.agent.chat("after-the-kill")
    for _ in range(100):
        if await world.agent.idle(0.02):
            break
        for call in list(world.model.open):
            await world.answer(call.loop, "Done.", purpose=call.purpose)
    for name in ("main", *declared):
        requests = [call for call in world.model.log if call.loop == name and call.purpose == "turn"]
        assert requests, name
        text = requests[-1].text()
        for row in world.texts(name):
            if row.startswith("[from loop:") and "Autostart" not in row and "after-the-kill" not in row:
                assert text.count(row) == 1, row
        assert text.count("after-the-kill") == 1
    await world.agent.stop()
    world.validate()


def file(path: Path) -> Path:
    """A new agent."""
    creation.new(path, name="agent", config=CONFIG)
    return path


def test_SIGKILL_at_every_model_boundary(tmp_path: Path) -> None:
    """Before each call of a model, one after the other, until the life ends by itself."""
    for at in range(1, 100):
        path = file(tmp_path / f"{at}.adf")
        told, killed = child(path, at, by_call=True)
        if not killed:
            assert at > 15, "the life was too short to say anything"
            return
        asyncio.run(survives(path, told))
    pytest.fail("the life does not end")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_SIGKILL_at_seeded_instants_of_writing(tmp_path: Path, shard: int) -> None:
    """Before a statement of SQL, chosen at random among all that the life runs."""
    total = 0

    def count() -> None:
        nonlocal total
        total += 1

    asyncio.run(live(file(tmp_path / "whole.adf"), lambda _: None, lambda: None, count))
    chance = random.Random(shard)
    for at in sorted(chance.randint(1, total - 5) for _ in range(INSTANTS // SHARDS)):
        path = file(tmp_path / "killed.adf")
        told, killed = child(path, at, by_call=False)
        if killed:
            asyncio.run(survives(path, told))
        for left in tmp_path.glob("killed.*"):
            left.unlink()
