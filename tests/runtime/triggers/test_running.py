"""Triggers and timers of a running agent, on a clock that stands still (loops.md 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from runtime.world import World, config_with

from adf_format.runtime.attachments import attachments
from adf_format.runtime.messages.receive import receive
from adf_format.runtime.tools.registry import NAMES

GARDENER = {"name": "gardener", "tools": ["loop_send", "sys_set_timer", "fs_write"]}
MESSAGE = {"from": "did:peer", "id": "m1", "payload": {"content": "secret words", "subject": "Hi"}}


def run(path: Path, scenario: Callable[[World], Awaitable[None]], *loops: Any, **changes: Any) -> None:
    config = config_with(*(loops or (GARDENER,)), on=NAMES, **changes)

    async def go() -> None:
        async with World(path / "agent.adf", config, attachments=attachments()) as world:
            await scenario(world)
            await world.quiet()

    asyncio.run(go())


def on(kind: str, *targets: Any, enabled: bool = True) -> dict[str, Any]:
    return {"triggers": {kind: {"enabled": enabled, "targets": list(targets)}}}


def timer(
    at: World, loop: str | None = None, scope: tuple[str, ...] = ("agent",), every: int | None = None, **more: Any
) -> int:
    from adf_format.runtime.timers.schedule import Schedule

    now = at.clock.now()
    schedule = Schedule("interval", every_ms=every) if every else Schedule("once", at=now + 1000)
    found = at.agent.store.timers.add(schedule, now + (every or 1000), scope, loop=loop, payload="water", **more)
    at.agent.emit(_set_event())
    return found.id


def _set_event() -> Any:
    from adf_format.runtime.ports import Event

    return Event("timer", {"added": 1})


def enable(at: World, name: str, *, on: bool) -> None:
    loops = [loop | ({"enabled": on} if loop["name"] == name else {}) for loop in at.agent.config["loops"]]
    at.agent.save_config(lambda config: config | {"loops": loops})


def test_loop_241_a_timer_wakes_the_loop_that_it_names_and_main_gets_nothing(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, "gardener")
        await at.clock.advance(999)
        assert at.model.open == []
        await at.clock.advance(1)
        asked = await at.answer("gardener")
        assert "[Timer] timer 1 fired: water" in asked.text()
        await at.quiet()
        assert at.texts() == []
        assert at.texts("gardener")[0] == "[Timer] timer 1 fired: water", "LOOP-245"

    run(tmp_path, scenario)


def test_a_timer_set_by_a_tool_fires_when_its_time_has_come(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await at.chat()
        await at.use(
            "sys_set_timer", {"schedule": {"type": "interval", "every_ms": 1000, "max_runs": 2}, "scope": ["agent"]}
        )
        await at.answer()
        await at.quiet()
        for _ in range(2):
            await at.clock.advance(1000)
            await at.answer()
            await at.quiet()
        await at.clock.advance(10_000)
        assert at.model.open == []
        assert at.agent.store.connection.execute("SELECT run_count, expired FROM adf_timers").fetchall() == [(2, 1)]

    run(tmp_path, scenario)


def test_bug_27_a_recurring_timer_is_renewed_in_place(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, every=1000)
        before = at.agent.store.connection.execute("SELECT id, created_at, schedule_json FROM adf_timers").fetchall()
        for _ in range(3):
            await at.clock.advance(1000)
            await at.answer()
            await at.quiet()
        found = at.agent.store.connection.execute("SELECT id, created_at, schedule_json FROM adf_timers").fetchall()
        assert found == before
        assert at.agent.store.connection.execute("SELECT run_count FROM adf_timers").get == 3

    run(tmp_path, scenario)


def test_what_was_missed_while_the_agent_was_stopped_fires_once_at_its_start(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, every=1000)
        await at.agent.stop()
        await at.clock.advance(10_500)
        at.agent = at._agent()
        await at.agent.start()
        await at.answer()
        await at.quiet()
        await at.clock.advance(500)
        await at.answer()
        await at.quiet()
        assert at.agent.store.connection.execute("SELECT run_count FROM adf_timers").get == 2

    run(tmp_path, scenario)


def test_loop_231_a_dispatch_to_a_loop_that_does_not_run_is_dropped_logged_and_never_mains(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, "nobody", every=1000)
        timer(at, "sleeper", every=1000)
        await at.clock.advance(1000)
        await at.turn_of_events()
        assert at.model.open == []
        assert at.texts() == []
        found = [(level, origin, target) for level, origin, _, target, _ in at.logs("loop_dispatch_dropped")]
        assert found == [("warn", "runtime", "nobody"), ("warn", "runtime", "sleeper")]
        messages = [message for *_, message in at.logs("loop_dispatch_dropped")]
        assert 'no loop named "nobody" on this agent' in messages[0]
        assert 'loop "sleeper" is disabled' in messages[1]

    run(tmp_path, scenario, {"name": "sleeper", "enabled": False})


def test_loop_242_a_once_timer_of_a_disabled_loop_fires_when_the_loop_runs_again(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        enable(at, "gardener", on=False)
        await at.turn_of_events()
        timer(at, "gardener")
        for _ in range(3):
            await at.clock.advance(1000)
        assert len(at.logs("loop_dispatch_dropped")) == 1
        assert at.agent.store.connection.execute("SELECT expired, run_count FROM adf_timers").fetchall() == [(0, 0)]
        enable(at, "gardener", on=True)
        await at.clock.advance(1)
        await at.answer("gardener")
        await at.quiet()
        assert at.agent.store.connection.execute("SELECT expired, run_count FROM adf_timers").fetchall() == [(1, 1)]

    run(tmp_path, scenario)


def test_loop_242_a_once_timer_whose_turn_waited_behind_another_is_given_back(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await at.chat("work", "gardener")
        timer(at, "gardener")
        await at.clock.advance(1000)
        enable(at, "gardener", on=False)
        for _ in range(20):
            await at.turn_of_events()
        assert at.agent.store.connection.execute("SELECT expired, run_count FROM adf_timers").fetchall() == [(0, 0)]
        assert len(at.logs("loop_dispatch_dropped")) == 1
        enable(at, "gardener", on=True)
        await at.answer("gardener")

    run(tmp_path, scenario)


def test_loop_243_a_locked_timer_of_a_deleted_loop_stays_and_wakes_nobody(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, "gardener", every=1000, locked=True)
        timer(at, "gardener", every=1000)
        await at.agent.delete_loop("gardener")
        assert at.agent.store.connection.execute("SELECT id, locked FROM adf_timers").fetchall() == [(1, 1)]
        await at.clock.advance(1000)
        await at.turn_of_events()
        assert at.model.open == []
        assert [target for *_, target, _ in at.logs("loop_dispatch_dropped")] == ["gardener"]

    run(tmp_path, scenario)


def test_loop_244_a_hibernating_agent_hears_timers_and_nothing_else(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        at.agent.set_state("hibernate")
        await receive(at.agent, MESSAGE)
        await at.turn_of_events()
        assert at.model.open == []
        timer(at)
        await at.clock.advance(1000)
        await at.answer()

    run(tmp_path, scenario)


def test_a_suspended_agent_keeps_its_timers_and_they_fire_once_when_it_is_back(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, every=1000)
        at.agent.set_state("suspended")
        await at.clock.advance(5500)
        await at.turn_of_events()
        assert at.model.open == []
        at.agent.set_state("active")
        await at.clock.advance(0)
        await at.answer()
        await at.quiet()
        assert at.agent.store.connection.execute("SELECT run_count FROM adf_timers").get == 1

    run(tmp_path, scenario)


def test_a_timer_of_system_scope_runs_nothing_here_and_says_so_once(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        timer(at, None, ("system",), every=1000, lambda_="lib/a.ts:f")
        await at.clock.advance(3000)
        assert at.model.open == []
        assert [target for *_, target, _ in at.logs("lambda_skipped")] == ["lib/a.ts:f"]

    run(tmp_path, scenario)


def test_a_message_wakes_its_targets_with_a_notice_that_does_not_quote_it(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        number = await receive(at.agent, MESSAGE)
        for loop in ("main", "gardener"):
            asked = await at.answer(loop)
            assert f"[Inbox notification] new message {number} from did:peer, subject Hi" in asked.text()
            assert "secret words" not in asked.text()

    run(tmp_path, scenario, **on("on_inbox", {"scope": "agent"}, {"scope": "agent", "loop": "gardener"}))


@pytest.mark.parametrize(
    ("targets", "woken", "quiet"),
    [
        ([{"scope": "agent", "loop": "gardener"}], ["gardener"], ["main"]),
        ([{"scope": "agent"}, {"scope": "agent", "loop": "gardener"}], ["main", "gardener"], []),
        ([{"scope": "system", "lambda": "a.ts:f"}], [], ["gardener"]),
    ],
)
def test_loop_246_every_woken_loop_holds_one_copy_of_what_the_owner_says_and_main_if_nobody_is_a_target(
    tmp_path: Path, targets: list[Any], woken: list[str], quiet: list[str]
) -> None:
    async def scenario(at: World) -> None:
        await receive(at.agent, MESSAGE, from_owner=True)
        for loop in woken:
            await at.answer(loop)
        await at.quiet()
        for loop in woken or ["main"]:
            assert at.texts(loop).count("secret words") == 1
        for loop in quiet:
            assert "secret words" not in at.texts(loop)

    run(tmp_path, scenario, **on("on_inbox", *targets))


def test_a_debounced_file_change_of_the_agent_wakes_a_loop_that_includes_the_agents_own(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await at.chat()
        await at.use("fs_write", {"path": "notes/a.md", "content": "a"})
        await at.use("fs_write", {"path": "notes/b.md", "content": "b"})
        await at.use("fs_write", {"path": "other.md", "content": "c"})
        await at.answer()
        await at.quiet()
        await at.clock.advance(1999)
        assert at.model.open == []
        await at.clock.advance(1)
        asked = await at.answer("gardener")
        assert "[File change] notes/a.md was written\n[File change] notes/b.md was written" in asked.text()
        assert "other.md" not in asked.text()

    target = {
        "scope": "agent",
        "loop": "gardener",
        "filter": {"watch": "notes/*", "include_self": True},
        "debounce_ms": 2000,
    }
    run(tmp_path, scenario, **on("on_file_change", target))


def test_calls_of_tools_outgoing_messages_logs_and_the_start_wake_their_targets(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        assert "[Startup]" in (await at.answer("starter")).text()
        await at.chat()
        await at.use("msg_send", {"to": "did:b", "content": "x"})
        assert "[Outbox notification] message" in (await at.answer("poster")).text()
        assert "[Tool call] main called msg_send" in (await at.answer("watcher")).text()
        at.agent.log("error", "odd", "something\nodd")
        assert "[Log] error runtime/odd: something odd" in (await at.answer("logger")).text()
        await at.answer()

    names = ["starter", "poster", "watcher", "logger"]
    targets = {
        "on_startup": {"scope": "agent", "loop": "starter"},
        "on_outbox": {"scope": "agent", "loop": "poster", "filter": {"to": "did:b"}},
        "on_tool_call": {"scope": "agent", "loop": "watcher", "filter": {"tools": ["msg_*"]}},
        "on_logs": {"scope": "agent", "loop": "logger", "filter": {"level": ["error"]}},
    }
    triggers = {kind: {"enabled": True, "targets": [target]} for kind, target in targets.items()}
    run(tmp_path, scenario, *({"name": name} for name in names), triggers=triggers)


def test_what_the_owner_says_wakes_other_loops_that_listen_and_the_addressed_one_once(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await at.chat("hello")
        assert "[Chat] the owner to main: hello" in (await at.answer("gardener")).text()
        assert "[Chat]" not in (await at.answer()).text()
        await at.quiet()
        assert at.texts().count("hello") == 1

    run(tmp_path, scenario, **on("on_chat", {"scope": "agent"}, {"scope": "agent", "loop": "gardener"}))


def test_what_the_owner_says_to_an_inner_loop_is_said_to_it_alone(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await at.chat("hello", "gardener")
        await at.answer("gardener")

    run(tmp_path, scenario, **on("on_chat", {"scope": "agent"}, {"scope": "agent", "loop": "gardener"}))


def test_a_log_of_a_drop_does_not_cause_the_next_one(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        at.agent.log("info", "any", "thing")
        await at.turn_of_events()
        assert len(at.logs("loop_dispatch_dropped")) == 1

    run(tmp_path, scenario, **on("on_logs", {"scope": "agent", "loop": "nobody"}))


def test_a_window_that_is_open_when_the_agent_stops_wakes_nobody(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await receive(at.agent, MESSAGE)
        await at.restart()
        await at.clock.advance(10_000)
        await at.turn_of_events()
        assert at.model.open == []

    run(tmp_path, scenario, **on("on_inbox", {"scope": "agent", "batch_ms": 5000}))


def test_an_agent_with_an_open_window_is_quiet_until_it_has_come_due(tmp_path: Path) -> None:
    async def scenario(at: World) -> None:
        await receive(at.agent, MESSAGE)
        assert at.agent.is_idle()
        await at.clock.advance(5000)
        await at.answer()

    run(tmp_path, scenario, **on("on_inbox", {"scope": "agent", "batch_ms": 5000, "filter": {"sender": "did:peer"}}))
