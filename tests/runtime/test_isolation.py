"""Streams, injections, prompts and records of turns: loops.md section 8, storage.md section 7."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adf_format.loops import MAIN
from adf_format.runtime import recovery
from adf_format.runtime.core.messages import LOST, is_valid, messages
from adf_format.runtime.core.session import Entry, Session
from adf_format.runtime.ports import Happening

from .world import World, config_with, played

AGENT = config_with(
    {"name": "a", "tools": ["loop_send", "loop_list"]}, {"name": "b", "tools": []}, on=["loop_compact", "loop_clear"]
)
KEY = "adf_runtime_turn_checkpoint"


def checkpoint(world: World, loop: str = MAIN) -> dict[str, Any]:
    """The record of the last turn of a loop."""
    text = world.agent.store.meta.get(KEY if loop == MAIN else f"{KEY}:{loop}")
    assert text is not None
    found: dict[str, Any] = json.loads(text)
    return found


@played(AGENT)
async def test_LOOP_250_seqs_are_one_space(world: World) -> None:
    """Rows of all loops count together and never again, also after a clear."""
    for number in range(3):
        world.agent.send("main", "a", str(number))
        world.agent.send("main", "b", str(number))
    seqs = {name: world.agent.store.transcript.seqs(name) for name in ("a", "b")}
    assert sorted(seqs["a"] + seqs["b"]) == [1, 2, 3, 4, 5, 6]
    await world.agent.clear("a")
    await world.agent.clear("b")
    world.agent.send("main", "a", "next")
    assert world.agent.store.transcript.seqs("a") == [7]


@played(AGENT)
async def test_LOOP_251_a_context_holds_its_own_stream_only(world: World) -> None:
    """Nothing of a sibling or of `main` appears in it."""
    await world.chat("only-main")
    world.agent.send("main", "a", "only-a", wake=True)
    world.agent.send("main", "b", "only-b", wake=True)
    for name, own in (("main", "only-main"), ("a", "only-a"), ("b", "only-b")):
        text = (await world.answer(name, f"answer-of-{name}")).text()
        assert own in text
        assert not any(other in text for other in {"only-main", "only-a", "only-b"} - {own})
    await world.quiet()
    world.agent.send("main", "a", "again", wake=True)
    text = (await world.asked("a")).text()
    assert "answer-of-a" in text
    assert "answer-of-b" not in text
    await world.answer("a")


@played(AGENT)
async def test_LOOP_256_compact_and_clear_act_on_the_caller(world: World) -> None:
    """There is no parameter for another loop, and only a direct call has an effect."""
    world.agent.send("main", "a", "x")
    await world.chat()
    await world.answer()
    await world.chat()
    await world.use("loop_clear", {"start": 0, "end": 1, "loop": "a"})
    assert len(world.texts("a")) == 1
    await world.answer()


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"content": "x"}, False),
        ({"content": "x" * 48_000}, False),
        ({"content": "x" * 48_001}, True),
        ({"content": ""}, True),
        ({"content": 7}, True),
        ({"content": "x", "role": "user"}, False),
        ({"content": "x", "role": "assistant"}, True),
        ({"content": "x", "category": "inbox.summary_1"}, False),
        ({"content": "x", "category": "Inbox"}, True),
        ({"content": "x", "category": "a" * 65}, True),
        ({"content": "x", "key": "A:b.c-1_"}, False),
        ({"content": "x", "key": "a b"}, True),
        ({"content": "x", "key": "k" * 129}, True),
    ],
)
def test_LOOP_260_LOOP_261_what_can_be_injected(tmp_path: Path, given: dict[str, Any], wrong: bool) -> None:
    """A violation names itself and writes no row."""

    @played(AGENT)
    async def scene(world: World) -> None:
        problem = world.agent.inject("a", **given)
        assert (problem is not None) is wrong
        assert problem is None or problem.startswith("INVALID_INPUT")
        assert len(world.texts("a")) == (not wrong)

    scene(tmp_path)


@played(config_with({"name": "a"}, code_execution={"loop_inject": False}))
async def test_LOOP_260_injection_can_be_turned_off(world: World) -> None:
    """By the agent's code execution settings; and it needs a loop that exists."""
    assert world.agent.inject("main", "x") is not None
    assert world.agent.inject("nobody", "x") is not None
    assert world.texts() == []


