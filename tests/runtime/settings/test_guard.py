"""What an agent may not change of its own configuration (config.md 7)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from adf_format.creation import plan
from adf_format.runtime.settings import guard, paths
from adf_format.runtime.settings.guard import Denial


def agent(**more: Any) -> dict[str, Any]:
    config = copy.deepcopy(plan(name="Ada").config)
    return {**config, **more}


def change(config: dict[str, Any], path: str, value: Any = None, how: str = "put") -> Denial | None:
    edit = {"put": paths.put, "append": paths.append}.get(how)
    after = edit(config, path, value) if edit else paths.remove(config, path)
    return guard.denial(config, after, paths.resolve(config, path), path)


def test_ordinary_settings_are_the_agents_own() -> None:
    config = agent()
    assert change(config, "model.temperature", 0.2) is None
    assert change(config, "audit.inbox", True) is None
    assert change(config, "tools.fs_delete.enabled", True) is None
    assert change(config, "state", "hibernate") is None
    assert change(config, "loops", {"name": "r", "goal": "g", "enabled": True}, "append") is None
    assert change(config, "security.level", 2) is None
    assert change(config, "bare_prompt", True) is None


@pytest.mark.parametrize(
    ("path", "value", "how"),
    [
        ("", {}, "put"),
        ("id", "x", "put"),
        ("adf_version", "0.3", "put"),
        ("metadata.author", "me", "put"),
        ("metadata", None, "remove"),
        ("locked_fields", [], "put"),
        ("locked_fields", "x", "append"),
        ("providers", {"id": "x"}, "append"),
        ("security", {}, "put"),
        ("security", None, "remove"),
        ("security.allow_unsigned", False, "put"),
        ("security.middleware", {"inbox": []}, "put"),
        ("security.middleware.inbox", {"lambda": "a.ts:f"}, "append"),
        ("security.fetch_middleware", [], "put"),
        ("security.require_middleware_authorization", False, "put"),
        ("tools.sys_update_config.restricted", False, "put"),
        ("tools.fs_read.restricted", True, "put"),
        ("tools.sys_update_config", {"name": "sys_update_config", "enabled": True}, "put"),
        ("tools.sys_update_config", None, "remove"),
        ("tools.fs_read.locked", True, "put"),
        ("tools", [], "put"),
        ("code_execution.restricted_methods", [], "put"),
        ("code_execution", {}, "put"),
        ("mcp.servers.weather.restricted", False, "put"),
        ("mcp.servers", [], "put"),
    ],
)
def test_what_is_the_owners_alone_is_refused_outright(path: str, value: Any, how: str) -> None:
    config = agent(mcp={"servers": [{"name": "weather", "transport": "http", "restricted": True}]})
    config["tools"] = [*config["tools"], {"name": "mcp_weather_get", "enabled": True, "visible": True}]
    found = change(config, path, value, how)
    assert found is not None
    assert not found.approvable


@pytest.mark.parametrize(
    ("path", "value", "level"),
    [
        ("model.temperature", 0.1, "locked_fields"),
        ("model", {"provider": "p"}, "locked_fields"),
        ("loops", [], "locked_fields"),
        ("tools.fs_read.visible", False, "locked_fields"),
        ("tools.fs_write.visible", False, "locked_fields"),
        ("security.allow_local_fetch", True, "locked"),
        ("stream_bind", {}, "locked"),
        ("stream_bind.allow_tcp_bind", True, "locked"),
        ("triggers.on_chat.enabled", False, "locked"),
        ("triggers.on_inbox.targets", [], "locked"),
        ("triggers.on_inbox.targets.0.debounce_ms", 5, "locked"),
    ],
)
def test_locks_hold_downward_upward_and_for_locked_elements_and_may_be_lifted_once(
    path: str, value: Any, level: str
) -> None:
    config = agent(locked_fields=["model.temperature", "loops", "tools.visible", "no.such.field"])
    config["triggers"]["on_chat"]["locked"] = True
    config["triggers"]["on_inbox"]["targets"] = [{"scope": "agent", "locked": True}]
    found = change(config, path, value)
    assert found == Denial(f"'{path}' is locked.", approvable=True, level=level)


def test_a_lock_leaves_its_neighbours_alone() -> None:
    config = agent(locked_fields=["model.temperature", "tools.visible"])
    config["triggers"]["on_inbox"]["targets"] = [{"scope": "agent", "locked": True}, {"scope": "agent"}]
    assert change(config, "model.max_tokens", 100) is None
    assert change(config, "tools.fs_read.enabled", False) is None
    assert change(config, "triggers.on_inbox.targets.1.debounce_ms", 5) is None
    assert change(config, "triggers.on_inbox.targets", {"scope": "agent"}, "append") is None


@pytest.mark.parametrize(
    ("path", "value", "how"),
    [
        ("modle", {}, "put"),
        ("state", "suspended", "put"),
        ("state", "thinking", "put"),
        ("model.temperature", 5, "put"),
        ("context.compact_threshold", 0, "put"),
        ("loops", {"name": "main", "goal": "g", "enabled": True}, "append"),
        ("loops", {"name": "Bad Name", "goal": "g", "enabled": True}, "append"),
        ("loops", {"name": "r", "goal": "g", "enabled": True, "tools": ["loop_manage"]}, "append"),
        ("loops", {"name": "gardener", "goal": "g", "enabled": True}, "append"),
        ("tools", {"name": "fs_read", "enabled": False, "visible": False}, "append"),
    ],
)
def test_loop_018_a_change_that_breaks_something_is_refused_outright(path: str, value: Any, how: str) -> None:
    found = change(agent(loops=[{"name": "gardener", "goal": "g", "enabled": True}]), path, value, how)
    assert found is not None
    assert not found.approvable


def test_loop_018_what_was_wrong_before_may_stay_and_move() -> None:
    broken = [{"name": "r", "goal": "", "enabled": True}, {"name": "s", "goal": "g", "enabled": True}]
    config = agent(loops=broken)
    assert change(config, "model.temperature", 0.2) is None
    assert change(config, "loops", list(reversed(broken))) is None
    assert change(config, "loops.s.goal", "") is not None, "the same issue twice is one more"
    assert change(config, "loops.r.goal", "better") is None


def test_loop_016_a_seventeenth_loop_is_refused_but_too_many_may_stay() -> None:
    many = [{"name": f"l{number}", "goal": "g", "enabled": True} for number in range(17)]
    sixteen = agent(loops=many[:16])
    assert change(sixteen, "loops", many[16], "append") == Denial("an agent has at most 16 inner loops")
    assert change(agent(loops=many), "loops.l3.goal", "other") is None


def test_a_new_top_level_key_must_be_known_or_there_already() -> None:
    assert change(agent(future={"a": 1}), "future.a", 2) is None
    assert "recovery" not in agent()
    assert change(agent(), "recovery", {"max_attempts": 2}) is None
