"""Rules across fields of the configuration: each on values that keep it and on values that break it."""

from __future__ import annotations

from typing import Any

import pytest
from config_support import LOOPS, found, fresh, rules, with_loop, with_target

from adf_format.validation.context import Meta

TARGETS = "/triggers/on_inbox/targets/0"
SYSTEM = {"scope": "system"}


@pytest.mark.parametrize("version", range(21, 33))
def test_a_fresh_configuration_gives_no_finding(version: int) -> None:
    assert found(fresh(version), version) == []


# --- triggers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        {"debounce_ms": 1, "interval_ms": 1},
        {"interval_ms": 1, "batch_ms": 1},
        {"debounce_ms": 1, "batch_ms": 1, "batch_count": 2},
    ],
    ids=str,
)
def test_two_timings_in_one_target(target: dict[str, Any]) -> None:
    assert found(with_target(**target)) == [("ADF431", TARGETS)]


@pytest.mark.parametrize("target", [{"debounce_ms": 1}, {"interval_ms": 1}, {"batch_ms": 1, "batch_count": 2}], ids=str)
def test_one_timing_in_one_target(target: dict[str, Any]) -> None:
    assert found(with_target(**target)) == []


def test_a_null_timing_counts_as_absent_and_is_only_remarked_upon() -> None:
    """The examples of the specification show null there (K9)."""
    config = with_target(debounce_ms=1, interval_ms=None, batch_ms=None, batch_count=None)
    assert found(config) == [("ADF410", f"{TARGETS}/{key}") for key in ("batch_count", "batch_ms", "interval_ms")]


def test_a_batch_count_needs_a_batch_time() -> None:
    assert found(with_target(batch_count=3)) == [("ADF432", TARGETS)]
    assert found(with_target(batch_count=3, debounce_ms=1)) == [("ADF432", TARGETS)]


@pytest.mark.parametrize(
    ("key", "value"), [("lambda", "a.ts:f"), ("command", "ls"), ("warm", True), ("warm", False)], ids=str
)
def test_an_agent_target_runs_no_code_and_has_no_warm_key_at_all(key: str, value: Any) -> None:
    assert found(with_target(**{key: value})) == [("ADF433", f"{TARGETS}/{key}")]
    assert found(with_target(**SYSTEM, **{key: value})) == []


@pytest.mark.parametrize("key", ["lambda", "command"])
def test_an_empty_code_reference_is_none(key: str) -> None:
    assert found(with_target(**{key: ""})) == []


def test_a_lambda_excludes_a_command() -> None:
    both = {"lambda": "a.ts:f", "command": "ls"}
    assert found(with_target(**SYSTEM, **both)) == [("ADF434", TARGETS)]
    assert found(with_target(**SYSTEM, **both | {"lambda": ""})) == []
    assert found(with_target(**SYSTEM, **both | {"command": ""})) == []


def test_a_loop_stamp_is_for_agent_targets_only() -> None:
    assert found(with_target(**SYSTEM, loop="gardener")) == [("ADF451", f"{TARGETS}/loop")]
    assert found(with_target(**SYSTEM, loop="main")) == []
    assert found(with_target(loop="gardener")) == []


@pytest.mark.parametrize("name", ["gardner", "Gardener", "gardener2"])
def test_a_target_names_a_declared_loop(name: str) -> None:
    assert ("ADF452", f"{TARGETS}/loop") in found(with_target(loop=name))


def test_an_empty_loop_name_is_left_to_the_schema() -> None:
    assert found(with_target(loop="")) == [("ADF409", f"{TARGETS}/loop")]


def test_main_is_always_there() -> None:
    assert found(with_target(loop="main")) == []


def test_a_target_of_a_disabled_loop_is_noted_while_the_trigger_is_enabled() -> None:
    assert found(with_target(loop="reviewer")) == [("ADF477", f"{TARGETS}/loop")]
    assert found(with_target(loop="reviewer", enabled=False)) == []


def test_loop_stamps_before_29_are_unknown_keys() -> None:
    triggers = {"on_chat": {"enabled": True, "targets": [{"scope": "agent", "loop": "nobody"}]}}
    assert found(fresh(28, triggers=triggers), 28) == [("ADF411", "/triggers/on_chat/targets/0/loop")]