@played(AGENT)
async def test_LOOP_262_the_row_of_an_injection(world: World) -> None:
    """At once, in the caller's stream, with the origin that the runtime gives it."""
    world.agent.inject("a", "the text", origin="sys_code:a")
    world.agent.inject("a", "state", category="inbox", key="k1", origin="sys_code:a")
    assert world.texts("a") == [
        "[Context: loop_inject | loop_inject=v2 | origin=sys_code:a] the text",
        "[Context: inbox | loop_inject=v2 | origin=sys_code:a | key=k1] state",
    ]


@played(AGENT)
async def test_LOOP_162_LOOP_263_an_injection_waits_for_the_boundary(world: World) -> None:
    """Behind the results, as a user's message; alone it causes no turn (regression 50)."""
    world.agent.inject("a", "no-turn-for-this")
    await world.quiet()
    assert not world.model.log
    world.agent.send("main", "a", "go", wake=True)
    assert (await world.asked("a")).text().count("no-turn-for-this") == 1
    world.agent.inject("a", "in-between")
    await world.answer("a", "", calls=[("loop_list", {})])
    asked = await world.asked("a")
    assert [message["role"] for message in asked.messages][-2:] == ["user", "user"]
    assert "in-between" in str(asked.messages[-1])
    await world.answer("a")


@played(AGENT)
async def test_LOOP_264_of_one_key_the_latest_is_delivered(world: World) -> None:
    """At the place of the latest; every version keeps its row; what was delivered is not taken back."""
    world.agent.inject("a", "version-1", key="k")
    world.agent.inject("a", "other")
    world.agent.inject("a", "version-2", key="k")
    world.agent.send("main", "a", "go", wake=True)
    text = (await world.asked("a")).text()
    assert "version-1" not in text
    assert text.index("other") < text.index("version-2")
    world.agent.inject("a", "version-3", key="k")
    await world.answer("a", "", calls=[("loop_list", {})])
    text = (await world.asked("a")).text()
    assert "version-2" in text
    assert "version-3" in text
    assert sum("version-" in row for row in world.texts("a")) == 3
    await world.answer("a")


@played(AGENT)
async def test_LOOP_265_after_a_restart_only_the_latest_keyed_one_returns(world: World) -> None:
    """Once; unkeyed ones and records of prompts do not."""
    world.agent.inject("a", "one-shot")
    world.agent.inject("a", "old-state", key="k")
    world.agent.inject("a", "new-state", key="k")
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a")
    await world.quiet()
    await world.restart()
    world.agent.send("main", "a", "again", wake=True)
    text = (await world.asked("a")).text()
    assert [text.count(word) for word in ("one-shot", "old-state", "new-state", "[Context: system")] == [0, 0, 1, 0]
    await world.answer("a")


@played(AGENT)
async def test_LOOP_266_LOOP_267_BUG_29_dropping_the_session_loses_nothing(world: World) -> None:
    """Unkeyed ones that wait are kept, keyed ones come once, deliveries come from their rows."""
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a")
    await world.quiet()
    world.agent.inject("a", "unkeyed")
    world.agent.inject("a", "keyed", key="k")
    world.agent.send("main", "a", "delivered")
    world.agent.pool.release("a")
    assert not world.agent.pool.loop("a").context.is_loaded
    assert [row[0] for row in world.logs("session_released")] == ["info"]
    world.agent.inject("a", "cold")
    world.agent.send("b", "a", "now", wake=True)
    text = (await world.asked("a")).text()
    assert [text.count(word) for word in ("unkeyed", "keyed", "delivered", "cold", "now")] == [1, 2, 1, 1, 1]
    await world.answer("a")


@played(AGENT)
async def test_BUG_29_a_loop_that_was_off_for_a_while_has_lost_nothing(world: World) -> None:
    """Disabled and enabled, cold or warm: the new executor delivers what waited for the old one, once."""
    for round_ in ("cold", "warm"):
        world.agent.inject("a", f"unkeyed-{round_}")
        await world.agent.update_loop("a", {"enabled": False})
        await world.agent.update_loop("a", {"enabled": True})
        await world.quiet()
        world.agent.send("main", "a", "go", wake=True)
        assert (await world.answer("a")).text().count(f"unkeyed-{round_}") == 1
        await world.quiet()


