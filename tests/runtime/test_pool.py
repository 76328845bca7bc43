"""The life of loops: loops.md section 3."""

from __future__ import annotations

import asyncio
import json

import pytest

from adf_format.errors import UnreadableError
from adf_format.loops import Refused
from adf_format.runtime.core.dispatch import Dispatch

from .world import World, config_with, played

PAIR = config_with({"name": "a", "tools": ["loop_send"]}, {"name": "b", "tools": ["loop_send"]})
TIMER = (
    "INSERT INTO adf_timers (schedule_json, next_wake_at, scope, created_at, locked, loop)"
    " VALUES (?, 9000000000000, ?, 0, ?, ?)"
)


def timer(world: World, loop: str | None, *, locked: bool = False) -> None:
    """Put a timer into the file."""
    row = ('{"mode":"once","at":9000000000000}', '["agent"]', int(locked), loop)
    world.agent.store.connection.execute(TIMER, row)


def timers(world: World) -> list[tuple[str | None, int]]:
    """`(loop, locked)` of all timers."""
    return list(world.agent.store.connection.execute("SELECT loop, locked FROM adf_timers ORDER BY id"))


def events(world: World) -> list[tuple[str, str, str, str]]:
    """`(level, origin, event, target)` of log rows."""
    return [row[:4] for row in world.logs()]


async def busy(world: World, loop: str = "a") -> None:
    """Let a loop run a turn that waits for its model."""
    world.agent.send("b" if loop == "a" else "a", loop, "go", wake=True)
    await world.asked(loop)


@played(config_with({"name": "a"}, {"name": "b"}, {"name": "off", "enabled": False}))
async def test_LOOP_070_enabled_loops_run_at_the_same_time(world: World) -> None:
    """`main` and all others hold calls open together; a disabled one takes none."""
    world.agent.send("main", "a", "go", wake=True)
    world.agent.send("main", "b", "go", wake=True)
    await world.chat()
    await world.asked("a")
    await world.asked("b")
    assert not world.agent.send("main", "off", "go", wake=True).woke
    assert {call.loop for call in world.model.open} == {"main", "a", "b"}
    for name in ("a", "b", "main"):
        await world.answer(name)


@played(PAIR)
async def test_LOOP_071_LOOP_130_a_declared_loop_runs_after_the_next_start(world: World) -> None:
    """A crash after the configuration was written leaves a loop without an executor; starting repairs it."""
    config = world.agent.store.config.read()
    config["loops"].append({"name": "late", "goal": "g", "enabled": True, "autostart": True})
    world.agent.store.config.write(config)
    await world.restart()
    asked = await world.asked("late")
    assert asked.text().count("[from loop:main] ") == 1
    await world.answer("late")
    await world.quiet()
    assert len(world.texts("late")) == 2


@played(PAIR)
async def test_LOOP_072_streams_are_read_when_they_are_needed(world: World) -> None:
    """No session after a start; the first turn sees the whole history."""
    world.agent.send("main", "a", "before-the-restart", wake=True)
    await world.answer("a", "an-old-answer")
    await world.quiet()
    await world.restart()
    assert not world.agent.pool.loop("a").context.is_loaded
    world.agent.send("main", "a", "now", wake=True)
    text = (await world.asked("a")).text()
    assert [text.count(word) for word in ("before-the-restart", "an-old-answer", "now")] == [1, 1, 1]
    await world.answer("a")


@played()
async def test_LOOP_073_a_refused_create_writes_nothing(world: World) -> None:
    """Neither configuration nor rows; a made one is written before its first turn."""
    before = world.agent.store.config.read()
    for wanted in (
        {"name": "Bad", "goal": "g"},
        {"name": "a", "goal": ""},
        {"name": "a", "goal": "g", "tools": ["no"]},
    ):
        with pytest.raises(Refused):
            await world.agent.create_loop(wanted)
    assert world.agent.store.config.read() == before
    assert world.agent.store.transcript.streams() == []
    await world.agent.create_loop({"name": "a", "goal": "g"})
    assert world.loop("a") == {"name": "a", "goal": "g", "enabled": True, "autostart": True,
                               "tools": ["loop_send", "loop_list", "sys_set_state"]}  # fmt: skip
    await world.answer("a")