@pytest.mark.parametrize(("kind", "key"), [("on_file_change", "watch"), ("on_tool_call", "tools")])
@pytest.mark.parametrize(("enabled", "rule"), [(True, "ADF453"), (False, "ADF460")])
def test_two_triggers_need_a_filter_and_sooner_if_they_are_enabled(
    kind: str, key: str, enabled: bool, rule: str
) -> None:
    place = f"/triggers/{kind}/targets/0"
    assert found(with_target(kind, enabled=enabled)) == [(rule, place)]
    assert found(with_target(kind, enabled=enabled, filter={})) == [(rule, place)]
    assert found(with_target(kind, enabled=enabled, filter={key: "*" if key == "watch" else ["*"]})) == []


@pytest.mark.parametrize(
    ("kind", "filter_"),
    [
        ("on_inbox", {"source": "mesh", "sender": "x"}),
        ("on_outbox", {"to": "x"}),
        ("on_file_change", {"watch": "*", "include_self": True}),
        ("on_tool_call", {"tools": ["*"]}),
        ("on_task_create", {"tools": ["*"]}),
        ("on_task_complete", {"tools": ["*"], "status": "failed"}),
        ("on_logs", {"level": ["warn"], "origin": ["*"], "event": ["*"]}),
        ("on_llm_call", {"source": ["turn"], "provider": ["x"]}),
        ("on_startup", {}),
        ("on_chat", {}),
        ("on_timer", {}),
    ],
    ids=str,
)
def test_each_type_of_trigger_reads_its_own_filter_keys(kind: str, filter_: dict[str, Any]) -> None:
    assert found(with_target(kind, filter=filter_)) == []
    foreign = {"to": "x"} if kind != "on_outbox" else {"sender": "x"}
    place = f"/triggers/{kind}/targets/0/filter/{next(iter(foreign))}"
    assert found(with_target(kind, filter=filter_ | foreign)) == [("ADF454", place)]


def test_a_source_is_one_name_for_messages_and_a_list_for_model_calls() -> None:
    assert found(with_target(filter={"source": ["mesh"]})) == [("ADF455", f"{TARGETS}/filter/source")]
    llm = with_target("on_llm_call", filter={"source": "turn"})
    assert found(llm) == [("ADF455", "/triggers/on_llm_call/targets/0/filter/source")]


def test_an_unknown_type_of_trigger_is_named_and_not_looked_into() -> None:
    assert found(fresh(triggers={"on_full_moon": 5})) == [("ADF463", "/triggers/on_full_moon")]


# --- serving ------------------------------------------------------------------------------------------------


def with_route(**changes: Any) -> dict[str, Any]:
    return fresh(serving={"api": [{"method": "GET", "path": "/status", "lambda": "a.ts:f", **changes}]})


@pytest.mark.parametrize("method", ["GET", "WS"])
def test_a_route_needs_a_lambda(method: str) -> None:
    assert found(with_route(method=method, **{"lambda": ""})) == [("ADF435", "/serving/api/0/lambda")]
    without = {"api": [{"method": method, "path": "/x"}]}
    assert found(fresh(serving=without)) == [("ADF435", "/serving/api/0")]
    assert found(with_route(method=method)) == []


@pytest.mark.parametrize("path", ["/inbox", "//card", "/health/x", "///inbox/"])
def test_some_first_parts_of_a_path_are_taken(path: str) -> None:
    assert found(with_route(path=path)) == [("ADF436", "/serving/api/0/path")]


@pytest.mark.parametrize("path", ["/inboxes", "/x/inbox", "/Inbox", "/inbox-2", "/card.json", "/"])
def test_other_paths_are_free(path: str) -> None:
    assert found(with_route(path=path)) == []


@pytest.mark.parametrize(("pattern", "taken"), [("card/*", True), ("/health", True), ("*", False), ("cards/*", False)])
def test_shared_patterns_keep_out_of_the_same_places(pattern: str, taken: bool) -> None:
    config = fresh(serving={"shared": {"enabled": True, "patterns": ["notes/*", pattern]}})
    assert found(config) == [("ADF437", "/serving/shared/patterns/1")] * taken


# --- streams ------------------------------------------------------------------------------------------------

TCP = {"kind": "tcp", "host": "localhost", "port": 9000}


def with_ends(a: Any = TCP, b: Any = TCP) -> dict[str, Any]:
    return fresh(stream_bindings=[{"id": "b1", "a": a, "b": b}])


def with_tap(filter_: Any) -> dict[str, Any]:
    tap = {"name": "t", "lambda": "a.ts:f"}
    return fresh(umbilical_taps=[tap | ({} if filter_ is None else {"filter": filter_})])