@played(AGENT)
async def test_CMP_053_BUG_29_injections_survive_a_compaction(world: World) -> None:
    """What waits while the summary is made is delivered after it, once."""
    await world.chat()
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.asked("main", "compaction")
    world.agent.inject("main", "unkeyed-waiting")
    await world.answer("main", "S", purpose="compaction")
    assert (await world.asked()).text().count("unkeyed-waiting") == 1
    await world.answer()


@played(AGENT)
async def test_LOOP_270_a_turn_is_recorded_before_its_first_request(world: World) -> None:
    """With the keys and words of the format, readonly, for `main` and for a loop under keys of their own."""
    await world.chat()
    world.agent.send("main", "a", "go", wake=True)
    await world.asked("a")
    for loop in (MAIN, "a"):
        record = checkpoint(world, loop)
        assert set(record) == {"id", "status", "started_at", "updated_at", "event_type", "scope", "replay"}
        assert (record["status"], record["scope"], record["replay"]) == ("in_progress", "agent", "not_attempted")
        assert world.agent.store.meta.protection(KEY if loop == MAIN else f"{KEY}:{loop}") == "readonly"
    await world.answer("a")
    await world.turn_of_events()
    assert checkpoint(world, "a")["status"] == "completed"
    assert "completed_at" in checkpoint(world, "a")
    assert checkpoint(world)["status"] == "in_progress"
    await world.answer()


@played(AGENT)
async def test_LOOP_271_loops_leave_mains_record_alone(world: World) -> None:
    """Turns of loops write their own key (regression 45)."""
    await world.chat()
    await world.answer()
    await world.quiet()
    before = world.agent.store.meta.get(KEY)
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a")
    await world.quiet()
    assert world.agent.store.meta.get(KEY) == before


@pytest.mark.parametrize("loop", [MAIN, "a"])
@pytest.mark.parametrize("record", ['{"id":"t","status":"in_progress","started_at":1,"updated_at":1}', "not json"])
def test_LOOP_271_ROW_031_a_stale_record_is_noted(tmp_path: Path, loop: str, record: str) -> None:
    """Interrupted, never replayed; one notice in the stream, which the model reads; one log row."""

    @played(AGENT)
    async def scene(world: World) -> None:
        key = KEY if loop == MAIN else f"{KEY}:{loop}"
        whole = record.startswith("{")
        more = {"event_type": "chat", "scope": "agent", "replay": "not_attempted"}
        stored = json.dumps(json.loads(record) | more) if whole else record
        world.agent.store.meta.set(key, stored, "readonly")
        await world.agent.stop()
        world.agent = world._agent()
        await world.agent.start()
        await world.quiet()
        assert not world.model.log
        found = checkpoint(world, loop)
        assert (found["status"], found["replay"]) == ("interrupted", "not_replayed")
        assert found["reason"] == ("stale_checkpoint_recovered_on_load" if whole else "malformed_checkpoint")
        (notice,) = world.texts(loop)
        assert notice.startswith("[System notice")
        assert [row[0] for row in world.logs("turn_checkpoint_recovered")] == ["warn"]
        await world.restart()
        assert world.texts(loop) == [notice]
        world.agent.send("b", loop, "go", wake=True)
        assert notice in (await world.asked(loop)).text()
        await world.answer(loop)

    scene(tmp_path)


@played(AGENT)
async def test_LOOP_272_ROW_025_sizes_are_recorded_per_loop(world: World) -> None:
    """Readonly, under keys of their own; deleted with a clear of that stream alone; garbage is ignored."""
    await world.chat()
    await world.answer(usage=(70, 7))
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a", usage=(50, 5))
    await world.quiet()
    store = world.agent.store
    assert (store.checkpoints.baseline("main"), store.checkpoints.baseline("a")) == (77, 55)
    assert store.meta.protection("context_baseline_tokens:a") == "readonly"
    await world.agent.clear("a")
    assert (store.checkpoints.baseline("main"), store.checkpoints.baseline("a")) == (77, None)
    for text in ("7", "[]", '{"tokens":"x"}', '{"tokens":-1}', '{"tokens":true}', "{"):
        store.meta.set("context_baseline_tokens:b", text, "readonly")
        assert store.checkpoints.baseline("b") is None
    store.meta.delete("context_baseline_tokens:b")