@played()
async def test_LOOP_074_two_creates_of_one_name_give_one_loop(world: World) -> None:
    """The check is made where the configuration is written."""
    wanted = {"name": "a", "goal": "g", "autostart": False}
    results = await asyncio.gather(*(world.agent.create_loop(wanted) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(result, Refused) for result in results) == 2
    assert [loop["name"] for loop in world.agent.store.config.read()["loops"]] == ["a"]


@played()
async def test_LOOP_075_LOOP_200_create_returns_what_the_loop_really_has(world: World) -> None:
    """The effective tools, and what it has to wait for."""
    created = await world.agent.create_loop({"name": "a", "goal": "g", "tools": ["fs_read", "fs_delete"]})
    assert created.tools == ("fs_read",)
    assert created.excluded == ("fs_delete",)
    await world.answer("a")


@played()
async def test_LOOP_076_a_loop_edit_keeps_a_concurrent_edit(world: World) -> None:
    """Each is applied to what is stored at its moment (regressions 22, 28)."""
    await world.agent.edit_config(lambda config: config | {"description": "new"})
    await world.agent.create_loop({"name": "a", "goal": "g", "autostart": False})
    await world.agent.edit_config(lambda config: config | {"icon": "x"})
    await world.agent.update_loop("a", {"goal": "h"})
    stored = world.agent.store.config.read()
    assert (stored["description"], stored["icon"], stored["loops"][0]["goal"]) == ("new", "x", "h")


@played()
async def test_LOOP_080_LOOP_081_a_kickoff_is_a_message_from_main(world: World) -> None:
    """One stamped row, then one turn; none for a loop that is disabled or does not start by itself."""
    created = await world.agent.create_loop({"name": "a", "goal": "g"})
    assert created.kickoff is not None
    assert created.kickoff.woke
    (row,) = world.rows("a")
    assert row[1:] == ("user", row[2])
    assert row[2].startswith("[from loop:main] ")
    await world.answer("a")
    for name, more in (("off", {"enabled": False}), ("waiting", {"autostart": False})):
        assert (await world.agent.create_loop({"name": name, "goal": "g", **more})).kickoff is None
        assert world.rows(name) == []
    await world.quiet()
    assert len(world.model.log) == 1


@played(
    config_with({"name": "a", "autostart": True}, {"name": "b"}, {"name": "off", "autostart": True, "enabled": False})
)
async def test_LOOP_082_a_new_kickoff_at_every_start(world: World) -> None:
    """Once per start, for enabled loops that start by themselves."""
    for starts in (1, 2, 3):
        await world.answer("a")
        await world.quiet()
        assert sum(text.startswith("[from loop:main]") for text in world.texts("a")) == starts
        await world.restart()
    assert world.texts("b") == world.texts("off") == []
    await world.answer("a")


@pytest.mark.parametrize("state", ["idle", "hibernate"])
def test_LOOP_083_a_quiet_start_kicks_nobody(tmp_path: object, state: str) -> None:
    """Not at the start, and not when the agent becomes active later in the session."""

    @played(config_with({"name": "a", "autostart": True}, start_in_state=state))
    async def scene(world: World) -> None:
        assert world.agent.state == state
        world.agent.set_state("active")
        await world.quiet()
        assert world.texts("a") == []

    scene(tmp_path)  # type: ignore[arg-type]


def test_LOOP_084_one_loops_failure_does_not_stop_the_others(tmp_path: object) -> None:
    """A loop whose model cannot be built stays silent, the next one is kicked off."""
    broken = {"name": "a", "autostart": True, "model": {"provider": "nowhere", "model_id": "x"}}

    @played(config_with(broken, {"name": "b", "autostart": True}))
    async def scene(world: World) -> None:
        await world.answer("b")
        await world.quiet()
        assert [call.loop for call in world.model.log] == ["b"]

    scene(tmp_path)  # type: ignore[arg-type]


@played(config_with({"name": "a", "enabled": False}))
async def test_LOOP_085_updates_kick_nobody(world: World) -> None:
    """Neither enabling, nor autostart, nor another change."""
    await world.agent.update_loop("a", {"enabled": True, "autostart": True})
    await world.agent.update_loop("a", {"goal": "Other."})
    await world.agent.edit_config(lambda config: config | {"description": "x"})
    await world.quiet()
    assert world.texts("a") == []
    assert not world.model.log


@played(PAIR)
async def test_LOOP_093_an_update_is_live_and_aborts_nothing(world: World) -> None:
    """The running turn goes on, and its next request has the new goal and tools."""
    await busy(world)
    before = world.rows("a")
    await world.agent.update_loop("a", {"goal": "A NEW GOAL", "tools": ["loop_send", "loop_list"]})
    assert world.rows("a") == before
    asked = await world.asked("a")
    assert not asked.cancelled
    await world.use("loop_send", {"to_loop": "main", "content": "x"}, "a")
    asked = await world.asked("a")
    assert "A NEW GOAL" in asked.system
    assert asked.tool_names() == {"loop_send", "loop_list"}
    await world.answer("a")


@played(PAIR)
async def test_LOOP_094_disabling_stops_now(world: World) -> None:
    """The turn is aborted, its rows stay, nothing is archived, the entry stays (regression 24)."""
    await busy(world)
    await world.use("loop_send", {"to_loop": "main", "content": "x"}, "a")
    asked = await world.asked("a")
    rows = world.rows("a")
    await world.agent.update_loop("a", {"enabled": False})
    await world.quiet()
    assert asked.cancelled
    assert world.rows("a") == rows
    assert world.audits() == []
    assert (world.loop("a") or {})["enabled"] is False
    assert ("info", "loop", "loop_turn_aborted", "a") in events(world)


@played(PAIR)
async def test_LOOP_095_reenabling_waits_for_the_old_turn(world: World) -> None:
    """Disabled and enabled in one breath: the new executor starts on the rows once the old turn has settled
    (regression 25)."""
    await busy(world)
    old = world.agent.pool.loop("a")
    await world.agent.update_loop("a", {"enabled": False})
    assert world.agent.pool.machine.loops["a"].phase.name == "STOPPING"
    await world.agent.update_loop("a", {"enabled": True})
    assert world.agent.pool.machine.loops["a"].phase.name == "STOPPING"
    await world.quiet()
    assert world.agent.pool.machine.loops["a"].phase.name == "IDLE"
    assert world.agent.pool.loop("a") is not old
    world.agent.send("main", "a", "again", wake=True)
    assert (await world.asked("a")).text().count("[from loop:b] go") == 1
    await world.answer("a")


@played(PAIR)
async def test_LOOP_100_LOOP_101_LOOP_113_deleting_a_busy_loop(world: World) -> None:
    """Condemned, aborted, settled, archived with every row, removed; and it says that a turn was interrupted
    (regressions 21, 24)."""
    await busy(world)
    await world.use("loop_send", {"to_loop": "main", "content": "x"}, "a")
    asked = await world.asked("a")
    seqs = world.agent.store.transcript.seqs("a")
    deleted = await world.agent.delete_loop("a")
    assert (deleted.archived, deleted.interrupted) == (len(seqs), True)
    assert asked.cancelled
    assert world.loop("a") is None
    assert world.agent.store.transcript.count("a") == 0
    ((source, start, end, count, entries),) = world.audits()
    assert (source, start, end, count) == ("loop:a", min(seqs), max(seqs), len(seqs))
    assert [entry["seq"] for entry in entries] == seqs
    assert not (await world.agent.delete_loop("b")).interrupted


@played(PAIR)
async def test_LOOP_100_a_condemned_loop_starts_no_turn(world: World) -> None:
    """From the moment of the call on: dispatches are refused, sends are appended and archived (question 22)."""
    await busy(world)
    deletion = asyncio.ensure_future(world.agent.delete_loop("a"))
    await asyncio.sleep(0)
    delivery = world.agent.send("b", "a", "too-late", wake=True)
    assert (delivery.delivered, delivery.woke, delivery.reason) == (True, False, "loop disabled")
    assert world.agent.wake("a", Dispatch("timer", "tick")) == 'loop "a" is being deleted'
    await deletion
    entries = world.audits()[0][4]
    assert any("too-late" in str(entry) for entry in entries)
    assert not any("tick" in str(entry) for entry in entries)
    assert world.agent.store.transcript.count("a") == 0
    assert len(world.model.log) == 1


@played(PAIR)
async def test_LOOP_102_the_wait_for_a_turn_is_bounded(world: World) -> None:
    """A turn that does not stop is left behind, and what it writes later is not written."""
    release = asyncio.Event()
    await busy(world)
    loop = world.agent.pool.loop("a")
    world.agent.pool.teardown.settle_s = 0.01
    loop._task, real = asyncio.ensure_future(release.wait()), loop._task

    def ignore() -> bool:
        return True

    loop._task.cancel = ignore  # type: ignore[assignment,method-assign]
    await world.agent.delete_loop("a")
    assert ("warn", "loop", "loop_turn_abort_timeout", "a") in events(world)
    await world.answer("a", "written too late")
    release.set()
    await asyncio.wait([real, loop._task])  # type: ignore[list-item]
    assert world.agent.store.transcript.count("a") == 0


@pytest.mark.parametrize("audit", [True, False])
def test_LOOP_103_a_removed_loop_is_archived_whatever_the_settings_say(tmp_path: object, audit: bool) -> None:
    """By the tool and by an edit; an empty stream writes no snapshot (regression 26)."""
    flags = {"loop": audit, "inbox": False, "outbox": False, "files": False}

    @played(config_with({"name": "a"}, {"name": "b"}, {"name": "c"}, audit=flags, context={"audit": flags}))
    async def scene(world: World) -> None:
        world.agent.send("main", "a", "x")
        world.agent.send("main", "b", "y")
        await world.agent.delete_loop("a")
        await world.agent.edit_config(lambda config: config | {"loops": [config["loops"][1]]})
        await world.quiet()
        assert [audit[0] for audit in world.audits()] == ["loop:a", "loop:b"]
        ref = world.agent.store.connection.execute("SELECT DISTINCT ref FROM adf_audit").get
        assert ref is None
        torn = [row[3] for row in world.logs("loop_torn_down")]
        assert torn == ["a", "b"]

    scene(tmp_path)  # type: ignore[arg-type]


@played(PAIR)
async def test_LOOP_104_each_removal_is_logged_with_its_entries(world: World) -> None:
    """Level, origin, target, and the count in the message."""
    for _ in range(3):
        world.agent.send("main", "a", "x")
    await world.agent.delete_loop("a")
    ((level, origin, _, target, message),) = world.logs("loop_torn_down")
    assert (level, origin, target) == ("info", "loop", "a")
    assert "3 entries" in message


@played(config_with({"name": "a", "tools": []}, {"name": "b", "enabled": False}))
async def test_LOOP_105_removal_by_a_config_edit(world: World) -> None:
    """The same treatment, for a busy loop and for a disabled one, behind the back of the edit (regression 14)."""
    timer(world, "a")
    timer(world, "b")
    world.agent.send("main", "b", "kept while disabled")
    world.agent.send("main", "a", "go", wake=True)
    asked = await world.asked("a")
    await world.agent.edit_config(lambda config: config | {"loops": []})
    with pytest.raises(Refused):
        world.agent.send("main", "a", "gone")
    assert world.agent.wake("a", Dispatch("timer", "tick")) == 'loop "a" is being removed'
    await world.quiet()
    assert asked.cancelled
    assert sorted(audit[0] for audit in world.audits()) == ["loop:a", "loop:b"]
    assert timers(world) == []
    assert world.agent.store.transcript.streams() == []


@played(PAIR)
async def test_LOOP_106_locked_timers_stay(world: World) -> None:
    """Unlocked ones of the loop go, locked ones stay and are logged, nobody else's are touched (regression 13)."""
    for loop, locked in (("a", False), ("a", True), ("b", False), ("main", False), (None, False)):
        timer(world, loop, locked=locked)
    await world.agent.delete_loop("a")
    assert timers(world) == [("a", 1), ("b", 0), ("main", 0), (None, 0)]
    assert ("info", "loop", "loop_timers_dropped", "a") in events(world)
    assert ("warn", "loop", "loop_timers_locked_kept", "a") in events(world)


@played(PAIR)
async def test_LOOP_108_LOOP_231_reasons_of_refusal(world: World) -> None:
    """Being disabled, being deleted, disabled, unknown: each in its words, logged, and never sent to `main`."""
    await busy(world)
    world.agent.pool.stop("a")
    assert world.agent.wake("a", Dispatch("timer", "t")) == 'loop "a" is being disabled'
    await world.agent.update_loop("b", {"enabled": False})
    assert world.agent.wake("b", Dispatch("timer", "t")) == 'loop "b" is disabled'
    assert world.agent.wake("c", Dispatch("timer", "t")) == 'no loop named "c" on this agent'
    await world.quiet()
    dropped = world.logs("loop_dispatch_dropped")
    assert [(row[0], row[1], row[3]) for row in dropped] == [("warn", "runtime", name) for name in "abc"]
    assert world.texts() == []
    assert [call.loop for call in world.model.log] == ["a"]


@played(PAIR)
async def test_LOOP_109_an_edit_during_the_deletion_survives(world: World) -> None:
    """The configuration is read again after the waits (regression 22)."""
    await busy(world)
    deletion = asyncio.ensure_future(world.agent.delete_loop("a"))
    await asyncio.sleep(0)
    await world.agent.create_loop({"name": "new", "goal": "g", "autostart": False})
    await world.agent.edit_config(lambda config: config | {"description": "kept"})
    await deletion
    stored = world.agent.store.config.read()
    assert [loop["name"] for loop in stored["loops"]] == ["b", "new"]
    assert stored["description"] == "kept"


@played(PAIR)
async def test_LOOP_110_a_failed_archive_leaves_the_loop(world: World) -> None:
    """An error to the caller, the stream stays, and it runs again (regression 23)."""
    world.agent.send("main", "a", "x")
    transcript = world.agent.store.transcript
    real = transcript.tear_down

    async def fail(*_: object) -> int:
        raise UnreadableError("no room", hint="SECRET /path")

    transcript.tear_down = fail  # type: ignore[assignment,method-assign]
    with pytest.raises(Refused, match="could not be archived") as refusal:
        await world.agent.delete_loop("a")
    assert "SECRET" not in str(refusal.value)
    transcript.tear_down = real  # type: ignore[method-assign]
    assert world.loop("a") is not None
    assert len(world.texts("a")) == 1
    assert world.agent.send("main", "a", "go", wake=True).woke
    await world.answer("a")
    await world.quiet()


@played(PAIR)
async def test_LOOP_111_a_new_loop_of_the_name_inherits_nothing(world: World) -> None:
    """Empty stream, no timers, no records; created while the old one is still being removed, it waits (question 9)."""
    timer(world, "a")
    world.agent.send("main", "a", "old")
    await busy(world)
    await world.agent.edit_config(lambda config: config | {"loops": config["loops"][1:]})
    await world.agent.create_loop({"name": "a", "goal": "another"})
    asked = await world.asked("a")
    assert "old" not in asked.text()
    assert timers(world) == []
    assert [text.startswith("[from loop:main] Autostart") for text in world.texts("a")] == [True]
    await world.answer("a")


@played(PAIR)
async def test_LOOP_107_logs_and_snapshots_of_a_removed_loop_stay(world: World) -> None:
    """They still name it."""
    world.agent.send("main", "a", "go", wake=True)
    await world.fail("a")
    await world.quiet()
    await world.agent.clear("a")
    before = world.agent.store.connection.execute("SELECT count(*) FROM adf_logs WHERE loop = 'a'").get
    await world.agent.delete_loop("a")
    after = world.agent.store.connection.execute("SELECT count(*) FROM adf_logs WHERE loop = 'a'").get
    assert before == after > 0
    assert [audit[0] for audit in world.audits()] == ["loop:a"]


@played(config_with({"name": "a"}, on=[]))
async def test_LOOP_121_only_main_manages(world: World) -> None:
    """No allow-list brings the tool to a loop, and the door refuses it as well."""
    world.agent.send("main", "a", "go", wake=True)
    asked = await world.asked("a")
    assert "loop_manage" not in asked.tool_names()
    told = await world.use("loop_manage", {"action": "delete", "name": "a"}, "a")
    assert "there is no tool" in told
    assert world.loop("a") is not None
    await world.answer("a")


def test_LOOP_121_a_gate_on_loop_manage_asks_the_owner(tmp_path: object) -> None:
    """`restricted` makes the calls of `main` need approval."""
    config = config_with({"name": "a"})
    for tool in config["tools"]:
        if tool["name"] == "loop_manage":
            tool["restricted"] = True

    @played(config)
    async def scene(world: World) -> None:
        world.owner.approves = False
        await world.chat()
        assert "approv" in await world.use("loop_manage", {"action": "delete", "name": "a"})
        assert world.loop("a") is not None
        world.owner.approves = True
        assert "Deleted" in await world.use("loop_manage", {"action": "delete", "name": "a"})
        assert world.owner.asked == [("main", "loop_manage")] * 2
        await world.answer()

    scene(tmp_path)  # type: ignore[arg-type]


@played(PAIR)
async def test_LOOP_122_faults_show_no_inside(world: World) -> None:
    """Neither SQL nor paths reach the model (regression 39)."""

    def broken(*_: object, **__: object) -> None:
        raise OSError("no such table: /secret/path SELECT")

    world.agent.store.transcript.append = broken  # type: ignore[assignment,method-assign]
    from adf_format.runtime.tools import checks
    from adf_format.runtime.tools.protocol import Call

    result = await checks.run(Call("c", "loop_send", {"to_loop": "a", "content": "x"}, "main"), world.agent)
    assert result.is_error
    assert "secret" not in result.content
    assert "loop_send" in result.content


@played(PAIR)
async def test_LOOP_124_LOOP_125_rows_about_a_loop_are_written_by_main(world: World) -> None:
    """The loop concerned is the target; rows on behalf of a loop carry its name."""
    world.agent.send("main", "a", "go", wake=True)
    await world.fail("a")
    await world.quiet()
    await world.agent.delete_loop("a")
    sql = "SELECT event, target, loop FROM adf_logs ORDER BY id"
    assert list(world.agent.store.connection.execute(sql)) == [
        ("turn_failed", None, "a"),
        ("loop_torn_down", "a", None),
    ]


@played(PAIR)
async def test_LOOP_131_LOOP_133_archive_clear_and_entry_are_one_transaction(world: World) -> None:
    """If any part of a deletion fails, nothing of it has happened."""
    world.agent.send("main", "a", "x")
    store = world.agent.store
    real = store.config.write

    def broken(config: object) -> None:
        raise UnreadableError("no room")

    store.config.write = broken  # type: ignore[assignment,method-assign]
    with pytest.raises(Refused):
        await world.agent.delete_loop("a")
    store.config.write = real  # type: ignore[method-assign]
    assert world.audits() == []
    assert len(world.texts("a")) == 1
    assert world.loop("a") is not None


@played(PAIR)
async def test_LOOP_132_streams_of_nobody_are_archived_at_the_start(world: World) -> None:
    """A crash between the edit and the archive: rows, timers and records of the name are put away."""
    world.agent.send("main", "a", "x")
    timer(world, "a")
    timer(world, "a", locked=True)
    config = world.agent.store.config.read()
    world.agent.store.config.write(config | {"loops": config["loops"][1:]})
    await world.restart()
    assert [audit[0] for audit in world.audits()] == ["loop:a"]
    assert timers(world) == [("a", 1)]
    assert world.agent.store.transcript.streams() == []
    assert [row[3] for row in world.logs("loop_torn_down")] == ["a"]


@pytest.mark.parametrize("state", ["suspended", "off"])
def test_LOOP_135_a_suspended_agent_is_still(tmp_path: object, state: str) -> None:
    """Turns are aborted, dispatches refused in these words, messages still appended."""

    @played(PAIR)
    async def scene(world: World) -> None:
        await busy(world)
        world.agent.set_state(state)
        await world.quiet()
        assert world.agent.wake("main", Dispatch("timer", "t")) == f"the agent is {state}"
        delivery = world.agent.send("main", "b", "kept", wake=True)
        assert (delivery.delivered, delivery.woke, delivery.reason) == (True, False, f"the agent is {state}")
        assert world.texts("b") == ["[from loop:main] kept"]
        record = json.loads(world.agent.store.meta.get("adf_runtime_turn_checkpoint:a") or "")
        assert (record["status"], record["reason"]) == ("interrupted", "owner_state_transition")

    scene(tmp_path)  # type: ignore[arg-type]


@played(PAIR)
async def test_LOOP_135_a_state_that_the_owner_writes_takes_effect_at_once(world: World) -> None:
    """By an edit of the configuration, as by a button."""
    await busy(world)
    asked = await world.asked("a")
    await world.agent.edit_config(lambda config: config | {"state": "suspended"}, by_owner=True)
    await world.quiet()
    assert asked.cancelled
    assert world.agent.obstacle("b") == "the agent is suspended"
    await world.agent.edit_config(lambda config: config | {"state": "active"}, by_owner=True)
    assert world.agent.obstacle("b") is None


@played(PAIR)
async def test_LOOP_054_a_revoked_tool_is_gone_from_the_next_request(world: World) -> None:
    """A change of the agent reaches a running loop at once (regressions 29, 33)."""
    await busy(world)
    assert (await world.asked("a")).tool_names() == {"loop_send"}

    def revoke(config: dict[str, object]) -> dict[str, object]:
        tools = [tool for tool in config["tools"] if tool["name"] != "loop_send"]  # type: ignore[attr-defined]
        return config | {"tools": tools}

    await world.agent.edit_config(revoke)
    told = await world.use("loop_send", {"to_loop": "main", "content": "x"}, "a")
    assert "there is no tool" in told
    assert (await world.asked("a")).tool_names() == set()
    await world.answer("a")


@played(config_with({"name": "a"}))
async def test_LOOP_055_LOOP_057_a_loop_never_runs_the_raw_configuration(world: World) -> None:
    """Whatever is asked of it: the effective one, or nothing at all once it is gone (regression 35)."""
    assert world.agent.effective("a")["instructions"] != world.agent.config["instructions"]
    await world.agent.delete_loop("a")
    assert world.agent.effective("a") == {"tools": [], "loops": []}


@pytest.mark.parametrize("gate", ["tool", "file"])
def test_LOOP_056_approval_never_parks_on_a_loop(tmp_path: object, gate: str) -> None:
    """A gated tool is not even granted; a protected file is answered at once; nobody is asked, no task waits
    (regression 34)."""
    config = config_with({"name": "a", "tools": ["fs_write"]})
    for tool in config["tools"]:
        if tool["name"] == "fs_write":
            tool["restricted"] = gate == "tool"

    @played(config)
    async def scene(world: World) -> None:
        world.agent.store.connection.execute("UPDATE adf_files SET protection = 'read_only' WHERE path = 'README.md'")
        before = world.agent.store.files.read("README.md")
        world.agent.send("main", "a", "go", wake=True)
        await world.use("fs_write", {"path": "README.md", "content": "overwritten"}, "a")
        await world.answer("a")
        await world.quiet()
        assert world.agent.store.files.read("README.md") == before
        assert world.owner.asked == []
        pending = "SELECT count(*) FROM adf_tasks WHERE status IN ('pending_approval', 'running')"
        assert world.agent.store.connection.execute(pending).get == 0

    scene(tmp_path)  # type: ignore[arg-type]


def override(code: bool, provider: str = "suite") -> dict[str, object]:
    """An agent whose loop `a` has a model of its own."""
    config = config_with({"name": "a", "model": {"provider": provider, "model_id": "own"}})
    for tool in config["tools"]:
        if tool["name"] in ("sys_code", "sys_lambda"):
            tool["enabled"] = code
    return config


@pytest.mark.parametrize(("code", "model"), [(True, "own"), (False, "m")])
def test_LOOP_058_an_override_without_code_execution_has_no_effect(tmp_path: object, code: bool, model: str) -> None:
    """The agent's model answers, and that is logged once."""

    @played(override(code))
    async def scene(world: World) -> None:
        world.agent.send("main", "a", "go", wake=True)
        asked = await world.answer("a")
        assert asked.model.model_id == model
        await world.agent.edit_config(lambda config: config | {"description": "x"})
        assert len(world.logs("loop_model_override_ignored")) == (not code)

    scene(tmp_path)  # type: ignore[arg-type]


@played(override(True, "nowhere"))
async def test_LOOP_059_an_override_that_cannot_be_built_starts_nothing(world: World) -> None:
    """No turn, no foreign model on the agent's provider, an error in the log; the entry stays (regression 36)."""
    delivery = world.agent.send("main", "a", "go", wake=True)
    assert (delivery.delivered, delivery.woke, delivery.reason) == (True, False, "loop disabled")
    assert [row[:4] for row in world.logs("loop_start_failed")] == [("error", "loop", "loop_start_failed", "a")]
    assert world.loop("a") is not None
    assert not world.model.log
    await world.agent.update_loop("a", {"model": None})
    world.agent.send("main", "a", "go", wake=True)
    assert (await world.answer("a")).model.model_id == "m"


def test_LOOP_017_LOOP_019_LOOP_021_an_invalid_configuration_is_run(tmp_path: object) -> None:
    """More loops than allowed, a declared `main`, a duplicate: it opens, its loops run, one warning is logged."""
    names = [f"l{number}" for number in range(17)]

    @played(config_with(*({"name": name} for name in names)))
    async def scene(world: World) -> None:
        config = world.agent.store.config.read()
        config["loops"] += [{"name": "main", "goal": "g", "enabled": True}, {"name": "l0", "goal": "h"}, {"name": 7}]
        world.agent.store.config.write(config)
        world.checks_turns = False
        await world.agent.stop()
        world.agent = world._agent()
        await world.agent.start()
        assert [row[:2] for row in world.logs("config_validation")] == [("warn", "runtime")]
        assert [row[3] for row in world.logs("loop_start_failed")] == ["main"]
        for name in ("l16", "l0"):
            world.agent.send("main", name, "go", wake=True)
            assert "Goal of" in (await world.answer(name)).system
        asked = await world.chat()
        assert "INSTRUCTIONS" in asked.system
        await world.answer()
        await world.quiet()
        config["loops"] = []
        world.agent.store.config.write(config)

    scene(tmp_path)  # type: ignore[arg-type]


def test_LOOP_023_old_loops_get_the_two_tools_once(tmp_path: object) -> None:
    """Those missing, order kept; what the owner removes later is not added again (regression 41)."""

    @played(config_with({"name": "a", "tools": ["fs_read"]}, {"name": "b"}, {"name": "c", "tools": ["loop_list"]}))
    async def scene(world: World) -> None:
        world.agent.store.meta.delete("adf_loop_tools_backfilled")
        await world.restart()
        tools = [(world.loop(name) or {})["tools"] for name in "abc"]
        assert tools == [["fs_read", "loop_send", "loop_list"], ["loop_send", "loop_list"], ["loop_list", "loop_send"]]
        assert world.agent.store.meta.get("adf_loop_tools_backfilled") == "1"
        assert world.agent.store.meta.protection("adf_loop_tools_backfilled") == "none"
        await world.agent.update_loop("a", {"tools": []})
        await world.restart()
        assert (world.loop("a") or {})["tools"] == []

    scene(tmp_path)  # type: ignore[arg-type]


@played()
async def test_LOOP_023_a_file_without_loops_just_gets_the_key(world: World) -> None:
    """Its configuration is not written."""
    world.agent.store.meta.delete("adf_loop_tools_backfilled")
    before = world.agent.store.connection.execute("SELECT config_json FROM adf_config").get
    await world.restart()
    assert world.agent.store.meta.get("adf_loop_tools_backfilled") == "1"
    assert world.agent.store.connection.execute("SELECT config_json FROM adf_config").get == before