def test_an_isolated_process_needs_an_image() -> None:
    process = {"kind": "process", "isolation": "container_isolated", "command": ["cat"]}
    assert found(with_ends(a=process)) == [("ADF438", "/stream_bindings/0/a")]
    assert found(with_ends(b=process | {"image": ""})) == [("ADF438", "/stream_bindings/0/b")]
    assert found(with_ends(a=process | {"image": "alpine"})) == []
    assert found(with_ends(a=process | {"isolation": "host"})) == []


def test_the_event_bus_is_a_source_and_no_sink() -> None:
    bus = {"kind": "umbilical", "filter": {"event_types": ["turn.completed"]}}
    assert found(with_ends(a=bus)) == []
    assert found(with_ends(b=bus)) == [("ADF439", "/stream_bindings/0/b")]


@pytest.mark.parametrize("types", [None, [], ["*"], ["turn.*"], ["file.read", "agent.state.*"]], ids=str)
def test_an_endpoint_asks_for_many_events_on_purpose(types: list[str] | None) -> None:
    chosen = {} if types is None else {"event_types": types}
    assert found(with_ends(a={"kind": "umbilical", "filter": chosen})) == [("ADF440", "/stream_bindings/0/a")]
    assert found(with_ends(a={"kind": "umbilical", "filter": chosen | {"allow_wildcard": True}})) == []


@pytest.mark.parametrize("filter_", [None, {}, {"event_types": ["*"]}, {"event_types": ["turn.*"]}], ids=str)
def test_a_tap_asks_for_many_events_on_purpose(filter_: dict[str, Any] | None) -> None:
    assert found(with_tap(filter_)) == [("ADF441", "/umbilical_taps/0/filter")]
    assert found(with_tap((filter_ or {}) | {"allow_wildcard": True})) == []


@pytest.mark.parametrize("types", [[], ["turn.completed"], ["custom.x", "custom.a.b"]], ids=str)
def test_a_tap_of_named_events_needs_no_switch(types: list[str]) -> None:
    assert found(with_tap({"event_types": types})) == []


@pytest.mark.parametrize("name", ["turn", "turn.complete", "custom", "custom.", "Turn.completed", "turn*", "*.x", ""])
def test_an_unknown_event_type_is_named(name: str) -> None:
    assert found(with_tap({"event_types": [name]})) == [("ADF442", "/umbilical_taps/0/filter/event_types")]


@pytest.mark.parametrize("name", ["*", "turn.*", "agent.credentials.*", "custom.*", "moon.*"])
def test_a_wildcard_is_known_if_its_group_is(name: str) -> None:
    config = with_tap({"event_types": [name], "allow_wildcard": True})
    assert rules(config) == ({"ADF442"} if name == "moon.*" else set())


def test_tcp_needs_an_allow_list_that_is_not_empty() -> None:
    assert found(fresh(stream_bind={"allow_tcp_bind": True})) == [("ADF456", "/stream_bind")]
    assert found(fresh(stream_bind={"allow_tcp_bind": True, "tcp_allowlist": []})) == [("ADF456", "/stream_bind")]
    assert found(fresh(stream_bind={"allow_tcp_bind": True, "tcp_allowlist": [{"host": "*"}]})) == []
    assert found(fresh(stream_bind={"allow_tcp_bind": False, "tcp_allowlist": []})) == []


@pytest.mark.parametrize(("low", "high", "empty"), [(2, 1, True), (1, 1, False), (1, 2, False)])
def test_a_port_range_starts_before_it_ends(low: int, high: int, empty: bool) -> None:
    entry = {"host": "*", "min_port": low, "max_port": high}
    place = "/stream_bind/tcp_allowlist/0"
    assert found(fresh(stream_bind={"tcp_allowlist": [entry]})) == [("ADF480", place)] * empty


def test_an_endpoint_names_a_connection_of_the_file() -> None:
    connections = [{"id": "feed", "url": "wss://feed.example", "enabled": True}]
    config = with_ends(a={"kind": "ws", "connection_id": "feed"})
    assert found(config) == [("ADF470", "/stream_bindings/0/a/connection_id")]
    assert found(config | {"ws_connections": connections}) == []


# --- loops --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["sys_update_config", "loop_manage", "sys_create_adf"])
def test_some_tools_are_never_for_loops(tool: str) -> None:
    assert found(with_loop(tools=["fs_read", tool])) == [("ADF443", "/loops/0/tools/1")]


