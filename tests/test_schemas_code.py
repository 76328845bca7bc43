"""The code that reads the schema documents: the store, the catalogue, tables as values, and the SQL of a new file."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw
import pytest

from adf_format import structure
from adf_format.errors import SchemaError, UsageError
from adf_format.schemas import LATEST, OLDEST, ddl, document, storage_version, store, tables, urns
from adf_format.schemas.ddl import quote, quote_any

REPOSITORY = Path(__file__).resolve().parent.parent
GOLDEN = REPOSITORY / "tests" / "golden" / "structure"
REAL = REPOSITORY.parent / "shared" / "real-files"
VERSIONS = range(OLDEST, LATEST + 1)


def extractor() -> ModuleType:
    """The script that made the golden files; it shares no code with the package."""
    path = REPOSITORY / "tools" / "golden_structure.py"
    spec = importlib.util.spec_from_file_location("golden_structure", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXTRACTOR = extractor()


def made(version: int) -> apsw.Connection:
    """An empty file of a storage version."""
    connection = apsw.Connection(":memory:")
    for statement in ddl(version):
        connection.execute(statement)
    return connection


# --- the SQL of a new file


@pytest.mark.parametrize("version", sorted(EXTRACTOR.SOURCES))
def test_a_new_file_has_the_tables_columns_and_indexes_of_real_files(version: int) -> None:
    golden = json.loads((GOLDEN / f"{version}.json").read_text(encoding="utf-8"))
    assert EXTRACTOR.structure(made(version)) == golden


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here: they are private")
@pytest.mark.parametrize("version", sorted(EXTRACTOR.SOURCES))
def test_the_golden_structures_are_those_of_the_real_files(version: int) -> None:
    golden = json.loads((GOLDEN / f"{version}.json").read_text(encoding="utf-8"))
    assert EXTRACTOR.extract(REAL / f"{EXTRACTOR.SOURCES[version]}.adf") == golden


@pytest.mark.parametrize("version", VERSIONS)
def test_sqlite_sees_in_a_new_file_what_the_schemas_say(version: int) -> None:
    found = dict(structure.read(made(version)).tables)
    for name, table in storage_version(version).tables.items():
        actual = found.pop(name)
        assert [(one.name, one.type, one.default) for one in actual.columns.values()] == [
            (one.name, one.type, one.default) for one in table.columns
        ]
        assert {name: one.not_null for name, one in actual.columns.items()} == {
            one.name: one.not_null for one in table.columns
        }
        assert [one.name for one in actual.columns.values() if one.primary_key] == [table.primary_key.name]
        assert actual.autoincrement is table.autoincrement
        assert {one.name for one in actual.indexes.values() if one.origin == "c"} == {one.name for one in table.indexes}
    assert found == {}


def test_a_check_of_a_schema_is_kept_by_a_new_file() -> None:
    connection = made(LATEST)
    with pytest.raises(apsw.ConstraintError, match="CHECK"):
        connection.execute("INSERT INTO adf_config (id, config_json, updated_at) VALUES (2, '{}', 'x')")


def test_numbers_of_rows_are_never_given_twice() -> None:
    connection = made(LATEST)
    insert = "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', '[]', 0) RETURNING seq"
    first = connection.execute(insert).get
    connection.execute("DELETE FROM adf_loop")
    assert connection.execute(insert).get == first + 1


def test_words_of_sql_are_quoted_and_other_names_are_not() -> None:
    assert quote("from") == '"from"'
    assert quote("Loop") == '"Loop"'
    assert quote("seq") == "seq"


@pytest.mark.parametrize("name", ['a"b', "a b", "", "x'); DROP TABLE adf_loop;--", "ä"])
def test_any_name_of_a_hostile_file_can_be_quoted(name: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE t ({quote_any(name)} TEXT)")
    assert [row[1] for row in connection.execute("PRAGMA table_info(t)")] == [name]


# --- the catalogue


def test_only_described_versions_are_known() -> None:
    for number in (OLDEST - 1, LATEST + 1, -1):
        with pytest.raises(UsageError, match=f"storage version {number} is not described"):
            storage_version(number)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_storage_version_leads_to_documents_that_exist(version: int) -> None:
    found = storage_version(version)
    assert found.number == version
    assert document(found.agent_config)["title"]
    assert (found.loop_config is not None) == (version >= 29)
    assert document(found.value("content"))["$id"] == found.value("content")
    assert document(found.audit_format("loop-snapshot"))["$id"] == found.audit_format("loop-snapshot")
    assert {"inbox_message", "file"} <= {one.get("source") for one in found.audit_sources}
    assert ("adf_attestations" in found.tables) == (version >= 24)


def test_a_storage_version_is_made_once() -> None:
    assert storage_version(28) is storage_version(28)
    assert storage_version(28).tables is storage_version(28).tables


# --- tables as values


def test_a_table_tells_its_columns_and_their_json() -> None:
    table = storage_version(LATEST).tables["adf_loop"]
    assert table is tables.load("urn:adf-format:tables:adf_loop:29")
    assert table.primary_key.name == "seq"
    assert list(table.column) == [column.name for column in table.columns]
    content = table.column["content_json"]
    assert (content.is_json, content.content) == (True, "urn:adf-format:values:content:21")
    assert (table.column["role"].is_json, table.column["role"].content) == (False, None)
    assert table.column["created_at"].unit == "epoch-ms"
    assert table.indexes[1].columns == ("loop", "COALESCE(ord, seq)", "seq")


def test_every_table_has_one_primary_key() -> None:
    for version in VERSIONS:
        for table in storage_version(version).tables.values():
            assert [column.name for column in table.columns if column.primary_key] == [table.primary_key.name]


# --- the store


def test_every_document_can_be_loaded_by_its_urn_and_is_loaded_once() -> None:
    assert urns() == tuple(sorted(urns()))
    for urn in urns():
        assert document(urn)["$id"] == urn
        assert document(urn) is document(urn)


@pytest.mark.parametrize("urn", ["urn:adf-format:tables:adf_loop:22", "catalog", "", "urn:adf-format:..:pyproject"])
def test_an_unknown_urn_is_a_usage_error_that_says_where_to_look(urn: str) -> None:
    with pytest.raises(UsageError, match="no schema") as caught:
        document(urn)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_references_are_followed_to_the_schema_they_mean() -> None:
    target = document("urn:adf-format:tables:adf_loop:29")
    assert store.resolve({"$ref": "urn:adf-format:tables:adf_loop:29"}) is target
    role = {"$ref": "urn:adf-format:tables:adf_loop:29#/properties/role"}
    assert store.resolve(role) is target["properties"]["role"]
    assert store.resolve({"type": "string"}) == {"type": "string"}


def test_a_pointer_in_a_reference_is_unescaped(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile: dict[str, Any] = {"a/b": {"c~d": {"type": "null"}}}
    monkeypatch.setattr(store, "document", lambda _: hostile)
    assert store.resolve({"$ref": "urn:x#/a~1b/c~0d"}) == {"type": "null"}


def test_documents_are_found_in_a_wheel_and_in_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "site" / "adf_format"
    monkeypatch.setattr(store, "__file__", str(package / "schemas" / "store.py"))
    look = store.root.__wrapped__
    with pytest.raises(SchemaError, match="missing"):
        look()
    for folder in (tmp_path / "site" / "schemas", package / "_data" / "schemas"):
        folder.mkdir(parents=True)
        (folder / "catalog.json").write_text("{}", encoding="utf-8")
        assert look() == folder
