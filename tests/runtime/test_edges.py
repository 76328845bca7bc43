"""The edge of the runtime: clocks, the live connection, logs, states, and faults of the system."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from adf_format import creation
from adf_format.container import open_live
from adf_format.errors import LockedError, MissingFileError, UnreadableError
from adf_format.runtime.clock import RealClock, VirtualClock
from adf_format.runtime.core import logging, states
from adf_format.runtime.core.dispatch import Dispatch
from adf_format.runtime.core.pool import Abort, Dropped, Phase, PoolMachine, Settled, Start

from .world import World, config_with, played

AGENT = config_with({"name": "a", "tools": ["loop_send"]})


def test_the_virtual_clock_moves_only_when_it_is_told() -> None:
    """What comes due runs in order, each at its own moment; cancelled and later things do not."""

    async def play() -> list[tuple[str, int]]:
        clock = VirtualClock(1000)
        seen: list[tuple[str, int]] = []

        def noting(name: str) -> Any:
            async def note() -> None:
                seen.append((name, clock.now()))
                if name == "first":
                    clock.schedule(clock.now() + 5, noting("second"))

            return note

        clock.schedule(1010, noting("first"))
        clock.schedule(1012, noting("third")).cancel()
        clock.schedule(2000, noting("never"))
        clock.schedule(900, noting("past"))
        sleeper = asyncio.ensure_future(clock.sleep(20))
        await clock.sleep(0)
        await asyncio.sleep(0)
        assert await clock.advance(50) == 1050
        await sleeper
        clock.at_least(10)
        assert clock.now() == 1050
        return seen

    assert asyncio.run(play()) == [("past", 1000), ("first", 1010), ("second", 1015)]


def test_the_real_clock_runs_actions_as_tasks() -> None:
    """A time that has passed is now; a cancelled one never comes."""

    async def play() -> None:
        clock = RealClock()
        done = asyncio.Event()

        async def action() -> None:
            done.set()

        async def never() -> None:
            pytest.fail("it was cancelled")

        clock.schedule(clock.now() + 60_000, never).cancel()
        clock.schedule(clock.now() - 5, action)
        await asyncio.wait_for(done.wait(), 5)
        await clock.sleep(0)
        assert clock.now() > 1_700_000_000_000

    asyncio.run(play())


@pytest.mark.parametrize(
    ("settings", "level", "kept"),
    [
        ({}, "info", True),
        ({}, "debug", False),
        ({"default_level": "debug"}, "debug", True),
        ({"default_level": "error"}, "warn", False),
        ({"default_level": "nonsense"}, "info", True),
        ({"rules": [{"origin": "lo*", "min_level": "error"}]}, "warn", False),
        ({"rules": [{"origin": "other", "min_level": "error"}, {"origin": 7}]}, "warn", True),
        ({"default_level": "error", "rules": [{"origin": "*", "min_level": "debug"}]}, "debug", True),
    ],
)
def test_which_log_rows_are_kept(settings: dict[str, Any], level: str, kept: bool) -> None:
    """The first rule whose pattern fits decides, else the default level."""
    assert logging.is_kept({"logging": settings}, level, "loop") is kept


ROWS = [({}, 10_000), ({"max_rows": None}, None), ({"max_rows": 7}, 7), ({"max_rows": 0}, 10_000)]


@pytest.mark.parametrize(("given", "most"), ROWS)
def test_how_many_log_rows_are_kept(given: dict[str, Any], most: int | None) -> None:
    """Null is no limit; what is no number counts as the default."""
    assert logging.max_rows({"logging": given}) == most


@played(config_with(logging={"default_level": "warn", "rules": [], "max_rows": 10}))
async def test_logs_are_filtered_and_pruned(world: World) -> None:
    """The newest rows stay."""
    world.agent.log("info", "quiet", "not kept")
    for number in range(200):
        world.agent.log("warn", "loud", str(number))
    rows = world.logs()
    assert {row[2] for row in rows} == {"loud"}
    assert rows[-1][4] == "199"
    assert len(rows) < 100
    world.agent.store.logs.prune(None)
    assert len(world.logs()) == len(rows)


def test_states_and_what_they_allow() -> None:
    """Two stop everything, one leaves timers; an agent starts in one of three."""
    assert [states.gate(state) is None for state in states.STATES] == [True, True, True, False, False]
    assert [states.allows(state, "timer") for state in states.STATES] == [True, True, True, False, False]
    assert [states.allows(state, "inbox") for state in states.STATES] == [True, True, False, False, False]
    assert states.starting_state({"start_in_state": "idle"}) == "idle"
    assert states.starting_state({"start_in_state": "off"}) == states.starting_state({}) == "active"


def test_a_live_file_has_one_writer_and_any_number_of_readers(tmp_path: Path) -> None:
    """The claim ends with the connection; a transaction inside another is part of it; faults roll back."""
    path = tmp_path / "a.adf"
    creation.new(path, name="x")
    live = open_live(path)
    with pytest.raises(LockedError):
        open_live(path)

    def failing() -> None:
        with live.transaction() as connection:
            connection.execute("INSERT INTO adf_meta (key, value) VALUES ('a', '1')")
            with live.transaction():
                connection.execute("INSERT INTO adf_meta (key, value) VALUES ('b', '1')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert live.connection.execute("SELECT count(*) FROM adf_meta WHERE key IN ('a', 'b')").get == 0
    with live.authorized(None):
        live.connection.execute("CREATE TABLE local_x (y)")
    with pytest.raises(Exception, match="not authorized"):
        live.connection.execute("DROP TABLE local_x")
    live.close(None)
    again = open_live(path)
    assert again.connection.execute("SELECT count(*) FROM adf_meta WHERE key = 'adf_clean_close'").get == 0
    again.close("2026-01-01T00:00:00.000Z")
    assert [one.name for one in tmp_path.iterdir()] == ["a.adf"]


def test_what_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    """Missing, no database, not writable."""
    with pytest.raises(MissingFileError):
        open_live(tmp_path / "none.adf")
    path = tmp_path / "text.adf"
    path.write_text("this is no database" * 100)
    with pytest.raises(UnreadableError):
        open_live(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    """Before anything runs."""
    path = tmp_path / "a.adf"
    creation.new(path, name="x")
    path.chmod(0o400)
    with pytest.raises(UnreadableError):
        open_live(path)


@pytest.mark.parametrize("text", ["[1]", "not json"])
def test_an_agent_without_a_configuration_is_refused(tmp_path: Path, text: str) -> None:
    """What is no object cannot be run."""

    async def play() -> None:
        world = World(tmp_path / "a.adf", AGENT)
        world.agent.store.connection.execute("UPDATE adf_config SET config_json = ?", (text,))
        world.agent.store.close()
        with pytest.raises(UnreadableError, match="configuration"):
            World(tmp_path / "a.adf", fresh=False)

    asyncio.run(play())


@played(AGENT)
async def test_a_fault_of_the_system_ends_the_turn_and_not_the_agent(world: World) -> None:
    """The session is read again from the rows, the fault is logged, the next turn runs."""
    real = world.agent.store.transcript.append

    def broken(*_: object, **__: object) -> None:
        raise OSError("disk full")

    await world.chat("hello")
    world.agent.store.transcript.append = broken  # type: ignore[assignment,method-assign]
    await world.answer("main", "lost answer")
    world.agent.store.transcript.append = real  # type: ignore[method-assign]
    await world.quiet()
    assert [row[0] for row in world.logs("turn_failed")] == ["error"]
    text = (await world.chat("again")).text()
    assert "hello" in text
    assert "lost answer" not in text
    await world.answer()


@played(AGENT)
async def test_a_task_that_fails_takes_nobody_with_it(world: World) -> None:
    """It is logged."""

    async def fault() -> None:
        raise RuntimeError("of ours")

    await asyncio.wait([world.agent.spawn(fault(), "something")])
    assert "something" in world.logs("task_failed")[0][4]
    await world.chat()
    await world.answer()


@played(AGENT)
async def test_a_long_result_is_cut_and_says_so(world: World) -> None:
    """Never in silence."""
    await world.agent.edit_config(lambda config: config | {"limits": {"max_tool_result_tokens": 50}})
    await world.chat()
    result = await world.use("loop_list", {})
    assert len(result) < 300
    assert "[cut: this result has" in result
    await world.answer()


@played(AGENT)
async def test_a_removal_whose_archive_fails_is_tried_again_at_the_next_start(world: World) -> None:
    """The rows stay, and the fault is logged (LOOP-110, LOOP-132)."""
    world.agent.send("main", "a", "x")
    real = world.agent.store.transcript.tear_down

    async def fail(*_: object) -> int:
        raise UnreadableError("no room")

    world.agent.store.transcript.tear_down = fail  # type: ignore[assignment,method-assign]
    await world.agent.edit_config(lambda config: config | {"loops": []})
    await world.quiet()
    world.agent.store.transcript.tear_down = real  # type: ignore[method-assign]
    assert [row[0] for row in world.logs("loop_teardown_failed")] == ["error"]
    assert len(world.texts("a")) == 1
    await world.restart()
    assert [audit[0] for audit in world.audits()] == ["loop:a"]


def test_the_pool_machine_in_small_steps() -> None:
    """Events of a loop that nobody knows, of turns that were given up, of stops upon stops."""
    pool = PoolMachine()
    pool.declare("a", runs=True)
    assert pool.ended("nobody", 1) == []
    _, (start,) = pool.dispatch("a", Dispatch("chat"))
    assert isinstance(start, Start)
    assert pool.dispatch("a", Dispatch("timer")) == (None, [])
    commands = pool.condemn("a", "disabled")
    assert [type(command) for command in commands] == [Dropped, Abort]
    assert pool.condemn("a", "deleted") == []
    assert pool.ended("a", start.turn + 5) == []
    assert pool.ended("a", start.turn) == [Settled("a", "deleted")]
    assert pool.loops["a"].phase is Phase.STOPPING
    assert pool.ended("a", start.turn) == []
    pool.forget("a")
    assert pool.refusal("a") == 'no loop named "a" on this agent'
    pool.declare("b", runs=True)
    _, (start,) = pool.dispatch("b", Dispatch("chat"))
    pool.condemn("b", "removed")
    assert pool.give_up("b") == [Settled("b", "removed")]
    pool.restore("b", runs=False)
    assert pool.give_up("b") == []
    pool.cleared("nobody", [1])
    assert pool.condemn("b", "disabled") == [Settled("b", "disabled")]
    assert pool.loops["b"].phase is Phase.DOWN