def test_main_is_no_name_for_a_loop() -> None:
    assert found(with_loop(name="main")) == [("ADF444", "/loops/0/name")]
    assert found(with_loop(name="main2")) == []


def test_names_of_loops_differ_whatever_their_case() -> None:
    assert found(fresh(loops=[LOOPS[0], LOOPS[0]])) == [("ADF444", "/loops/1/name")]
    twins = fresh(loops=[LOOPS[0], LOOPS[0] | {"name": "Gardener"}])
    assert found(twins) == [("ADF408", "/loops/1/name"), ("ADF444", "/loops/1/name")]


@pytest.mark.parametrize(
    "name", ["a\n", "", "-a", "_a", "A", "a b", " a", "a" * 33, "loop:main", "../etc", "ä", "a\u0661"]
)
def test_a_loop_name_keeps_its_form_as_a_whole(name: str) -> None:
    assert found(with_loop(name=name)) == [("ADF408", "/loops/0/name")]


@pytest.mark.parametrize("name", ["a", "0", "a" * 32, "a-b_c", "loop-2", "2fast"])
def test_a_loop_name_of_the_form_is_fine(name: str) -> None:
    assert found(with_loop(name=name)) == []


@pytest.mark.parametrize(("count", "broken"), [(16, False), (17, True)])
def test_sixteen_loops_are_enough(count: int, broken: bool) -> None:
    loops = [LOOPS[1] | {"name": f"l{number}"} for number in range(count)]
    assert found(fresh(loops=loops)) == [("ADF445", "/loops")] * broken


@pytest.mark.parametrize("length", [0, 1, 4000, 4001])
def test_a_goal_has_up_to_4000_characters(length: int) -> None:
    expected = {0: [("ADF409", "/loops/0/goal")], 4001: [("ADF408", "/loops/0/goal")]}
    assert found(with_loop(goal="g" * length)) == expected.get(length, [])


@pytest.mark.parametrize(("goal", "long"), [("🌱" * 2000, False), ("🌱" * 2001, True), ("ä" * 4000, False)])
def test_a_goal_is_counted_in_utf16_units_too(goal: str, long: bool) -> None:
    assert found(with_loop(goal=goal)) == [("ADF476", "/loops/0/goal")] * long


@pytest.mark.parametrize(("count", "broken"), [(64, False), (65, True)])
def test_a_loop_lists_up_to_64_tools(count: int, broken: bool) -> None:
    assert found(with_loop(tools=["fs_read"] * count)) == [("ADF408", "/loops/0/tools")] * broken


def test_a_loop_may_list_what_the_agent_lacks_and_the_reader_is_told() -> None:
    assert found(with_loop(tools=["fs_delete"])) == [("ADF458", "/loops/0/tools/0")]
    assert found(with_loop(tools=["no_such_tool"])) == [("ADF458", "/loops/0/tools/0")]


def test_a_restricted_tool_is_never_granted_to_a_loop() -> None:
    tool = {"name": "fs_read", "enabled": True, "visible": True}
    for tools in ([tool | {"restricted": True}], [tool, tool | {"restricted": True}]):
        config = with_loop(tools=["fs_read"]) | {"tools": tools}
        assert ("ADF479", "/loops/0/tools/0") in found(config)
    assert found(with_loop(tools=["fs_read"]) | {"tools": [tool]}) == []


def test_a_tool_of_a_restricted_server_is_never_granted_to_a_loop() -> None:
    server = {"name": "git", "transport": "stdio", "command": "x"}
    tool = {"name": "mcp_git_push", "enabled": True, "visible": True}
    config = with_loop(tools=["mcp_git_push"]) | {"tools": [tool]}
    assert found(config | {"mcp": {"servers": [server | {"restricted": True}]}}) == [("ADF479", "/loops/0/tools/0")]
    assert found(config | {"mcp": {"servers": [server]}}) == []
    other = server | {"name": "gi", "restricted": True}
    assert found(config | {"mcp": {"servers": [other]}}) == []


def test_a_model_of_its_own_needs_code_execution_on_the_agent() -> None:
    model = {"provider": "anthropic"}
    config = with_loop(tools=[], model=model)
    assert found(config) == []
    assert found(config | {"tools": []}) == [("ADF459", "/loops/0/model")]
    for name in ("sys_code", "sys_lambda"):
        assert found(config | {"tools": [{"name": name, "enabled": True, "visible": False}]}) == []