@played(AGENT)
async def test_LOOP_273_every_step_is_in_the_file_when_it_is_made(world: World) -> None:
    """Another connection sees the row of each step before the next one begins."""
    import apsw

    other = apsw.Connection(str(world.path), flags=apsw.SQLITE_OPEN_READONLY)

    def seen() -> list[str]:
        sql = "SELECT content_json FROM adf_loop WHERE loop = 'main' AND content_json NOT LIKE '%[Context:%'"
        return [json.loads(text)[0]["type"] for (text,) in other.execute(sql)]

    await world.chat()
    assert seen() == ["text"]
    await world.answer("main", "", calls=[("loop_list", {})])
    await world.asked()
    assert seen() == ["text", "tool_use", "tool_result"]
    await world.answer()
    await world.quiet()
    assert seen() == ["text", "tool_use", "tool_result", "text"]
    other.close()


@played(AGENT)
async def test_LOOP_060_prompts_speak_of_loops_to_main_alone(world: World) -> None:
    """The roster with short goals for `main`; nothing of it for a loop, nor for a bare prompt."""
    await world.agent.update_loop("b", {"enabled": False, "goal": "word " * 100})
    system = (await world.chat()).system
    assert "## Inner Loops" in system
    assert "- `a`: Goal of a." in system
    line = next(line for line in system.splitlines() if line.startswith("- `b`"))
    assert line.startswith("- `b` (disabled): word")
    assert len(line) <= len("- `b` (disabled): ") + 160
    assert all(f"`{name}`" in system for name in ("loop_send", "loop_list", "loop_manage"))
    await world.answer()
    world.agent.send("main", "a", "go", wake=True)
    asked = await world.asked("a")
    assert "## Inner Loops" not in asked.system
    assert "INSTRUCTIONS" not in asked.system
    assert asked.system.endswith("Goal of a.")
    await world.answer("a")
    await world.agent.edit_config(lambda config: config | {"bare_prompt": True})
    assert (await world.chat()).system == "INSTRUCTIONS of the agent."
    await world.answer()


def test_LOOP_060_without_loops_the_prompt_depends_on_loop_manage(tmp_path: Path) -> None:
    """An invitation with it; without it the prompt is that of a runtime that knows no loops."""
    systems = []
    for on in (True, False):
        config = config_with()
        for tool in config["tools"]:
            if tool["name"] in ("loop_manage", "loop_send"):
                tool["enabled"] = on or tool["name"] == "loop_send"

        @played(config)
        async def scene(world: World) -> None:
            systems.append((await world.chat()).system)
            await world.answer()

        folder = tmp_path / str(on)
        folder.mkdir()
        scene(folder)
    assert "`loop_manage` makes one" in systems[0]
    assert "oop" not in systems[1]


@played(config_with(on=["loop_compact"], context={"compact_threshold": 10_000}))
async def test_dynamic_instructions_stand_at_the_end_and_are_recorded_once(world: World) -> None:
    """Unread messages and little room: a trailing user message, one row per change."""
    insert = "INSERT INTO adf_inbox (id, \"from\", content, received_at) VALUES (?, 'y', 'z', 1)"
    world.agent.store.connection.execute(insert, ("1",))
    asked = await world.chat()
    assert "1 unread message." in str(asked.messages[-1])
    await world.answer("main", "", calls=[("loop_list", {})], usage=(9_000, 0))
    assert "fewer than 5,000" in str((await world.asked()).messages[-1])
    await world.answer("main", "", calls=[("loop_list", {})], usage=(9_001, 0))
    await world.answer()
    await world.quiet()
    rows = [text for text in world.texts() if text.startswith("[Context: dynamic_instructions]")]
    assert len(rows) == 2
    await world.agent.edit_config(lambda config: config | {"context": {"dynamic_instructions": {"inbox_hints": False}}})
    await world.chat()
    assert "unread" not in str((await world.answer()).messages[-1])


def entry(seq: int, role: str, *blocks: dict[str, Any]) -> Entry:
    """A row of a session."""
    return Entry(seq, role, blocks, 0)


def use(identity: str) -> dict[str, Any]:
    """A call."""
    return {"type": "tool_use", "id": identity, "name": "n", "input": {}}


