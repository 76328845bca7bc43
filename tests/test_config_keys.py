"""Walking a configuration along its schema: which keys are unknown, deprecated, removed, optional."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from adf_format.config import keys
from adf_format.config.fresh import defaults
from adf_format.schemas import document, storage_version

TOP = keys.place(storage_version(32).agent_config)
ENDPOINT = {"kind": "process", "isolation": "host", "command": ["cat"], "env": {"LANG": "C"}}


def place(schema: dict[str, Any]) -> keys.Place:
    return keys.Place.of([("urn:adf-format:config:agent-config:31", schema)])


def told(schema: dict[str, Any], value: object) -> list[tuple[str, keys.Path]]:
    return [(what, path) for what, path in keys.remarks(place(schema), value)]


def full() -> dict[str, Any]:
    """Every example of the newest config schema, put into one value."""
    config = copy.deepcopy(document(storage_version(32).agent_config)["examples"][0])
    config["stream_bindings"] = [{"id": "b", "a": ENDPOINT, "b": copy.deepcopy(ENDPOINT)}]
    for name in ("security", "compute", "mcp", "adapters", "serving", "umbilical"):
        reference = document(storage_version(32).agent_config)["properties"][name]["$ref"]
        config[name] = copy.deepcopy(document(reference)["examples"][-1])
    return config


def objects(value: Any, path: keys.Path = ()) -> Iterator[tuple[keys.Path, dict[str, Any]]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield path, value
    for key, item in children:
        yield from objects(item, (*path, key))


OPEN = {"env", "headers", "config", "table_protections", "provider_params", "input_schema", "adapters"}


@pytest.mark.parametrize("version", range(21, 33))
def test_a_fresh_configuration_has_only_known_keys(version: int) -> None:
    assert not list(keys.remarks(keys.place(storage_version(version).agent_config), defaults(version)))


def test_an_added_key_is_unknown_at_every_place_that_is_no_open_map() -> None:
    config = full()
    assert not list(keys.remarks(TOP, config))
    places = [path for path, _ in objects(config)]
    for path, found in objects(config):
        found["zz-added"] = 1
        expected = [] if path and path[-1] in OPEN else [("unknown", (*path, "zz-added"))]
        assert [tuple(remark) for remark in keys.remarks(TOP, config)] == expected
        del found["zz-added"]
    assert len(places) > 40


def test_an_object_without_listed_keys_is_open() -> None:
    assert told({"type": "object"}, {"x": 1}) == []
    assert told({"type": "object", "properties": {}}, {"x": 1}) == [("unknown", ("x",))]


def test_saying_anything_of_further_keys_opens_a_map() -> None:
    inner = {"properties": {"a": {}}}
    assert told(inner | {"additionalProperties": True}, {"x": {"y": 1}}) == []
    assert told({"additionalProperties": inner}, {"x": {"y": 1}}) == [("unknown", ("x", "y"))]
    assert told(inner | {"additionalProperties": False}, {"x": 1}) == [("unknown", ("x",))]


def test_keys_of_all_branches_are_known() -> None:
    for word in ("allOf", "anyOf", "oneOf"):
        schema = {"properties": {"a": {}}, word: [{"properties": {"b": {}}}, {"properties": {"c": {}}}]}
        assert told(schema, {"a": 1, "b": 1, "c": 1, "d": 1}) == [("unknown", ("d",))]


def test_keys_of_a_condition_are_known_where_it_holds() -> None:
    schema = {
        "properties": {"kind": {}},
        "if": {"required": ["kind"], "properties": {"kind": {"const": "tcp"}}},
        "then": {"properties": {"port": {"properties": {"from": {}}}}},
        "else": {"properties": {"path": {}}},
    }
    assert told(schema, {"kind": "tcp", "port": {"from": 1, "to": 2}, "path": 1}) == [
        ("unknown", ("port", "to")),
        ("unknown", ("path",)),
    ]
    assert told(schema, {"kind": "ws", "port": 1, "path": 1}) == [("unknown", ("port",))]


def test_a_relative_reference_is_followed_in_its_own_document() -> None:
    top = keys.place("urn:adf-format:config:loop-config:29")
    assert list(keys.remarks(top, {"model": {"provider": "", "colour": 1}})) == [("unknown", ("model", "colour"))]
    local = keys.Place.of([("urn:adf-format:config:triggers:29", {"$ref": "#/$defs/filter_on_inbox"})])
    assert list(keys.remarks(local, {"sender": "x", "to": "x"})) == [("unknown", ("to",))]


@pytest.mark.parametrize(
    ("config", "version", "expected"),
    [
        ({"reply_to": "x"}, 32, [("deprecated", ("reply_to",))]),
        ({"model": {"vision": True}}, 32, []),
        ({"model": {"thinking_budget": 1}}, 32, [("deprecated", ("model", "thinking_budget"))]),
        ({"model": {"thinking_budget": 1}}, 22, []),
        ({"limits": {"max_loop_rows": 1}}, 32, [("removed", ("limits", "max_loop_rows"))]),
        ({"limits": {"max_loop_rows": 1}}, 22, []),
        ({"tools": [{"require_approval": 1}]}, 21, [("removed", ("tools", 0, "require_approval"))]),
        ({"loops": []}, 28, [("unknown", ("loops",))]),
        ({"bare_prompt": True}, 27, [("unknown", ("bare_prompt",))]),
        ({"bare_prompt": True}, 28, []),
    ],
    ids=str,
)
def test_a_key_is_judged_by_the_storage_version(
    config: dict[str, Any], version: int, expected: list[tuple[str, keys.Path]]
) -> None:
    top = keys.place(storage_version(version).agent_config)
    assert [tuple(remark) for remark in keys.remarks(top, config)] == expected


@pytest.mark.parametrize("value", [None, 1, "x", [], [[[]]], {"model": 1, "tools": {"a": 1}, "loops": "x"}], ids=str)
def test_a_wrong_type_ends_the_walk_without_a_remark(value: object) -> None:
    assert not list(keys.remarks(TOP, value))


@pytest.mark.parametrize(
    ("pointer", "optional"),
    [("/name", False), ("/handle", True), ("/tools/0/name", False), ("/tools/0/visible", True), ("/tools/0", False),
     ("/model/provider", False), ("/serving/api/0/warm", True), ("/security/table_protections/local_a~1b", True)],
)  # fmt: skip
def test_a_key_is_optional_if_its_object_does_without(pointer: str, optional: bool) -> None:
    config = full()
    config["security"]["table_protections"] = {"local_a/b": None}
    assert keys.is_optional(TOP, config, pointer) is optional


def test_below_an_unknown_key_nothing_counts_as_optional() -> None:
    assert not keys.is_optional(TOP, {"zz": {"a": None}}, "/zz/a")


def test_the_required_keys_of_a_condition_count_where_it_holds() -> None:
    endpoint = keys.place("urn:adf-format:config:stream-endpoint:27")
    for value in ({"kind": "tcp", "port": None}, {"kind": "ws", "port": None}):
        assert keys.is_optional(endpoint, value, "/port") is (value["kind"] == "ws")