def test_an_autonomous_loop_can_end_its_work() -> None:
    assert found(with_loop(autonomous=True)) == [("ADF478", "/loops/0")]
    assert found(with_loop(autonomous=True, tools=["sys_set_state"])) == []


def test_loops_before_29_sleep_until_the_migration() -> None:
    assert found(fresh(28, loops=[{"name": "main"}]), 28) == [("ADF462", "/loops")]
    assert found(fresh(28, loops=[]), 28) == []


def with_hook(**hook: Any) -> dict[str, Any]:
    return fresh(pre_llm_hook={"source": "a.ts", **hook})


@pytest.mark.parametrize(
    ("listed", "place"), [(None, ""), ([], ""), (["main"], "/loops/0"), (["gardener", "gardener"], "/loops/1")], ids=str
)
def test_a_hook_for_loops_lists_loops(listed: list[str] | None, place: str) -> None:
    hook = {"scope": "loops"} | ({} if listed is None else {"loops": listed})
    assert found(with_hook(**hook)) == [("ADF446", f"/pre_llm_hook{place}")]


def test_a_hook_may_list_a_loop_that_comes_later() -> None:
    assert found(with_hook(scope="loops", loops=["gardener", "later"])) == [("ADF461", "/pre_llm_hook/loops/1")]


@pytest.mark.parametrize("scope", [{}, {"scope": "all"}, {"scope": "main"}], ids=str)
def test_a_hook_of_another_scope_lists_none(scope: dict[str, str]) -> None:
    assert found(with_hook(**scope, loops=["gardener"])) == [("ADF447", "/pre_llm_hook/loops")]
    assert found(with_hook(**scope, include_main=False)) == [("ADF447", "/pre_llm_hook/include_main")]
    assert found(with_hook(**scope)) == []


# --- tools and names ----------------------------------------------------------------------------------------


def test_the_default_target_is_an_allowed_one() -> None:
    chosen = {"enabled": True, "allowed_targets": ["isolated"], "default_target": "host"}
    assert found(fresh(compute=chosen)) == [("ADF448", "/compute/default_target")]
    assert found(fresh(compute=chosen | {"default_target": "isolated"})) == []
    assert found(fresh(compute={"enabled": True, "default_target": "host"})) == []
    assert found(fresh(compute={"enabled": True, "allowed_targets": []})) == []


def with_tool(**tool: Any) -> dict[str, Any]:
    config = fresh()
    config["tools"].append({"name": "mcp_x_y", "enabled": False, "visible": False, **tool})
    return config


def test_a_changed_tool_waits_for_its_owner() -> None:
    place = f"/tools/{len(fresh()['tools'])}"
    changed = {"mcp_tool_status": "changed"}
    assert found(with_tool(**changed, restricted=True)) == []
    assert found(with_tool(**changed)) == [("ADF449", place)]
    assert found(with_tool(**changed, restricted=True, enabled=True)) == [("ADF449", f"{place}/enabled")]
    assert found(with_tool(mcp_tool_status="removed", enabled=True)) == []


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("ws_connections", {"id": "a", "url": "wss://x.example", "enabled": False}),
        ("stream_bindings", {"id": "a", "a": TCP, "b": TCP}),
        ("umbilical_taps", {"name": "a", "lambda": "x", "filter": {"event_types": []}}),
        ("providers", {"id": "a", "type": "openai", "name": "A", "baseUrl": ""}),
        ("tools", {"name": "fs_read", "enabled": True, "visible": True}),
    ],
    ids=str,
)
def test_names_are_unique_in_their_list(key: str, entry: dict[str, Any]) -> None:
    name = "id" if "id" in entry else "name"
    once = fresh(loops=[], **{key: [entry]})
    assert found(once) == []
    assert found(once | {key: [entry, entry]}) == [("ADF450", f"/{key}/1/{name}")]
    assert found(once | {key: [entry, entry | {name: "A"}]}) == []


@pytest.mark.parametrize("name", ["git_hub", "_", "", "a_"])
def test_a_server_name_can_be_found_again_in_the_names_of_its_tools(name: str) -> None:
    server = {"name": name, "transport": "stdio", "command": "x"}
    assert found(fresh(mcp={"servers": [server]})) == [("ADF468", "/mcp/servers/0/name")]
    assert found(fresh(mcp={"servers": [server | {"name": "git-hub"}]})) == []


