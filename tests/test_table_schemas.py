"""Laws of the table schemas, of the catalogue and of every file that describes what a file stores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMAS = REPOSITORY / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
AREAS = ("tables", "values", "audit", "meta")


def urn(file: Path) -> str:
    """The name that the path of a file asks for."""
    return ":".join(["urn:adf-format", *file.relative_to(SCHEMAS).with_suffix("").parts])


FILES = {urn(file): json.loads(file.read_text(encoding="utf-8")) for file in sorted(SCHEMAS.rglob("*.json"))}
REGISTRY: Registry = Registry().with_resources(
    (name, DRAFT202012.create_resource(document)) for name, document in FILES.items()
)
OURS = [name for name in FILES if name.split(":")[2] in {*AREAS, "catalog", "versions"}]
OUR_SCHEMAS = [name for name in OURS if FILES[name]["$schema"] == DIALECT]
OUR_DATA = [name for name in OURS if FILES[name]["$schema"] != DIALECT]
TABLES = [name for name in OURS if name.startswith("urn:adf-format:tables:")]
CATALOG = FILES["urn:adf-format:catalog"]
VERSIONS = range(21, 33)

CHANGES = {
    "adf_meta": [21],
    "adf_config": [21],
    "adf_loop": [21, 28, 29],
    "adf_inbox": [21],
    "adf_outbox": [21, 32],
    "adf_timers": [21, 26, 29],
    "adf_files": [21],
    "adf_audit": [21, 28],
    "adf_identity": [21],
    "adf_tasks": [21, 27, 29],
    "adf_logs": [21, 29],
    "adf_attestations": [24],
}


def against(name: str, instance: Any) -> list[str]:
    """What a document of ours has against an instance."""
    errors = Draft202012Validator({"$ref": name}, registry=REGISTRY).iter_errors(instance)
    return [f"{error.json_path}: {error.message}" for error in errors]


def urns(value: Any) -> Iterator[str]:
    """Every reference in a document: `$ref`, and URNs of data documents."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == "$ref" or (isinstance(member, str) and member.startswith("urn:adf-format:")):
                yield member
            elif key not in {"examples", "x-adf-source"}:
                yield from urns(member)
    elif isinstance(value, list):
        for member in value:
            yield from urns(member)


def table(name: str, version: int) -> dict[str, Any]:
    """The schema of a table that applies at a storage version."""
    return FILES[CATALOG["versions"][str(version)]["tables"][name]]


@pytest.mark.parametrize("name", OURS)
def test_a_file_is_called_by_its_path_and_says_what_it_is(name: str) -> None:
    document = FILES[name]
    assert document["$id"] == name
    assert document["title"]
    assert document["description"].endswith(".")
    if name in OUR_SCHEMAS and name not in {"urn:adf-format:meta:annotations", "urn:adf-format:meta:table"}:
        assert document["x-adf-source"]
        assert document["examples"]


@pytest.mark.parametrize("name", OUR_SCHEMAS)
def test_a_schema_follows_the_dialect_and_our_keywords(name: str) -> None:
    Draft202012Validator.check_schema(FILES[name])
    assert against("urn:adf-format:meta:annotations", FILES[name]) == []


def test_a_keyword_that_is_not_ours_is_found_at_any_depth() -> None:
    schema = {"allOf": [{"then": {"properties": {"a": {"items": {"x-adf-unknown": 1}}}}}]}
    assert against("urn:adf-format:meta:annotations", schema)


@pytest.mark.parametrize("name", OUR_DATA)
def test_a_data_document_follows_its_meta_schema(name: str) -> None:
    assert FILES[name]["$schema"] in OUR_SCHEMAS
    assert against(FILES[name]["$schema"], FILES[name]) == []


@pytest.mark.parametrize("name", OURS)
def test_every_reference_leads_somewhere(name: str) -> None:
    resolver = REGISTRY.resolver(base_uri=name)
    for reference in urns(FILES[name]):
        if reference not in {name, DIALECT}:
            assert resolver.lookup(reference).contents is not None, reference


