"""Turns and what tools of loops say: loops.md sections 5 and 6."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.loops import Refused
from adf_format.runtime.core import turn as machine
from adf_format.runtime.core.turn import Answered, Compacted, Measured, ToolsDone, Turn
from adf_format.runtime.prompts import REMINDER

from .world import World, config_with, played

LOOPS = config_with(
    {"name": "a", "tools": ["loop_send", "loop_list", "sys_set_state"]},
    {"name": "off", "enabled": False, "goal": "A goal " * 60},
    on=["loop_compact", "loop_clear"],
)


@played(LOOPS)
async def test_LOOP_190_LOOP_191_LOOP_192_the_roster(world: World) -> None:
    """`main` first, then all others; live status; the instructions only in short, goals in full (regression 38)."""
    await world.agent.edit_config(lambda config: config | {"instructions": "Private. " * 100})
    await world.chat()
    world.agent.send("main", "a", "go", wake=True)
    await world.asked("a")
    listed = json.loads(await world.use("loop_list", {}))
    assert listed["you"] == "main"
    by_name = {loop["name"]: loop for loop in listed["loops"]}
    assert list(by_name) == ["main", "a", "off"]
    assert set(by_name["a"]) == {"name", "goal", "status", "enabled", "is_main", "is_you"}
    assert [by_name[name]["status"] for name in by_name] == ["running", "running", "idle"]
    assert [by_name[name]["enabled"] for name in by_name] == [True, True, False]
    assert [by_name[name]["is_main"] for name in by_name] == [True, False, False]
    assert [by_name[name]["is_you"] for name in by_name] == [True, False, False]
    assert by_name["off"]["goal"] == "A goal " * 60
    assert len(by_name["main"]["goal"]) <= 200
    assert by_name["main"]["goal"].endswith("…")
    from_a = json.loads(await world.use("loop_list", {}, "a"))
    assert [loop["name"] for loop in from_a["loops"] if loop["is_you"]] == ["a"]
    await world.answer("a")
    await world.answer()


@played()
async def test_LOOP_193_a_loopless_agent_lists_main(world: World) -> None:
    """Just that."""
    await world.chat()
    assert [loop["name"] for loop in json.loads(await world.use("loop_list", {}))["loops"]] == ["main"]
    await world.answer()


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({"action": "list"}, "invalid input"),
        ({"action": "create"}, "needs a `config`"),
        ({"action": "create", "config": {"goal": "g"}}, "needs a name"),
        ({"action": "create", "name": "x", "config": {"name": "y", "goal": "g"}}, "differ"),
        ({"action": "create", "config": {"name": "a", "goal": "g"}}, "already exists"),
        ({"action": "create", "config": {"name": "main", "goal": "g"}}, "main"),
        ({"action": "create", "config": {"name": "x", "goal": 7}}, "Invalid loop config"),
        ({"action": "create", "config": {"name": "x", "goal": "g", "tools": ["nope"]}}, "nope"),
        ({"action": "get"}, "needs the `name`"),
        ({"action": "get", "name": "main"}, "settings are those of the agent"),
        ({"action": "get", "name": "nobody"}, "a, off"),
        ({"action": "update", "name": "a"}, "Nothing to update"),
        ({"action": "update", "name": "a", "config": {"name": "b"}}, "cannot be renamed"),
        ({"action": "delete", "name": "main"}, "main"),
        ({"action": "delete", "name": "nobody"}, "a, off"),
    ],
)
def test_LOOP_194_LOOP_195_what_loop_manage_refuses(tmp_path: object, given_: dict[str, Any], told: str) -> None:
    """Each with a text that says why, and nothing changes."""

    @played(LOOPS)
    async def scene(world: World) -> None:
        before = world.agent.store.config.read()
        await world.chat()
        assert told in await world.use("loop_manage", given_)
        assert world.agent.store.config.read() == before
        await world.answer()

    scene(tmp_path)  # type: ignore[arg-type]


@played(LOOPS)
async def test_LOOP_196_what_create_says(world: World) -> None:
    """Name, goal, tools, what is excluded for now, and how it starts."""
    await world.chat()
    config = {"name": "x", "goal": "THE GOAL", "tools": ["fs_read", "fs_delete"]}
    told = await world.use("loop_manage", {"action": "create", "config": config})
    for part in (
        "`x`",
        "THE GOAL",
        "Tools: fs_read",
        "Excluded for now: fs_delete",
        "enabled",
        "first turn is running now",
    ):
        assert part in told
    config = {"name": "y", "goal": "g", "tools": [], "autostart": False}
    assert "waits for a trigger, a timer or a `loop_send`" in await world.use(
        "loop_manage", {"action": "create", "config": config}
    )
    config = {"name": "z", "goal": "g", "enabled": False}
    told = await world.use("loop_manage", {"action": "create", "name": "z", "config": config})
    assert "disabled" in told
    await world.answer("x")
    await world.answer()


def test_LOOP_196_a_loop_without_tools_says_so(tmp_path: object) -> None:
    """`(none)`, when not even the default-on pair is there."""

    @played()
    async def scene(world: World) -> None:
        await world.chat()
        config = {"name": "y", "goal": "g", "tools": [], "autostart": False}
        assert "Tools: (none)" in await world.use("loop_manage", {"action": "create", "config": config})
        await world.answer()

    scene(tmp_path)  # type: ignore[arg-type]


@played(LOOPS)
async def test_LOOP_197_LOOP_198_get_and_update(world: World) -> None:
    """The stored declaration with its status; the keys that changed and what is excluded."""
    await world.chat()
    stored = json.loads(await world.use("loop_manage", {"action": "get", "name": "a"}))
    assert stored == (world.loop("a") or {}) | {"status": "idle"}
    change = {"goal": "New.", "tools": ["fs_delete"]}
    told = await world.use("loop_manage", {"action": "update", "name": "a", "config": change})
    assert "goal, tools" in told
    assert "Excluded for now: fs_delete" in told
    await world.answer()


@played(LOOPS)
async def test_LOOP_113_what_delete_says(world: World) -> None:
    """The entries, where they are, and that a turn was interrupted."""
    await world.chat()
    world.agent.send("main", "a", "go", wake=True)
    await world.asked("a")
    told = await world.use("loop_manage", {"action": "delete", "name": "a"})
    assert "loop:a" in told
    assert "2 entries" in told
    assert "interrupted" in told
    await world.answer()


@pytest.mark.parametrize("name", ["loop_send", "loop_list", "loop_manage"])
def test_LOOP_201_main_holds_what_its_declaration_enables(tmp_path: object, name: str) -> None:
    """With or without loops, the first declaration decides."""
    config = config_with()
    config["tools"] = [{"name": name, "enabled": False}, *config["tools"]]

    @played(config)
    async def scene(world: World) -> None:
        assert name not in (await world.chat()).tool_names()
        await world.answer()

    scene(tmp_path)  # type: ignore[arg-type]


@played(LOOPS)
async def test_LOOP_210_an_answer_without_calls_ends_the_turn(world: World) -> None:
    """One request, and the loop is idle."""
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a")
    await world.quiet()
    assert len(world.model.log) == 1


AUTONOMOUS = config_with({"name": "a", "autonomous": True, "tools": ["loop_send", "sys_set_state"]}, {"name": "b"})


@played(AUTONOMOUS)
async def test_LOOP_211_LOOP_212_an_autonomous_loop_is_reminded_three_times(world: World) -> None:
    """Exactly four requests, three reminders, then the breaker; logged, and the next turn counts anew."""
    for _ in range(2):
        world.agent.send("main", "a", "go", wake=True)
        for _ in range(4):
            await world.answer("a", "Only words.")
        await world.quiet()
    assert len(world.model.log) == 8
    assert world.texts("a").count(REMINDER) == 6
    rows = [(row[0], row[1], row[3]) for row in world.logs("narration_loop_break")]
    assert rows == [("warn", "executor", "a")] * 2


@played(AUTONOMOUS)
async def test_LOOP_212_a_tool_call_resets_the_count(world: World) -> None:
    """Three words, a call, three words: still running."""
    world.agent.send("main", "a", "go", wake=True)
    for _ in range(2):
        for _ in range(3):
            await world.answer("a", "Words.")
        await world.use("loop_send", {"to_loop": "b", "content": "x"}, "a")
    assert world.logs("narration_loop_break") == []
    await world.answer("a", "", calls=[("sys_set_state", {"state": "idle"})])
    await world.quiet()


@played(config_with({"name": "a"}, autonomous=True))
async def test_LOOP_213_main_and_loops_are_autonomous_by_themselves(world: World) -> None:
    """An autonomous `main` goes on, its loop does not."""
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a")
    await world.chat()
    await world.answer()
    assert REMINDER in (await world.asked()).text()
    await world.answer("main", "", calls=[("sys_set_state", {"state": "idle"})])
    await world.quiet()
    assert [call.loop for call in world.model.log].count("a") == 1


@played(LOOPS)
async def test_LOOP_214_a_loops_state_is_its_own(world: World) -> None:
    """Its turn ends; the agent, `main` and the others go on (regression 51)."""
    await world.chat()
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a", "", calls=[("sys_set_state", {"state": "off"})])
    await world.turn_of_events()
    assert world.agent.store.config.read()["state"] == "active"
    assert world.agent.send("main", "a", "deaf?", wake=True).reason == "loop disabled"
    await world.answer()
    await world.quiet()
    assert len(world.model.log) == 2
    await world.agent.update_loop("a", {"goal": "Rebuilt."})
    world.agent.send("main", "a", "again", wake=True)
    assert (await world.asked("a")).text().count("deaf?") == 1
    await world.answer("a")


@played(LOOPS)
async def test_LOOP_214_the_state_of_main_is_the_agents(world: World) -> None:
    """It is written once the turn has ended; `off` stills everybody."""
    world.agent.send("main", "a", "go", wake=True)
    held = await world.asked("a")
    await world.chat()
    await world.answer("main", "", calls=[("sys_set_state", {"state": "off"})])
    await world.quiet()
    assert held.cancelled
    assert world.agent.store.config.read()["state"] == "off"
    assert world.texts()[-1] != "sys_set_state"


@played(config_with({"name": "a", "tools": ["loop_send"]}, {"name": "b"}, limits={"max_active_turns": 2}))
async def test_LOOP_216_steps_are_limited_per_turn(world: World) -> None:
    """Two requests, then the turn ends; others go on, and the loop's next turn counts anew."""
    for _ in range(2):
        world.agent.send("main", "a", "go", wake=True)
        await world.answer("a", "", calls=[("loop_send", {"to_loop": "b", "content": "x"})])
        await world.answer("a", "", calls=[("loop_send", {"to_loop": "b", "content": "x"})])
        await world.quiet()
        await world.agent.update_loop("a", {"goal": "Rebuilt."})
    assert len(world.model.log) == 4
    assert len(world.logs("active_turns_limit")) == 2
    assert world.agent.state == "active"
    await world.chat()
    await world.answer()


