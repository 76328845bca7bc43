"""The configuration against its schema: which rule a violation gets, and that nothing in it stops the checks."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest
from config_support import LOOPS, context_of, found, fresh, looked_at, with_loop
from family_support import build, rules, told
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_format.validation.rule import Severity
from adf_format.validation.rules import config as family

FAMILY = {rule.id for one in family.PASSES for rule in one.rules}


def changed(path: str, value: Any, version: int = 32) -> dict[str, Any]:
    """Return a fresh configuration with the value at a dotted path replaced."""
    config = fresh(version)
    *parents, last = path.split(".")
    here: Any = config
    for part in parents:
        here = here[int(part)] if isinstance(here, list) else here.setdefault(part, {})
    here[last] = value
    return config


def without(path: str, version: int = 32) -> dict[str, Any]:
    config = changed(path, None, version)
    *parents, last = path.split(".")
    here: Any = config
    for part in parents:
        here = here[int(part)] if isinstance(here, list) else here[part]
    del here[last]
    return config


@pytest.mark.parametrize("path", ["autonomous", "model.provider", "limits.max_file_read_tokens", "loops.0.enabled"])
@pytest.mark.parametrize("value", ["false", 1.5, [], {}], ids=str)
def test_a_wrong_type_is_an_error(path: str, value: Any) -> None:
    if not (path == "model.provider" and isinstance(value, str)):
        assert found(changed(path, value)) == [("ADF404", "/" + path.replace(".", "/"))]


@pytest.mark.parametrize("path", ["name", "loops.0.name", "model.provider", "triggers.on_chat.enabled"])
def test_null_for_a_required_key_is_a_wrong_type(path: str) -> None:
    assert found(changed(path, None)) == [("ADF404", "/" + path.replace(".", "/"))]


@pytest.mark.parametrize("path", ["handle", "recovery", "loops.0.model", "model.reasoning.effort", "state", "loops"])
def test_null_for_an_optional_key_is_tolerated(path: str) -> None:
    assert found(changed(path, None)) == [("ADF410", "/" + path.replace(".", "/"))]


@pytest.mark.parametrize("path", ["model.temperature", "limits.max_active_turns", "loops.0.compact_threshold"])
def test_null_is_fine_where_the_format_has_it(path: str) -> None:
    assert found(changed(path, None)) == []


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("state", "error", "ADF405"),
        ("adf_version", "0.3", "ADF405"),
        ("security.level", 4, "ADF405"),
        ("security.level", True, "ADF404"),
        ("model.reasoning.effort", "max", "ADF405"),
        ("model.temperature", 2.01, "ADF409"),
        ("model.max_tokens", 0, "ADF409"),
        ("name", "n" * 101, "ADF409"),
        ("id", "short", "ADF409"),
        ("id", "V1StGXR8_Z5j\n", "ADF409"),
        ("handle", "Ada", "ADF408"),
        ("handle", "-ada", "ADF409"),
        ("handle", "ada\n", "ADF408"),
        ("metadata.created_at", "yesterday", "ADF409"),
        ("name", "a/b", "ADF416"),
        ("name", "a.", "ADF416"),
        ("adapters.email", {"enabled": True, "config": {"folders": 5}}, "ADF418"),
        ("reply_to", "x", "ADF412"),
        ("security.allow_protected_writes", True, "ADF412"),
        ("context.max_loop_messages", 5, "ADF413"),
        ("metadata.loop_name", "gardener", "ADF473"),
        ("model.colour", "red", "ADF411"),
    ],
    ids=str,
)
def test_a_violation_gets_the_rule_of_its_keyword_and_tier(path: str, value: Any, rule: str) -> None:
    assert {one for one, _ in found(changed(path, value))} == {rule}


def test_the_provider_types_of_real_files_are_tolerated_and_others_are_not() -> None:
    provider = {"id": "p", "type": "grok-subscription", "name": "P", "baseUrl": ""}
    assert found(fresh(providers=[provider])) == [("ADF415", "/providers/0/type")]
    assert found(fresh(providers=[provider | {"type": "acme"}])) == [("ADF405", "/providers/0/type")]
    assert found(fresh(providers=[provider | {"type": "openai"}])) == []


@pytest.mark.parametrize("key", ["adf_version", "id", "name", "model", "instructions", "metadata"])
def test_some_keys_have_no_default(key: str) -> None:
    assert found(without(key)) == [("ADF406", None)]


@pytest.mark.parametrize("key", ["context", "triggers", "security", "limits", "messaging"])
def test_sections_with_defaults_are_missed_mildly(key: str) -> None:
    assert found(without(key)) == [("ADF407", None)]


@pytest.mark.parametrize(("version", "expected"), [(30, []), (31, [("ADF417", None)]), (32, [("ADF417", None)])])
def test_the_icon_is_missed_from_31_on(version: int, expected: list[tuple[str, None]]) -> None:
    assert found(without("icon", version), version) == expected


@pytest.mark.parametrize("key", ["instructions", "description"])
def test_an_empty_text_is_a_legal_default(key: str) -> None:
    assert found(changed(key, "")) == []


@pytest.mark.parametrize("version", [21, 28, 32])
def test_what_no_runtime_can_load_has_a_rule_of_its_own(version: int) -> None:
    for config in (without("tools", version), changed("tools", {}, version), changed("metadata", [], version)):
        findings = looked_at(context_of(config | {"loops": []}, version)).collector.findings()
        assert [one.rule for one in findings if one.severity == Severity.ERROR] == ["ADF403"]


@pytest.mark.parametrize("config", ["[]", "null", '"x"', "5"])
def test_a_configuration_is_an_object(config: str) -> None:
    assert found(config) == [("ADF403", None)]


def test_an_empty_object_misses_its_keys() -> None:
    assert {rule for rule, _ in found("{}")} == {"ADF403", "ADF406", "ADF407", "ADF417"}


def test_a_key_and_a_null_are_each_reported_once() -> None:
    config = changed("triggers.on_inbox.targets.0.scope", None)
    assert found(config) == [("ADF404", "/triggers/on_inbox/targets/0/scope")]


# --- the row and its text -----------------------------------------------------------------------------------


def file_with(path: Path, sql: str) -> Path:
    return build(path / "a.adf", f"UPDATE adf_config SET config_json = '{json.dumps(fresh())}'", sql)


UNCHECKED = "PRAGMA ignore_check_constraints = ON;"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", set()),
        ("DELETE FROM adf_config", {"ADF401"}),
        (f"{UNCHECKED} UPDATE adf_config SET id = 2", {"ADF401"}),
        (f"{UNCHECKED} INSERT INTO adf_config SELECT 2, config_json, updated_at FROM adf_config", {"ADF401"}),
        ("UPDATE adf_config SET config_json = ''", {"ADF402"}),
        ("UPDATE adf_config SET config_json = '{'", {"ADF402"}),
        ("UPDATE adf_config SET config_json = replace(config_json, '0.7', 'NaN')", {"ADF402"}),
        ("UPDATE adf_config SET config_json = CAST(config_json AS BLOB)", {"ADF402"}),
        ("UPDATE adf_config SET config_json = CAST(x'7bff7d' AS TEXT)", {"ADF402"}),
        ("""UPDATE adf_config SET config_json = '{"name":"x",' || substr(config_json, 2)""", {"ADF414"}),
    ],
)
def test_there_is_one_row_with_a_json_object(tmp_path: Path, sql: str, expected: set[str]) -> None:
    assert rules(file_with(tmp_path, sql), family) == expected


def test_a_missing_column_is_left_to_the_rules_on_structure(tmp_path: Path) -> None:
    assert told(file_with(tmp_path, "ALTER TABLE adf_config RENAME config_json TO other"), family) == []


# --- hostile values -----------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
RICH = fresh() | {
    "ws_connections": [{"id": "feed", "url": "wss://x.example", "enabled": True}],
    "stream_bindings": [
        {"id": "b", "a": {"kind": "ws", "connection_id": "feed"}, "b": {"kind": "tcp", "host": "x", "port": 1}},
        {"id": "c", "a": {"kind": "umbilical", "filter": {"event_types": ["turn.completed"]}},
         "b": {"kind": "process", "isolation": "container_isolated", "command": ["x"], "image": "y"}},
    ],
    "stream_bind": {"allow_tcp_bind": True, "tcp_allowlist": [{"host": "*", "min_port": 1, "max_port": 2}]},
    "umbilical_taps": [{"name": "t", "lambda": "x", "filter": {"event_types": ["turn.completed"]}}],
    "mcp": {"servers": [{"name": "git", "transport": "stdio", "command": "x", "restricted": True}]},
    "compute": {"enabled": True, "allowed_targets": ["host"], "default_target": "host"},
    "serving": {"shared": {"enabled": True, "patterns": ["x"]},
                "api": [{"method": "GET", "path": "/x", "lambda": "a:b"}]},
    "pre_llm_hook": {"source": "a.ts", "scope": "loops", "loops": ["gardener"]},
    "providers": [{"id": "p", "type": "openai", "name": "P", "baseUrl": ""}],
    "recovery": {"base_delay_ms": 1, "max_delay_ms": 2},
    "locked_fields": ["model"],
    "loops": [LOOPS[0] | {"model": {"provider": "p"}}, LOOPS[1]],
}  # fmt: skip
CODE = {"name": "sys_code", "enabled": True, "visible": True}
RICH["tools"] = [CODE, *RICH["tools"][:3], {"name": "x", "enabled": False, "visible": False, "restricted": True,
                                      "mcp_tool_status": "changed"}]  # fmt: skip


def slots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(slot for key, item in children for slot in slots(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    result = copy.copy(value)
    result[path[0]] = replaced(value[path[0]], path[1:], new)
    return result


SLOTS = slots(RICH)
ODD: list[Any] = [None, True, 10**400, "\ud83d", [None, []], {"": {}}]


def test_the_rich_configuration_gives_no_finding() -> None:
    assert {rule for rule, _ in found(RICH)} <= {"ADF458"}


@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:20])
def test_no_odd_value_at_any_place_stops_the_checks(odd: Any) -> None:
    for path in SLOTS:
        assert {rule for rule, _ in found(replaced(RICH, path, odd))} <= FAMILY, path


@given(st.lists(st.tuples(st.sampled_from(SLOTS), JSON), min_size=1, max_size=3), st.sampled_from([21, 28, 29, 32]))
@settings(max_examples=300, deadline=None)
def test_no_json_at_any_place_stops_the_checks(changes: list[tuple[tuple[Any, ...], Any]], version: int) -> None:
    config: Any = RICH
    for path, value in changes:
        if path in slots(config):
            config = replaced(config, path, value)
    assert {rule for rule, _ in found(config, version)} <= FAMILY


@pytest.mark.parametrize("path", ["loops.0.name", "state", "tools.0.name", "umbilical_taps.0", "security.level"])
def test_a_value_of_any_depth_is_explained(path: str) -> None:
    """JSON is read up to almost the depth at which printing it back is no longer possible."""
    text = json.dumps(changed(path, "DEEP") if "taps" not in path else fresh(umbilical_taps=["DEEP"]))
    deep = text.replace('"DEEP"', "[" * 800 + "]" * 800)
    assert ("ADF404", "/" + path.replace(".", "/")) in found(deep)


@pytest.mark.parametrize(
    "config",
    [
        with_loop(tools=["x"] * 30_000),
        fresh(locked_fields=[f"x{number}" for number in range(30_000)]),
        fresh(triggers={"on_chat": {"enabled": True, "targets": [{}] * 30_000}}),
        fresh(tools=[{"name": f"x{number % 9}"} for number in range(30_000)], loops=[]),
        fresh(loops=[{"name": f"x{number}"} for number in range(30_000)]),
        fresh(umbilical_taps=[{"name": "x", "filter": {"event_types": ["a.*"] * 30_000}}]),
        fresh(**{f"x{number}": number for number in range(30_000)}),
        fresh(security={"table_protections": {f"x{number}": "y" for number in range(30_000)}}),
    ],
    ids=["loop tools", "locks", "targets", "tools", "loops", "events", "keys", "tables"],
)
def test_the_time_for_a_huge_configuration_grows_with_its_size_only(config: dict[str, Any]) -> None:
    """Quadratic checks would take minutes on these; findings are bounded, and what was left out is said."""
    started = time.perf_counter()
    context = looked_at(context_of(config))
    assert time.perf_counter() - started < 10
    findings = context.collector.findings()
    assert len(findings) < 200
    assert sum(one.count for one in findings) + sum(context.collector.left_out.values()) >= 2000


def test_what_is_left_out_of_many_unknown_keys_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family.shape, "REMARKS", 3)
    for count, said in ((3, 0), (4, 1)):
        context = looked_at(context_of(fresh(**{f"x{number}": 1 for number in range(count)})))
        assert len(context.collector.findings()) == 3
        assert len(context.stats.not_checked) == said


def test_a_pointer_through_a_huge_key_is_cut() -> None:
    assert found(fresh(model={"provider": "", "k" * 1_000_000: 1}))[0][1] == "/model/" + "k" * 293 + "…"
