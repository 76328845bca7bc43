"""sys_* tools, say and ask: settings and their locks, timers and their stamps, meta and its protections, approvals."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from bench_agent import GARDENER, Table, table

from adf_format.runtime.tools.protocol import EndTurn
from adf_format.runtime.tools.registry import NAMES, registry
from adf_format.schemas.checker import Checker

NOW = 1_767_225_600_000
AGENT = {"scope": ["agent"]}
SOON = {"type": "delay", "delay_ms": 1000}


def test_every_tool_has_a_strict_schema_that_names_and_describes_what_it_takes() -> None:
    assert list(registry()) == list(NAMES)
    for name, tool in registry().items():
        assert tool.name == name
        assert tool.description
        assert Checker(tool.input_schema).is_valid([]) is False
        if not name.startswith("loop_"):
            assert tool.input_schema["additionalProperties"] is False
            assert all(part.get("description") for part in tool.input_schema["properties"].values())


# --- state, say, ask


def test_loop_214_sys_set_state_ends_the_turn_in_the_state_that_was_asked_for(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert (await at.call("sys_set_state", {"state": "hibernate"})).effect == EndTurn("hibernate")
        assert (await at.call("sys_set_state", {"state": "idle"}, "gardener")).effect == EndTurn("idle")
        assert at.agent.state == "active", "nothing changes before the turn has ended"
        assert "suspended" in await at.refused("sys_set_state", {"state": "suspended"})

    table(tmp_path, scenario)


def test_the_owner_hears_and_answers_but_not_for_inner_loops(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert await at.ok("say", {"text": "hello"}) == "said"
        assert await at.ok("ask", {"question": "shall I?"}) == "yes"
        assert "nobody to ask" in await at.refused("ask", {"question": "shall I?"}, "gardener")

    table(tmp_path, scenario)


# --- configuration


def test_the_configuration_is_read_by_path_and_a_loop_sees_its_own(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert await at.json("sys_get_config", {"path": "model.model_id"}) == "m"
        assert (await at.json("sys_get_config"))["name"] == "agent"
        assert (await at.json("sys_get_config", {"path": "tools.fs_read"}))["enabled"] is True
        own = await at.json("sys_get_config", {"path": "instructions"}, "gardener")
        assert "Water the plants." in own
        assert "INSTRUCTIONS" not in own
        assert "there is no" in await at.refused("sys_get_config", {"path": "model.nothing"})

    table(tmp_path, scenario)


def test_the_configuration_is_changed_and_takes_effect_at_once(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        before = at.agent.config["metadata"]["updated_at"]
        at.clock.at_least(NOW + 5000)
        await at.ok("sys_update_config", {"path": "model.temperature", "value": 0.1})
        assert at.agent.effective("gardener")["model"]["temperature"] == 0.1
        assert at.agent.config["metadata"]["updated_at"] != before
        await at.ok(
            "sys_update_config", {"path": "loops", "value": {"name": "x", "goal": "g", "enabled": True}, "append": True}
        )
        assert at.agent.declared() == ["gardener", "x"]
        await at.ok("sys_update_config", {"path": "loops.x", "remove": True})
        await at.quiet()
        assert at.agent.declared() == ["gardener"]
        await at.ok("sys_update_config", {"path": "model.max_tokens", "value": None})

    table(tmp_path, scenario)


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        ({"path": "providers", "value": [{}]}, "owner only"),
        ({"path": "id", "value": "x"}, "owner only"),
        ({"path": "tools.sys_update_config.restricted", "value": False}, "owner only"),
        ({"path": "model.temperature", "value": 9}, "above"),
        ({"path": "loops.nobody.goal", "value": "x"}, "no element"),
        ({"path": "model.temperature"}, "either"),
        ({"path": "model.temperature", "value": 1, "remove": True}, "either"),
        ({"path": "name.x", "value": 1}, "no object"),
        ({"path": "name", "value": "x", "append": True}, "not an array"),
    ],
)
def test_what_may_not_be_set_is_refused_with_a_reason(tmp_path: Path, given: Any, fragment: str) -> None:
    async def scenario(at: Table) -> None:
        assert fragment in await at.refused("sys_update_config", given)

    table(tmp_path, scenario)


def test_a_lock_is_lifted_once_by_the_owner_and_holds_without_it(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_update_config", {"path": "model.temperature", "value": 0.3})
        meta = json.loads(at.tasks()[0][4])
        assert meta["protection"]["kind"] == "config_lock"
        assert meta["protection"]["level"] == "locked_fields"
        at.owner.approves = False
        told = await at.refused("sys_update_config", {"path": "model.temperature", "value": 0.4})
        assert told.startswith("'model.temperature' is locked.")
        assert at.agent.config["model"]["temperature"] == 0.3

    table(tmp_path, scenario, locked_fields=["model.temperature"])


def test_loop_120_loops_that_are_locked_are_changed_by_no_tool(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        told = await at.refused("sys_update_config", {"path": "loops", "value": []})
        assert "is locked." in told

    table(tmp_path, scenario, approves=False, locked_fields=["loops"])


def test_a_state_that_is_set_as_a_setting_ends_the_turn_like_any_other(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        result = await at.call("sys_update_config", {"path": "state", "value": "hibernate"})
        assert (result.is_error, result.effect) == (False, EndTurn("hibernate"))
        assert "is one of" in await at.refused("sys_update_config", {"path": "state", "value": "suspended"})
        assert (await at.call("sys_update_config", {"path": "icon", "value": "x"})).effect is None

    table(tmp_path, scenario)


def test_sys_update_config_is_never_an_inner_loops(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert "no tool" in await at.refused("sys_update_config", {"path": "icon", "value": "x"}, "gardener")

    table(tmp_path, scenario)


# --- restricted tools


def test_a_restricted_tool_runs_after_the_owners_word_and_its_task_keeps_the_result(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.agent.save_config(_restricting("fs_write"))
        await at.ok("fs_write", {"path": "x", "content": "y"})
        assert at.owner.asked == [("main", "fs_write")]
        (task,) = at.tasks()
        assert task == ("fs_write", "completed", "x: 1 bytes written", None, '{"reason":"restricted"}')
        await at.refused("fs_write", {"path": "/x", "content": "y"})
        assert at.tasks()[1][1] == "failed"
        at.owner.approves = False
        assert "approval" in await at.refused("fs_write", {"path": "z", "content": "y"})
        assert at.tasks()[2][1:4] == ("denied", None, "Rejected")
        assert at.sql("SELECT count(*) FROM adf_tasks WHERE completed_at IS NULL") == [(0,)]

    table(tmp_path, scenario)


def test_a_question_that_is_withdrawn_leaves_a_cancelled_task(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.agent.save_config(_restricting("fs_write"))
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def approve(**_: Any) -> bool:
            return await waiting

        at.owner.approve = approve  # type: ignore[method-assign]
        task = asyncio.create_task(at.call("fs_write", {"path": "x", "content": "y"}))
        await at.turn_of_events()
        assert at.tasks()[0][1] == "pending_approval"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert at.tasks()[0][1] == "cancelled"

    table(tmp_path, scenario)


def test_a_restricted_call_whose_turn_is_stopped_leaves_a_cancelled_task(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.agent.save_config(_restricting("ask"))

        async def ask(**_: Any) -> str:
            await asyncio.get_running_loop().create_future()
            return "never"

        at.owner.ask = ask  # type: ignore[method-assign]
        task = asyncio.create_task(at.call("ask", {"question": "what?"}))
        await at.turn_of_events()
        assert at.tasks()[0][1] == "running"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert at.tasks()[0][1] == "cancelled"

    table(tmp_path, scenario)


def test_loop_056_a_restricted_tool_that_reached_a_loop_is_answered_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(at: Table) -> None:
        at.agent.save_config(_restricting("fs_write"))
        assert "no tool" in await at.refused("fs_write", {"path": "x", "content": "y"}, "gardener")
        monkeypatch.setattr(at.agent, "effective", lambda _: at.agent.config)
        assert "approval" in await at.refused("fs_write", {"path": "x", "content": "y"}, "gardener")
        assert (at.owner.asked, at.tasks()) == ([], [])

    table(tmp_path, scenario)


def test_a_timer_whose_schedule_cannot_be_read_is_listed_as_it_is(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT})
        at.sql("UPDATE adf_timers SET schedule_json = '{'")
        assert (await at.json("sys_list_timers"))[0]["schedule"] == "{"
        await at.ok("sys_delete_timer", {"id": 1})

    table(tmp_path, scenario)


def test_tasks_that_another_session_left_open_are_ended_at_start(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.agent.store.tasks.ask("c1", "fs_write", {}, {"reason": "restricted"}, "main")
        running = at.agent.store.tasks.ask("c2", "fs_write", {}, {"reason": "restricted"}, "gardener")
        at.agent.store.tasks.run(running)
        await at.restart()
        found = at.sql("SELECT status, completed_at IS NOT NULL, loop FROM adf_tasks ORDER BY status")
        assert found == [("cancelled", 1, None), ("failed", 1, "gardener")]

    table(tmp_path, scenario)


def _restricting(name: str) -> Any:
    def edit(config: dict[str, Any]) -> dict[str, Any]:
        tools = [tool | ({"restricted": True} if tool["name"] == name else {}) for tool in config["tools"]]
        return config | {"tools": tools}

    return edit


# --- meta


def test_meta_keys_are_kept_listed_and_forgotten(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_meta", {"key": "status", "value": "busy"})
        await at.ok("sys_set_meta", {"key": "mine", "value": "1"})
        assert await at.ok("sys_get_meta", {"key": "status"}) == "busy"
        assert {"key": "mine", "protection": "none"} in await at.json("sys_get_meta")
        await at.ok("sys_delete_meta", {"key": "mine"})
        assert "no key" in await at.refused("sys_get_meta", {"key": "mine"})
        assert "no key" in await at.refused("sys_delete_meta", {"key": "mine"})

    table(tmp_path, scenario)


def test_sto_039_protections_of_keys_are_chosen_once_and_hold(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_meta", {"key": "n", "value": "5", "protection": "increment"})
        await at.ok("sys_set_meta", {"key": "n", "value": "6.5"})
        for value in ("6.5", "6", "x", "nan", "inf", ""):
            await at.refused("sys_set_meta", {"key": "n", "value": value})
        await at.refused("sys_delete_meta", {"key": "n"})
        await at.refused("sys_set_meta", {"key": "n", "value": "9", "protection": "none"})
        await at.ok("sys_set_meta", {"key": "fixed", "value": "a", "protection": "readonly"})
        await at.refused("sys_set_meta", {"key": "fixed", "value": "b"})
        await at.refused("sys_set_meta", {"key": "adf_did", "value": "did:key:zMine"})
        await at.refused("sys_set_meta", {"key": "adf_schema_version", "value": "99"})
        await at.refused("sys_set_meta", {"key": "adf_clean_close", "value": "x"})
        await at.refused("sys_set_meta", {"key": "runtime_x", "value": "x"})

    table(tmp_path, scenario, approves=False)


def test_the_owner_lifts_the_protection_of_a_key_once(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_meta", {"key": "fixed", "value": "a", "protection": "readonly"})
        await at.ok("sys_set_meta", {"key": "fixed", "value": "b"})
        assert at.sql("SELECT value, protection FROM adf_meta WHERE key = 'fixed'") == [("b", "readonly")]
        assert json.loads(at.tasks()[0][4])["protection"]["kind"] == "meta_protection"
        await at.ok("sys_delete_meta", {"key": "fixed"})

    table(tmp_path, scenario)


# --- timers


def test_a_timer_is_set_listed_and_deleted(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        made = await at.json("sys_set_timer", {"schedule": SOON, **AGENT, "payload": "water"})
        assert made == {"id": 1, "next_wake_at": NOW + 1000, "loop": "main"}
        (listed,) = await at.json("sys_list_timers")
        assert listed["schedule"] == {"mode": "once", "at": NOW + 1000}
        assert (listed["payload"], listed["locked"], listed["expired"]) == ("water", False, False)
        await at.ok("sys_delete_timer", {"id": "1"})
        assert await at.json("sys_list_timers") == []
        assert "no timer 1" in await at.refused("sys_delete_timer", {"id": 1})

    table(tmp_path, scenario)


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        ({"schedule": {"type": "delay"}, **AGENT}, "delay_ms"),
        ({"schedule": {"type": "cron", "cron": "x"}, **AGENT}, "cron line"),
        ({"schedule": {"type": "interval", "every_ms": 5, "end_at": 1}, **AGENT}, "never fire"),
        ({"schedule": {"type": "often"}, **AGENT}, "/schedule/type"),
        ({"schedule": SOON, "scope": []}, "/scope"),
        ({"schedule": SOON, "scope": ["moon"]}, "/scope/0"),
        ({"schedule": SOON, "scope": "agent"}, "/scope"),
        ({"schedule": SOON, **AGENT, "loop": "nobody"}, "main, gardener"),
    ],
)
def test_a_timer_that_makes_no_sense_is_refused_and_none_is_made(tmp_path: Path, given: Any, fragment: str) -> None:
    async def scenario(at: Table) -> None:
        assert fragment in await at.refused("sys_set_timer", given)

    table(tmp_path, scenario)


def test_loop_237_main_names_a_loop_a_disabled_one_too_and_itself_is_no_stamp(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        for loop in ("gardener", "sleeper", "main"):
            await at.ok("sys_set_timer", {"schedule": SOON, **AGENT, "loop": loop})
        assert at.sql("SELECT loop FROM adf_timers ORDER BY id") == [("gardener",), ("sleeper",), (None,)]

    table(tmp_path, scenario, GARDENER, {"name": "sleeper", "enabled": False})


@pytest.mark.parametrize(
    ("scope", "stamp"), [(["system"], None), (["agent"], "gardener"), (["system", "agent"], "gardener")]
)
def test_loop_235_only_a_timer_of_agent_scope_keeps_its_loop(tmp_path: Path, scope: list[str], stamp: Any) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_timer", {"schedule": SOON, "scope": scope, "loop": "gardener"})
        await at.ok("sys_set_timer", {"schedule": SOON, "scope": scope}, "gardener")
        assert at.sql("SELECT loop, scope FROM adf_timers") == [(stamp, json.dumps(scope, separators=(",", ":")))] * 2

    table(tmp_path, scenario)


def test_loop_236_a_timer_of_an_inner_loop_is_its_own(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT, "locked": False}, "gardener")
        assert at.sql("SELECT loop, locked FROM adf_timers") == [("gardener", 0)]
        for loop in ("gardener", "main", "sleeper"):
            told = await at.refused("sys_set_timer", {"schedule": SOON, **AGENT, "loop": loop}, "gardener")
            assert "its own" in told

    table(tmp_path, scenario)


def test_loop_239_an_inner_loop_sets_neither_lambdas_nor_locked_timers_and_locked_is_told_first(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        for scope in (["system"], ["agent"], ["system", "agent"]):
            told = await at.refused("sys_set_timer", {"schedule": SOON, "scope": scope, "lambda": "a.ts:f"}, "gardener")
            assert "lambda" in told
            assert "main" in told
        both = {"schedule": SOON, **AGENT, "locked": True, "lambda": "a.ts:f"}
        assert "locked" in await at.refused("sys_set_timer", both, "gardener")
        await at.ok("sys_set_timer", both)

    table(tmp_path, scenario)


def test_loop_240_an_inner_loop_sees_and_deletes_its_own_timers_only(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT})
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT}, "gardener")
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT, "loop": "sleeper"})
        assert [timer["id"] for timer in await at.json("sys_list_timers", {}, "gardener")] == [2]
        assert [timer["id"] for timer in await at.json("sys_list_timers")] == [1, 2, 3]
        for number in (1, 3):
            assert "no timer" in await at.refused("sys_delete_timer", {"id": number}, "gardener")
        await at.ok("sys_delete_timer", {"id": 2}, "gardener")
        await at.ok("sys_delete_timer", {"id": 3})

    table(tmp_path, scenario, GARDENER, {"name": "sleeper", "enabled": False})


def test_a_locked_timer_is_deleted_by_no_path_of_an_agent(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("sys_set_timer", {"schedule": SOON, **AGENT, "locked": True})
        assert "locked" in await at.refused("sys_delete_timer", {"id": 1})
        assert "local_" in await at.refused("db_execute", {"sql": "DELETE FROM adf_timers"})
        assert at.owner.asked == []

    table(tmp_path, scenario)