def result(identity: str) -> dict[str, Any]:
    """Its result."""
    return {"type": "tool_result", "tool_use_id": identity, "content": "r"}


def text(words: str) -> dict[str, Any]:
    """A text."""
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ([entry(1, "assistant", text("x")), entry(2, "user", text("y"))], ["user:text"]),
        ([entry(1, "user", result("gone")), entry(2, "user", text("y"))], ["user:text"]),
        ([entry(1, "assistant", use("a")), entry(2, "user", result("a")), entry(3, "user", text("y"))], ["user:text"]),
        (
            [entry(1, "user", text("x")), entry(2, "assistant", use("a")), entry(3, "user", text("late")),
             entry(4, "user", result("a"))],
            ["user:text", "assistant:tool_use", "user:tool_result", "user:text"],
        ),
        (
            [entry(1, "user", text("x")), entry(2, "assistant", use("a"), use("b")), entry(3, "user", result("b"))],
            ["user:text", "assistant:tool_use,tool_use", "user:tool_result,tool_result"],
        ),
        (
            [entry(1, "user", text("x")), entry(2, "assistant", text("t"), use("a")), entry(3, "user", text("y")),
             entry(4, "assistant", text("z"))],
            ["user:text", "assistant:text", "user:text", "assistant:text"],
        ),
        (
            [entry(1, "user", text("x")), entry(2, "assistant", use(""), text("t")), entry(3, "user", result(""))],
            ["user:text", "assistant:text"],
        ),
        (
            [entry(1, "user", text("x")), entry(2, "assistant", use("a")), entry(3, "user", result("a"), text("note"))],
            ["user:text", "assistant:tool_use", "user:tool_result", "user:text"],
        ),
    ],
)  # fmt: skip
def test_ROW_012_BUG_17_any_stream_becomes_a_valid_sequence(rows: list[Entry], kinds: list[str]) -> None:
    """Leading answers, orphans, empty ids, delayed results, unanswered calls: repaired in memory, in this way."""
    built = messages(rows)
    told = [f"{m['role']}:{','.join(block['type'] for block in m['content'])}" for m in built]
    assert told == kinds
    assert is_valid(built)


def test_ROW_012_an_unanswered_call_at_the_end_gets_an_error() -> None:
    """The last call of all was interrupted; its result says so."""
    built = messages([entry(1, "user", text("x")), entry(2, "assistant", use("a"))])
    assert built[-1]["content"] == [{"type": "tool_result", "tool_use_id": "a", "content": LOST, "is_error": True}]


def test_sessions_restored_from_rows_know_what_nobody_read() -> None:
    """LOOP-174: rows behind the last answer; context rows are none, but for the latest of each key."""
    rows = [
        entry(1, "user", text("[Context: system_prompt] p")),
        entry(2, "user", text("hello")),
        entry(3, "assistant", text("hi")),
        entry(4, "user", text("[Context: c | loop_inject=v2 | origin=o | key=k] old")),
        entry(5, "user", text("unread")),
        entry(6, "user", text("[Context: c | loop_inject=v2 | origin=o | key=k] new")),
        entry(7, "user", text("[Context: c | loop_inject=v2 | origin=o] one-shot")),
    ]
    session = Session.restored(rows)
    assert [one.seq for one in session.entries] == [2, 3, 5]
    assert [one.seq for one in session.waiting] == [6]
    assert session.pending() == {5, 6}


def test_a_sink_sees_every_row(tmp_path: Path) -> None:
    """Whoever watches gets each row once, in order."""

    @played(AGENT)
    async def scene(world: World) -> None:
        await world.chat()
        world.agent.send("main", "a", "x")
        await world.answer()
        await world.quiet()
        seen = [one.data["row"].seq for one in world.happenings if one.kind == "row"]
        stored = [seq for (seq,) in world.agent.store.connection.execute("SELECT seq FROM adf_loop ORDER BY seq")]
        assert seen == stored
        assert all(isinstance(one, Happening) for one in world.happenings)

    scene(tmp_path)


def test_recovery_names_what_it_writes() -> None:
    """The notice begins as readers expect it, so that it survives a restore (ROW-031)."""
    assert recovery.NOTICE.startswith("[System notice")