@played(config_with(limits={"max_active_turns": 1}))
async def test_LOOP_216_main_suspends_the_agent(world: World) -> None:
    """Until the owner resumes it."""
    await world.chat()
    await world.answer("main", "", calls=[("loop_list", {})])
    await world.quiet()
    assert world.agent.state == "suspended"
    with pytest.raises(Refused, match="suspended"):
        world.agent.chat("hello")


@played(LOOPS)
async def test_LOOP_217_turns_of_one_loop_follow_each_other(world: World) -> None:
    """Two dispatches at once: two turns, one after the other, each with its own row first."""
    from adf_format.runtime.core.dispatch import Dispatch

    assert world.agent.wake("a", Dispatch("timer", "first")) is None
    assert world.agent.wake("a", Dispatch("timer", "second")) is None
    assert "second" not in (await world.asked("a")).text()
    await world.answer("a", "one")
    assert "second" in (await world.asked("a")).text()
    await world.answer("a", "two")
    await world.quiet()
    assert world.texts("a") == ["first", "one", "second", "two"]


@played(LOOPS)
async def test_LOOP_218_chat_to_a_busy_loop_is_queued(world: World) -> None:
    """Its row is there at once, the running turn does not see it, and one turn of its own follows."""
    await world.chat("first")
    world.agent.chat("second")
    assert world.texts()[-1] == "second"
    await world.answer("main", "", calls=[("loop_list", {})])
    assert "second" not in (await world.asked()).text()
    await world.answer()
    asked = await world.asked()
    assert asked.text().count("second") == 1
    await world.answer()
    await world.quiet()
    assert len(world.model.log) == 3