def test_a_server_name_is_unique() -> None:
    server = {"name": "git", "transport": "stdio", "command": "x"}
    assert found(fresh(mcp={"servers": [server, server]})) == [("ADF468", "/mcp/servers/1/name")]


@pytest.mark.parametrize("name", ["container_exec", "msg_list_agents"])
def test_an_old_tool_name_is_named(name: str) -> None:
    assert rules(with_tool(name=name)) == {"ADF475"}


def test_a_tool_says_whether_it_is_visible() -> None:
    config = fresh()
    del config["tools"][3]["visible"]
    assert found(config) == [("ADF465", "/tools/3")]


# --- settings -----------------------------------------------------------------------------------------------


def test_only_local_tables_can_be_protected() -> None:
    security = fresh()["security"]
    tables = {"local_a": "none", "adf_loop": "append_only"}
    config = fresh(security=security | {"table_protections": tables})
    assert found(config) == [("ADF457", "/security/table_protections/adf_loop")]


def test_the_two_audit_places_say_the_same() -> None:
    config = fresh()
    config["audit"] = {"loop": True}  # a missing flag is off, as is a false one
    assert found(config) == []
    config["context"]["audit"]["files"] = True
    assert found(config) == [("ADF464", "/audit")]
    del config["context"]["audit"]
    assert found(config) == []


@pytest.mark.parametrize(
    ("section", "key"), [("security", "level"), ("messaging", "receive"), ("messaging", "inbox_mode")]
)
def test_what_readers_default_differently_is_written_out(section: str, key: str) -> None:
    config = fresh()
    del config[section][key]
    assert found(config) == [("ADF466", f"/{section}")]


def test_a_default_that_old_files_never_had_is_not_missed_in_them() -> None:
    assert "level" not in fresh(21)["security"]
    assert found(fresh(21), 21) == []


def test_requiring_and_waiving_signatures_at_once_is_noted() -> None:
    security = {"level": 1, "require_signature": True}
    assert found(fresh(security=security)) == [("ADF467", "/security")]
    assert found(fresh(security=security | {"allow_unsigned": False})) == []


def test_a_model_uses_a_provider_that_is_built_in_or_in_the_file() -> None:
    model = {"provider": "custom:x"}
    own = {"id": "custom:x", "type": "openai", "name": "X", "baseUrl": ""}
    config = with_loop(model=model) | {"model": model}
    assert found(config) == [("ADF469", "/loops/0/model/provider"), ("ADF469", "/model/provider")]
    assert found(config | {"providers": [own]}) == []
    for built_in in ("", "anthropic", "openrouter"):
        assert found(fresh(model={"provider": built_in})) == []


@pytest.mark.parametrize(
    "entry",
    ["loops", "model.temperature", "mcp.new_tools_restricted", "tools.enabled", "triggers.on_inbox.targets.scope",
     "security.table_protections.local_x", "adapters.telegram.config.chat", "x-own.part"],
)  # fmt: skip
def test_a_lock_on_a_field_is_fine(entry: str) -> None:
    assert "ADF471" not in rules(fresh(locked_fields=[entry], **{"x-own": {"part": 1}}))


@pytest.mark.parametrize(
    "entry", ["", "Model", "model.", "model.temprature", "tools.fs_read", "tools.0", "model.provider.x", "*", "y-own"]
)
def test_a_lock_on_nothing_is_named(entry: str) -> None:
    assert found(fresh(locked_fields=[entry])) == [("ADF471", "/locked_fields/0")]


@pytest.mark.parametrize(
    ("recovery", "broken"),
    [
        ({"base_delay_ms": 2000, "max_delay_ms": 1000}, True),
        ({"base_delay_ms": 300001}, True),
        ({"max_delay_ms": 14999}, True),
        ({"max_delay_ms": 15000}, False),
        ({}, False),
    ],
    ids=str,
)
def test_the_longest_delay_is_not_below_the_first(recovery: dict[str, int], broken: bool) -> None:
    assert found(fresh(recovery=recovery)) == [("ADF472", "/recovery")] * broken


def test_the_copies_in_adf_meta_say_the_same() -> None:
    copies = {"adf_name": Meta(3, "Eda", "readonly"), "adf_handle": Meta(4, "ada", "readonly")}
    assert found(fresh(), meta=copies) == [("ADF474", None)]
    assert found(fresh(name="Eda"), meta=copies) == []
    assert found(fresh(name="Eda", handle="eda"), meta=copies) == [("ADF474", None)]