@pytest.mark.parametrize("name", OUR_SCHEMAS)
def test_examples_hold(name: str) -> None:
    for example in FILES[name].get("examples", []):
        assert against(name, example) == []


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every property that a schema declares, at any depth."""
    if isinstance(schema, dict):
        for key, member in schema.items():
            if key == "properties" and path.rpartition("/")[2] not in {"if", "not"}:
                yield from ((f"{path}/{name}", declared) for name, declared in member.items())
            if key not in {"examples", "enum", "const", "default"}:
                yield from properties(member, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, member in enumerate(schema):
            yield from properties(member, f"{path}/{index}")


@pytest.mark.parametrize("name", [name for name in OUR_SCHEMAS if name.split(":")[2] in {"tables", "values", "audit"}])
def test_every_property_says_what_it_is_and_none_is_forbidden(name: str) -> None:
    for path, declared in properties(FILES[name]):
        assert declared.get("description"), path
    assert '"additionalProperties": false' not in json.dumps(FILES[name]), "STO-016: unknown keys are legal"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_schema_says_how_the_table_is_declared(name: str) -> None:
    schema = FILES[name]
    assert against("urn:adf-format:meta:table", schema) == []
    assert schema["x-adf-table"]["name"] == name.split(":")[3]
    assert schema["required"] == list(schema["properties"])
    keys = [column for column in schema["properties"].values() if column["x-adf-column"].get("primaryKey")]
    assert len(keys) == 1


@pytest.mark.parametrize("name", TABLES)
def test_json_type_and_sql_type_of_a_column_agree(name: str) -> None:
    for column, schema in FILES[name]["properties"].items():
        sql = schema["x-adf-column"]
        kinds = {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
        assert kinds - {"null"} == {"integer" if sql["type"] == "INTEGER" else "string"}, column
        assert (schema.get("contentEncoding") == "base64") == (sql["type"] == "BLOB"), column
        if sql.get("notNull") or sql.get("primaryKey"):
            assert "null" not in kinds, column
        if sql.get("unit") == "boolean":
            assert schema["enum"] == [0, 1], column
        if sql.get("unit") == "epoch-ms":
            assert (sql["type"], schema["minimum"]) == ("INTEGER", 0), column
        if sql.get("unit") == "iso-8601":
            assert schema["x-adf-severity"]["pattern"] == "warning", column


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_sto_031_a_table_has_one_file_per_version_that_changed_it(name: str) -> None:
    found = sorted(int(file.stem) for file in (SCHEMAS / "tables" / name).iterdir())
    assert found == CHANGES[name]


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_sto_017_a_column_added_by_a_migration_is_marked_and_last(name: str) -> None:
    versions = CHANGES[name]
    for before, after in pairwise(versions):
        if (name, after) == ("adf_audit", 28):
            continue  # STO-031: rebuilt
        old, new = table(name, before)["properties"], table(name, after)["properties"]
        assert list(new)[: len(old)] == list(old)
        for column in list(new)[len(old) :]:
            assert new[column]["x-adf-column"]["added"] is True
            assert not new[column]["x-adf-column"].get("notNull") or "default" in new[column]["x-adf-column"]


def test_sto_031_columns_and_indexes_come_and_go_with_the_versions() -> None:
    def columns(name: str, version: int) -> set[str]:
        return set(table(name, version)["properties"])

    def indexes(name: str, version: int) -> set[str]:
        return {index["name"] for index in table(name, version)["x-adf-table"]["indexes"]}

    assert columns("adf_timers", 26) - columns("adf_timers", 25) == {"expired"}
    assert columns("adf_tasks", 27) - columns("adf_tasks", 26) == {"approval_meta"}
    assert columns("adf_loop", 28) - columns("adf_loop", 27) == {"ord"}
    assert columns("adf_audit", 27) - columns("adf_audit", 28) == {"start_at", "end_at"}
    assert columns("adf_audit", 28) - columns("adf_audit", 27) == {"start_seq", "end_seq", "ref"}
    for name in ("adf_loop", "adf_timers", "adf_tasks", "adf_logs"):
        assert columns(name, 29) - columns(name, 28) == {"loop"}
    assert indexes("adf_audit", 27) == {"idx_adf_audit_source"}
    assert indexes("adf_audit", 28) == {"idx_adf_audit_source_start"}
    assert indexes("adf_loop", 28) == set()
    assert indexes("adf_loop", 29) == {"idx_adf_loop_loop_seq", "idx_adf_loop_stream"}
    assert indexes("adf_outbox", 32) - indexes("adf_outbox", 31) == {"idx_adf_outbox_created"}


ROWS = {name: table(name, 32)["examples"][0] for name in CHANGES}


def severities(name: str, row: dict[str, Any]) -> set[str]:
    """Severities of what a table schema has against a row."""

    def of(error: ValidationError) -> str:
        return error.schema.get("x-adf-severity", {}).get(error.validator, "error")

    return {of(error) for error in Draft202012Validator(table(name, 32), registry=REGISTRY).iter_errors(row)}


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("adf_loop", {"role": "system"}, {"error"}),
        ("adf_loop", {"created_at": 0}, set()),
        ("adf_loop", {"created_at": -1}, {"error"}),
        ("adf_loop", {"ord": -3}, set()),
        ("adf_loop", {"tokens": 123}, {"warning"}),
        ("adf_loop", {"loop": "Main"}, {"error"}),
        ("adf_loop", {"loop": None}, {"error"}),
        ("adf_loop", {"a_later_column": 1}, set()),
        ("adf_timers", {"loop": None}, set()),
        ("adf_timers", {"locked": 2}, {"error"}),
        ("adf_meta", {"protection": "read_only"}, {"error"}),
        ("adf_files", {"protection": "readonly"}, {"error"}),
        ("adf_files", {"updated_at": "2026-01-31 09:30:00"}, {"warning"}),
        ("adf_inbox", {"source": "a_later_adapter"}, set()),
        ("adf_inbox", {"card": "no JSON"}, set()),
        ("adf_inbox", {"status": "seen"}, {"warning"}),
        ("adf_outbox", {"to": None}, {"error"}),
        ("adf_audit", {"source": "a_later_source"}, set()),
        ("adf_identity", {"encryption_algo": None}, {"warning"}),
        ("adf_identity", {"encryption_algo": "a_later_algorithm"}, set()),
        ("adf_attestations", {"role": "friend"}, set()),
        ("adf_attestations", {"role": "", "issued_at": ""}, {"warning"}),
        ("adf_tasks", {"result": "approved"}, set()),
        ("adf_tasks", {"status": "done"}, {"warning"}),
        ("adf_logs", {"level": "fatal"}, {"warning"}),
        ("adf_config", {"id": 2}, {"error"}),
    ],
)
def test_cfg_5_what_a_row_may_hold(name: str, change: dict[str, Any], expected: set[str]) -> None:
    assert severities(name, ROWS[name]) == set()
    assert severities(name, {**ROWS[name], **change}) == expected


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_row_has_every_column(name: str) -> None:
    for column in ROWS[name]:
        row = {key: value for key, value in ROWS[name].items() if key != column}
        assert severities(name, row) == {"error"}, column


def test_the_catalogue_knows_every_version_and_is_up_to_date() -> None:
    assert list(CATALOG["versions"]) == [str(version) for version in VERSIONS]
    assert (CATALOG["oldest"], CATALOG["latest"]) == (VERSIONS.start, VERSIONS.stop - 1)
    command = [sys.executable, REPOSITORY / "tools" / "build_catalog.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_the_catalogue_names_the_newest_file_that_is_not_too_new(version: int) -> None:
    entry = CATALOG["versions"][str(version)]
    for name, versions in CHANGES.items():
        known = [number for number in versions if number <= version]
        wanted = f"urn:adf-format:tables:{name}:{max(known)}" if known else None
        assert entry["tables"].get(name) == wanted
    assert (entry["config"]["loop-config"] is None) == (version < 29)
    assert ("legacy-attestations-meta" in entry["values"]) == (version <= 23)
    assert {"inbox-batch", "outbox-batch"} <= set(entry["audit"]["formats"]), "old blobs stay in migrated files"
