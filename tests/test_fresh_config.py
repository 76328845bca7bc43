"""A config built from `x-adf-create` is the config that a fresh file of that storage version holds."""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent / "schemas"
GOLDEN = Path(__file__).parent / "golden" / "fresh_config"
VERSIONS = [21, 24, 27, 28, 29]
SUPPLIED = {"id", "name", "icon", "metadata"}
"""Keys that the creator of a file fills in himself."""
REAL_ORDER = [
    "adf_version",
    "id",
    "name",
    "description",
    "icon",
    "state",
    "autonomous",
    "autostart",
    "model",
    "instructions",
    "context",
    "tools",
    "triggers",
    "security",
    "limits",
    "messaging",
    "audit",
    "code_execution",
    "compute",
    "logging",
    "mcp",
    "adapters",
    "serving",
    "ws_connections",
    "providers",
    "locked_fields",
    "card",
    "metadata",
]
ABSENT = object()


def load(urn: str) -> dict[str, Any]:
    return json.loads((ROOT / f"{urn.removeprefix('urn:adf-format:').replace(':', '/')}.json").read_text("utf-8"))


def newest(thing: str, version: int) -> str:
    found = max(int(p.stem) for p in (ROOT / "config" / thing).iterdir() if int(p.stem) <= version)
    return f"urn:adf-format:config:{thing}:{found}"


def created(schema: dict[str, Any]) -> Any:
    """The value a creator writes for this schema, or ABSENT. A create value beside a `$ref` wins."""
    if "x-adf-create" in schema:
        return schema["x-adf-create"]
    if "$ref" in schema:
        return created(load(schema["$ref"]))
    built = {key: created(child) for key, child in schema.get("properties", {}).items()}
    return {key: value for key, value in built.items() if value is not ABSENT} or ABSENT


def fresh(version: int) -> dict[str, Any]:
    return created(load(newest("agent-config", version)))


def golden(version: int) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{version}.json").read_text("utf-8"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fresh_config_has_the_values_and_the_key_order_of_its_version(version: int) -> None:
    assert json.dumps(fresh(version), indent=1) == json.dumps(golden(version), indent=1)


@pytest.mark.parametrize("version", range(21, 33))
def test_what_the_creator_supplies_has_no_create_value(version: int) -> None:
    assert not SUPPLIED & fresh(version).keys()


@pytest.mark.parametrize("version", range(21, 33))
def test_the_supplied_keys_have_their_place_in_the_property_order(version: int) -> None:
    """With id, name and icon put in where `properties` has them, the key order is that of a real file."""
    made = fresh(version).keys() | SUPPLIED
    assert [key for key in load(newest("agent-config", version))["properties"] if key in made] == REAL_ORDER


@pytest.mark.parametrize(("version", "count"), [(21, 42), (24, 42), (27, 43), (28, 43), (29, 46), (32, 46)])
def test_a_fresh_config_declares_every_built_in_tool_once(version: int, count: int) -> None:
    names = [tool["name"] for tool in fresh(version)["tools"]]
    assert len(names) == len(set(names)) == count


@pytest.mark.parametrize("version", [v for v in range(21, 33) if v not in VERSIONS])
def test_a_version_without_a_known_change_of_defaults_writes_what_the_one_before_wrote(version: int) -> None:
    """22 renames the watched document, 23 drops two limits; the others change nothing."""
    expected = golden(max(v for v in VERSIONS if v < version))
    if version in {22, 23}:
        expected["triggers"]["on_file_change"]["targets"][0]["filter"]["watch"] = "README.*"
    if version == 23:
        del expected["limits"]["max_loop_rows"], expected["limits"]["max_daily_budget_usd"]
    assert fresh(version) == expected