@played(LOOPS)
async def test_LOOP_218_two_chats_in_one_moment_have_a_turn_each(world: World) -> None:
    """The first turn has not begun when the second chat comes, and its session is not read yet."""
    for text in ("first-chat", "second-chat"):
        world.agent.chat(text, "a")
    assert "second-chat" not in (await world.answer("a")).text()
    assert (await world.answer("a")).text().count("second-chat") == 1
    await world.quiet()
    assert len(world.model.log) == 2


@played(LOOPS)
async def test_LOOP_232_chat_to_a_loop_that_does_not_run_is_an_error(world: World) -> None:
    """No row and no silent drop."""
    for name in ("off", "nobody"):
        with pytest.raises(Refused):
            world.agent.chat("hello", name)
    assert world.texts("off") == []


@played(LOOPS)
async def test_LOOP_245_a_dispatch_begins_with_its_row(world: World) -> None:
    """In the stream of the loop that it wakes, and in no other."""
    from adf_format.runtime.core.dispatch import Dispatch

    world.agent.wake("a", Dispatch("timer", "the payload"))
    assert (await world.asked("a")).text().count("the payload") == 1
    assert world.rows("a")[0][1:] == ("user", "the payload")
    assert world.texts() == []
    await world.answer("a")


@played(LOOPS)
async def test_a_failed_call_is_tried_again_when_its_time_has_come(world: World) -> None:
    """A transient failure waits for the clock, counts as idle, and is repeated with what has come meanwhile."""
    await world.chat("hello")
    await world.fail(transient=True)
    await world.quiet()
    assert not world.model.open
    world.agent.send("a", "main", "news", wake=True)
    await world.clock.advance(15_000)
    asked = await world.asked()
    assert asked.text().count("news") == asked.text().count("hello") == 1
    await world.answer()
    await world.quiet()
    assert len(world.model.log) == 2


