"""A new file is valid, complete, and determined by what was asked for."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import creation, identity
from adf_format.config import fresh
from adf_format.errors import SchemaError, UnreadableError, UsageError
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file

NOW = datetime(2026, 3, 4, 5, 6, 7, 891234, UTC)
TIME = "2026-03-04T05:06:07.891Z"
ID = "abcDEF_-0123"
VERSIONS = range(OLDEST, LATEST + 1)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(
        path.absolute().as_uri() + "?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def config_of(path: Path) -> dict[str, Any]:
    return json.loads(rows(path, "SELECT config_json FROM adf_config")[0][0])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_file_has_no_finding_and_stands_alone(version: int, tmp_path: Path) -> None:
    path = tmp_path / "new.adf"
    creation.new(path, name="A new one", schema_version=version, identity=identity.generate())
    report = validate_file(path, Options(depth=Depth.DEEP))
    assert (report.error, report.findings, report.schema_version) == (None, [], version)
    assert names(tmp_path) == ["new.adf"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_file_has_the_tables_and_indexes_of_its_version(version: int, tmp_path: Path) -> None:
    creation.new(tmp_path / "new.adf", name="N", schema_version=version)
    present = {
        name for (name,) in rows(tmp_path / "new.adf", "SELECT name FROM sqlite_schema") if "sqlite_" not in name
    }
    tables = storage_version(version).tables
    assert present == set(tables) | {index.name for table in tables.values() for index in table.indexes}


def test_meta_keys_are_protected_as_the_specification_says(tmp_path: Path) -> None:
    creation.new(tmp_path / "new.adf", name="Ada Lovelace", now=NOW)
    assert rows(tmp_path / "new.adf", "SELECT * FROM adf_meta ORDER BY key") == [
        ("adf_created_at", TIME, "readonly"),
        ("adf_handle", "ada-lovelace", "readonly"),
        ("adf_name", "Ada Lovelace", "readonly"),
        ("adf_parent_did", "", "readonly"),
        ("adf_schema_version", "32", "readonly"),
        ("adf_updated_at", TIME, "readonly"),
        ("adf_version", "0.2", "readonly"),
        ("status", "", "none"),
    ]


@pytest.mark.parametrize(
    ("version", "paths"),
    [
        (21, ["document.md", "mind.md"]),
        (22, ["README.md", "mind.md"]),
        (24, ["README.md", "mind.md"]),
        (25, ["README.md", "mind.md", "soul.md"]),
        (27, ["README.md", "mind.md", "soul.md"]),
        (28, ["README.md", "mind.md", "mind/log.md", "soul.md"]),
        (32, ["README.md", "mind.md", "mind/log.md", "soul.md"]),
    ],
)
def test_the_files_of_a_new_agent(version: int, paths: list[str], tmp_path: Path) -> None:
    creation.new(tmp_path / "new.adf", name="N", schema_version=version, now=NOW)
    found = rows(
        tmp_path / "new.adf",
        "SELECT path, mime_type, size = length(content), protection, authorized FROM adf_files ORDER BY path",
    )
    assert found == [(path, "text/markdown", 1, "no_delete", 0) for path in paths]


def headings(path: Path, file: str) -> list[str]:
    text = rows(path, f"SELECT CAST(content AS TEXT) FROM adf_files WHERE path = '{file}'")[0][0]
    return re.findall(r"^#+ .*", text, re.MULTILINE)


def test_the_mind_of_a_new_agent_has_its_sections_from_28_and_is_empty_before(tmp_path: Path) -> None:
    old, new = tmp_path / "27.adf", tmp_path / "28.adf"
    creation.new(old, name="N", schema_version=27)
    creation.new(new, name="N", schema_version=28)
    assert headings(old, "mind.md") == []
    assert rows(old, "SELECT size FROM adf_files WHERE path = 'mind.md'") == [(0,)]
    assert headings(new, "mind.md") == ["# Mind", "## Always", "## Pages", "## Rules"]
    assert headings(new, "mind/log.md") == ["# Mind Log"]
    assert headings(new, "soul.md") == ["# Soul", "## Voice", "## Taboos", "## Exemplars", "## Origin"]


def test_the_creator_fills_in_what_the_schemas_cannot_know() -> None:
    made = creation.plan(name="N", agent_id=ID, now=NOW).config
    assert (made["id"], made["name"], made["icon"]) == (ID, "N", fresh.icon(ID))
    assert made["metadata"] == {"created_at": TIME, "updated_at": TIME}
    assert "handle" not in made


def test_the_same_arguments_give_the_same_agent_and_time_and_id_are_new_otherwise() -> None:
    key = identity.generate(bytes(32))
    one, other = (creation.plan(name="N", agent_id=ID, identity=key, now=NOW) for _ in range(2))
    assert one == other
    ids = {creation.plan(name="N").config["id"] for _ in range(5)}
    assert len(ids) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{12}", found) for found in ids)


def test_a_time_of_another_zone_is_written_in_utc() -> None:
    zone = timezone(timedelta(hours=2))
    made = creation.plan(name="N", now=NOW.astimezone(zone))
    assert made.config["metadata"]["created_at"] == TIME


def test_an_identity_gives_the_agent_a_did_and_two_rows(tmp_path: Path) -> None:
    key = identity.generate()
    creation.new(tmp_path / "new.adf", name="N", identity=key)
    assert rows(tmp_path / "new.adf", "SELECT value, protection FROM adf_meta WHERE key = 'adf_did'") == [
        (key.did, "readonly")
    ]
    assert rows(tmp_path / "new.adf", "SELECT value FROM adf_identity WHERE purpose LIKE '%public_key'") == [
        (key.public_key,)
    ]


def test_changes_are_merged_into_objects_and_replace_everything_else(tmp_path: Path) -> None:
    changes = {
        "model": {"temperature": None, "top_p": 0.5},
        "tools": [],
        "x-note": {"b": 1},
        "metadata": {"author": "A"},
    }
    creation.new(tmp_path / "new.adf", name="N", config=changes, now=NOW)
    made = config_of(tmp_path / "new.adf")
    assert made["model"] == {**fresh.defaults(32)["model"], "temperature": None, "top_p": 0.5}
    assert made["tools"] == []
    assert made["metadata"] == {"created_at": TIME, "updated_at": TIME, "author": "A"}
    assert list(made)[-1] == "x-note"


def test_nobody_else_s_config_is_changed() -> None:
    changes: dict[str, Any] = {"model": {"params": []}}
    made = creation.plan(name="N", config=changes)
    made.config["model"]["params"].append(1)
    made.config["triggers"]["on_chat"]["enabled"] = "spoilt"
    assert changes == {"model": {"params": []}}
    assert fresh.defaults(32)["triggers"]["on_chat"]["enabled"] is True


def test_name_version_and_dates_belong_to_the_creator_the_id_to_whoever_gives_it() -> None:
    changes = {"name": "Other", "adf_version": "9", "id": "given0000000", "metadata": {"created_at": "1999"}}
    made = creation.plan(name="N", config=changes, now=NOW).config
    assert (made["name"], made["adf_version"], made["id"]) == ("N", "0.2", "given0000000")
    assert made["metadata"]["created_at"] == TIME
    assert creation.plan(name="N", config=changes, agent_id=ID).config["id"] == ID


def test_a_new_agent_starts_in_the_state_that_its_config_names() -> None:
    assert creation.plan(name="N", config={"start_in_state": "idle"}).config["state"] == "idle"
    assert creation.plan(name="N", config={"start_in_state": "idle", "state": "off"}).config["state"] == "off"


@pytest.mark.parametrize(
    ("name", "handle"), [("Ada", "ada"), ("  Ünï & Co. ", "n-co"), ("日本", "untitled"), ("a" * 100, "a" * 64)]
)
def test_a_handle_is_made_of_the_name(name: str, handle: str) -> None:
    made = {row["key"]: row["value"] for row in creation.plan(name=name).rows["adf_meta"]}
    assert made["adf_handle"] == handle


def test_a_given_handle_stands_in_the_config_too() -> None:
    made = creation.plan(name="N", handle="the-one")
    assert made.config["handle"] == "the-one"
    assert {"key": "adf_handle", "value": "the-one", "protection": "readonly"} in made.rows["adf_meta"]


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a:b", "a\x00", "tail.", "x" * 101, "a\nb"])
def test_a_name_that_cannot_be_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        creation.plan(name=name)


@pytest.mark.parametrize("handle", ["", "Ada", "-a", "a b", "a" * 65, "a\n"])
def test_a_malformed_handle_is_refused(handle: str) -> None:
    with pytest.raises(UsageError, match="cannot be a handle"):
        creation.plan(name="N", handle=handle)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"state": "asleep"}, "/state"),
        ({"tools": {}}, "/tools"),
        ({"model": {"max_tokens": "many"}}, "/model/max_tokens"),
    ],
)
def test_a_config_that_breaks_the_format_is_refused_with_its_place(changes: Any, place: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        creation.new(tmp_path / "new.adf", name="N", config=changes)
    assert caught.value.place == place
    assert names(tmp_path) == []


@pytest.mark.parametrize("version", [20, 33])
def test_a_version_that_is_not_described_is_refused(version: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"storage version {version} is not described"):
        creation.new(tmp_path / "new.adf", name="N", schema_version=version)
    assert names(tmp_path) == []


def test_an_existing_path_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "new.adf"
    path.write_text("mine")
    with pytest.raises((UsageError, UnreadableError), match="exists already"):
        creation.new(path, name="N")
    assert path.read_text() == "mine"
    assert names(tmp_path) == ["new.adf"]


def test_nothing_remains_of_a_file_that_could_not_be_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SchemaError("no such thing")

    monkeypatch.setattr(creation.fresh, "insert", fail)
    with pytest.raises(SchemaError):
        creation.new(tmp_path / "new.adf", name="N")
    assert names(tmp_path) == []


def test_a_column_that_no_version_has_is_a_mistake_and_one_of_another_version_is_left_out() -> None:
    connection = apsw.Connection(":memory:")
    tables = storage_version(27).tables
    creation.fill(connection, creation.plan(name="N", schema_version=27))
    row = {"seq": 1, "role": "user", "content_json": [], "created_at": 1, "ord": 5, "loop": "main"}
    creation.insert(connection, tables["adf_loop"], row)
    assert connection.execute("SELECT * FROM adf_loop").fetchall() == [(1, "user", "[]", None, None, 1)]
    with pytest.raises(SchemaError, match="'order'"):
        creation.insert(connection, tables["adf_loop"], {"order": 1})


@pytest.mark.parametrize(
    ("agent_id", "icon"),
    [("a", "🦾"), ("abc", "🐢"), ("V1StGXR8_Z5j", "🗻"), ("agent-legacy-1", "📦"), ("a1b2c3d4e5f6", "🏹"), ("", "🤖")],
)
def test_the_icon_is_the_one_that_runtimes_pick(agent_id: str, icon: str) -> None:
    assert fresh.icon(agent_id) == icon


def test_the_icon_counts_utf_16_units() -> None:
    assert len(fresh.ICONS) == len(set(fresh.ICONS)) == 48
    state = (0xD83E * 31 + 0xDD16) % 2**32
    assert fresh.icon("🤖") == fresh.ICONS[state % 48]
    assert fresh.icon("\ud83e") == fresh.ICONS[0xD83E % 48]