@played(LOOPS)
async def test_BUG_30_a_failed_turn_is_not_recorded_as_completed(world: World) -> None:
    """Status and reason say what happened."""
    await world.chat()
    await world.fail()
    await world.quiet()
    record = json.loads(world.agent.store.meta.get("adf_runtime_turn_checkpoint") or "")
    assert (record["status"], record["reason"]) == ("failed", "turn_error")
    await world.chat()
    await world.answer()
    await world.quiet()
    assert json.loads(world.agent.store.meta.get("adf_runtime_turn_checkpoint") or "")["status"] == "completed"


@played(LOOPS)
async def test_BUG_18_calls_without_an_id_get_one(world: World) -> None:
    """An empty id and a repeated one do not poison the history."""
    from adf_format.models import Completion

    asked = await world.chat()
    calls = [{"type": "tool_use", "id": identity, "name": "loop_list", "input": {}} for identity in ("", "x", "x")]
    asked.reply.set_result(Completion(calls, "tool_use"))
    while asked in world.model.open:
        await world.turn_of_events()
    again = await world.asked()
    ids = [block["id"] for message in again.messages for block in message["content"] if block["type"] == "tool_use"]
    assert len(set(ids)) == 3
    assert all(ids)
    await world.answer()


@played(LOOPS)
async def test_an_interrupted_batch_keeps_what_was_done(world: World) -> None:
    """ROW-006: results so far, and an error result for each call that did not finish."""
    import asyncio

    async def slow(**_: object) -> bool:
        await asyncio.Event().wait()
        return True

    world.owner.approve = slow  # type: ignore[method-assign]
    await world.chat()
    gated = ("sys_update_config", {"path": "description", "value": "x"})
    await world.answer("main", "", calls=[("loop_list", {}), gated])
    await world.turn_of_events()
    world.agent.set_state("suspended")
    await world.quiet()
    row = world.agent.store.transcript.rows("main")[-1]
    assert [block["type"] for block in row.blocks or ()] == ["tool_result", "tool_result"]
    assert [block.get("is_error", False) for block in row.blocks or ()] == [False, True]
    world.agent.set_state("active")
    await world.chat("again")
    await world.answer()
    await world.quiet()


EVENTS = st.one_of(
    st.builds(Measured, size=st.integers(0, 200), projected=st.integers(0, 200), threshold=st.just(100),
              empty=st.booleans(), nudged=st.booleans()),
    st.builds(Answered, st.integers(0, 2)),
    st.builds(ToolsDone, ends=st.booleans(), compacts=st.booleans()),
    st.builds(Compacted, st.booleans()),
)  # fmt: skip
FOLLOWS = {machine.Measure: Measured, machine.Ask: Answered, machine.RunTools: ToolsDone, machine.Compact: Compacted}


@given(st.booleans(), st.none() | st.integers(1, 3), st.lists(EVENTS, max_size=40))
def test_turn_machine_keeps_its_bounds(autonomous: bool, limit: int | None, events: list[Any]) -> None:
    """It never asks beyond the limit, never narrates a fifth time, compacts at most twice in vain, and refuses an event
    that does not answer its last command."""
    state, command = Turn(autonomous, limit), machine.Measure()
    failures = 0
    for event in events:
        if isinstance(command, machine.End):
            break
        if not isinstance(event, FOLLOWS[type(command)]):
            with pytest.raises(ValueError, match="cannot occur"):
                state.step(event)
            continue
        failures += isinstance(event, Compacted) and not event.done
        state, command = state.step(event)
        assert limit is None or state.steps <= limit
        assert state.narrations <= machine.NARRATION_LIMIT
        if isinstance(command, machine.Compact) and command.trigger != "voluntary":
            assert state.failures < 2
    assert state.failures == failures
