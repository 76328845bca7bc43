"""The smaller commands: each keeps the schema of its output, and its promises."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import apsw
import pytest
from jsonschema import Draft202012Validator

from adf_format.sample import build
from adf_format.schemas import ddl, urns
from adf_format.schemas.store import document, registry
from adf_format.validation.rule import all_rules


def checked(text: str) -> dict[str, Any]:
    """Return a JSON document that keeps the schema it names."""
    value: dict[str, Any] = json.loads(text)
    Draft202012Validator(document(value["$schema"]), registry=registry()).validate(value)
    return value


def test_rules_lists_every_rule(adf: Any) -> None:
    found = checked(adf("rules", "--format", "json").out)
    assert [one["id"] for one in found["rules"]] == list(all_rules())
    text = adf("rules").out
    assert all(f"{one.id}  " in text and one.name in text for one in all_rules().values())


def test_rules_lists_a_family(adf: Any) -> None:
    found = checked(adf("rules", "ADF5", "--format", "json").out)
    assert {one["family"]["id"] for one in found["rules"]} == {"ADF5"}
    assert "ADF401" not in adf("rules", "ADF5").out


def test_rules_explains_by_id_and_by_name(adf: Any) -> None:
    one = next(iter(all_rules().values()))
    text = adf("rules", one.id).out
    assert text == adf("rules", one.name).out
    assert all(part in text for part in (one.what, one.why, "This breaks it", "comes close"))


@pytest.mark.parametrize("version", [21, 32])
def test_schema_ddl_prints_statements_that_sqlite_takes(adf: Any, version: int) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(adf("schema", "ddl", version).out)
    connection.close()
    assert checked(adf("schema", "ddl", version, "--format", "json").out)["statements"] == ddl(version)


def test_schema_list_names_all_documents_or_those_of_a_version(adf: Any) -> None:
    everything = checked(adf("schema", "list", "--format", "json").out)["schemas"]
    assert [one["urn"] for one in everything] == list(urns())
    some = checked(adf("schema", "list", "--schema-version", 28, "--format", "json").out)["schemas"]
    names = {one["urn"] for one in some}
    assert "urn:adf-format:tables:adf_loop:28" in names
    assert "urn:adf-format:tables:adf_loop:29" not in names
    assert "tables/adf_loop/28" in adf("schema", "list").out


@pytest.mark.parametrize(
    "name", ["tables/adf_loop/29", "urn:adf-format:tables:adf_loop:29", "tables:adf_loop:29", "tables/adf_loop/29.json"]
)
def test_schema_show_takes_a_urn_or_a_path(adf: Any, name: str) -> None:
    assert json.loads(adf("schema", "show", name).out) == document("urn:adf-format:tables:adf_loop:29")


def test_schema_export_writes_what_other_languages_can_load(adf: Any, tmp_path: Path) -> None:
    result = adf("schema", "export", tmp_path / "out", "--bundle", tmp_path / "sub" / "adf.json")
    assert result.code == 0
    assert (tmp_path / "out" / "tables" / "adf_loop" / "29.json").is_file()
    bundle = json.loads((tmp_path / "sub" / "adf.json").read_text("utf-8"))
    Draft202012Validator.check_schema(bundle)
    # Without a registry: every reference is resolved inside the bundle
    schema = bundle | {"$ref": "urn:adf-format:output:file-report:1"}
    Draft202012Validator(schema).validate(document("urn:adf-format:output:file-report:1")["examples"][0])
    assert not Draft202012Validator(schema).is_valid({})


def test_new_makes_a_file_without_findings(adf: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.adf"
    found = checked(adf("new", path, "--name", "Ada", "--schema-version", 28, "--identity", "--format", "json").out)
    assert found["schema_version"] == 28
    assert found["did"].startswith("did:key:z6Mk")
    assert adf("validate", path, "--fail-on", "info").code == 0
    assert [one.name for one in tmp_path.iterdir()] == ["new.adf"]


def test_new_merges_a_configuration_and_takes_its_name(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"name": "Grace", "description": "x"}')
    assert "Grace" in adf("new", tmp_path / "g.adf", "--config", tmp_path / "c.json").out
    assert "h, storage version 32" in adf("new", tmp_path / "h.adf").out


@pytest.mark.parametrize("text", ["[]", "{", '{"name": "a/b"}', None])
def test_new_refuses_what_is_no_configuration_and_leaves_nothing(adf: Any, tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "c.json").write_text(text)
    assert adf("new", tmp_path / "g.adf", "--config", tmp_path / "c.json").code == 2
    assert not (tmp_path / "g.adf").exists()


def test_new_never_touches_an_existing_file(adf: Any, agent: Path) -> None:
    before = agent.read_bytes()
    assert adf("new", agent).code == 2
    assert agent.read_bytes() == before


def test_inspect_tells_the_facts_on_one_screen(adf: Any, agent: Path) -> None:
    text = adf("inspect", agent).out
    assert len(text.splitlines()) <= 32
    for words in (
        "Ada (@ada), storage version 32",
        "gardener",
        "disabled",
        "ada-small",
        "loop:drafter",
        "mind.md",
        "none at",
    ):
        assert words in text
    found = checked(adf("inspect", agent, "--format", "json").out)
    assert found["audit"]["coverage"] == {"highest": 21, "live": 13, "by_ranges": 8, "neither": 0, "gaps": []}
    assert found["unreadable"] == []


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE adf_meta SET value = 'x' || char(27) || '[2J' WHERE key IN ('adf_name', 'status')", r"x\u{1b}[2J"),
        ("DELETE FROM adf_meta WHERE key IN ('adf_name', 'adf_handle', 'adf_did', 'adf_owner_did')", "no DID"),
        ("DROP TABLE adf_timers", "UNREADABLE timers: the table adf_timers is missing"),
        ("UPDATE adf_loop SET loop = 'l' || seq", "and 8 more"),
        ("UPDATE adf_loop SET loop = 'gone'", "not declared"),
        ("UPDATE adf_loop SET tokens = NULL", "no usage recorded"),
        ("DELETE FROM adf_loop WHERE seq = 12; DELETE FROM adf_audit WHERE id = 1", "7 in neither (1 to 6, 12)"),
        ("UPDATE adf_timers SET next_wake_at = 9223372036854775807", "due at "),
        ("UPDATE adf_timers SET expired = 1", "none active"),
        ("DELETE FROM adf_inbox; DELETE FROM adf_tasks", "inbox empty"),
        ("DELETE FROM adf_files WHERE path = 'mind.md'", "mind.md missing"),
        ("UPDATE adf_config SET config_json = '{}'", "model none set; state unknown"),
        ("UPDATE adf_meta SET value = 'x' WHERE key = 'adf_schema_version'", "storage version unknown"),
    ],
)
def test_inspect_tells_whatever_it_finds(adf: Any, agent: Path, sql: str, words: str) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute(sql)
    connection.close()
    result = adf("inspect", agent)
    assert result.code == 0
    assert words in result.out
    assert "\x1b" not in result.out


def test_inspect_says_that_it_read_a_log(adf: Any, agent: Path) -> None:
    connection = apsw.Connection(str(agent))
    connection.pragma("journal_mode", "wal")
    connection.execute("UPDATE adf_meta SET value = 'busy' WHERE key = 'status'")
    try:
        assert "; read from a private copy with " in adf("inspect", agent).out
        assert "from a private copy with " in adf("validate", agent, "--statistics").out
    finally:
        connection.close()


def test_inspect_says_when_the_quick_look_fails(adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adf_format.cli import inspect as module
    from adf_format.validation.report import FileReport

    failed = [FileReport(str(agent), error="a.adf: too slow")]
    monkeypatch.setattr(module, "validate_many", lambda *_: iter(failed))
    result = adf("inspect", agent)
    assert result.code == 0
    assert "could not be validated: a.adf: too slow" in result.out


def test_inspect_of_what_is_no_agent_gives_3(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "x.adf").write_text("hello")
    result = adf("inspect", tmp_path / "x.adf")
    assert (result.code, result.out) == (3, "")
    assert len(result.err.splitlines()) == 1


def test_inspect_counts_the_findings_of_a_quick_look(adf: Any, agent: Path) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute(
        "DROP INDEX idx_adf_inbox_status; UPDATE adf_meta SET value = '99' WHERE key = 'adf_schema_version'"
    )
    connection.close()
    text = adf("inspect", agent).out
    assert "newer than 32" in text
    assert "at a quick look" in text


def test_demo_goes_through_and_leaves_nothing(adf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = adf("demo")
    assert result.code == 0
    assert "-- main compacted: 10 rows became one summary, S27 (archived) --" in result.err
    assert "-- reviewer removed: 7 rows archived as loop:reviewer --" in result.err
    assert not any(line.startswith("!") for line in result.err.splitlines()), "nothing went wrong"
    assert "Straw for the two young roses, fleece on top" in result.out
    assert "flora.adf: valid (storage version 32)" in result.out
    assert "NOT VALID" in result.out
    assert "the receipt holds" in result.out
    assert "The files are gone" in result.out
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_demo_keeps_its_files_when_asked(adf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert adf("demo", "--dir", tmp_path / "d").code == 0
    kept = ["ada.adf", "answers.json", "broken.adf", "broken.json", "flora.adf", "flora.json"]
    kept += ["old.adf", "old.adf.bak", "receipt.json"]
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == kept
    assert adf("demo", "--dir", tmp_path / "d").code == 2
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    assert adf("demo", "--keep").code == 0
    assert len(list((tmp_path / "t").iterdir())) == 1


def test_the_examples_in_every_help_run(adf: Any, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line that a help shows as an example ends with 0 or 1."""
    monkeypatch.chdir(tmp_path)
    from adf_format.cli.main import COMMANDS

    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "a.adf").write_bytes(agent.read_bytes())
    (tmp_path / "copy.adf").write_bytes(agent.read_bytes())
    agent.rename(tmp_path / "agent.adf")
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "answers.json").write_text('{"replies": [{"loop": "*", "text": "Nothing is new.", "repeat": true}]}')
    ran = 0
    for name in COMMANDS:
        lines = [line.strip() for line in adf(name, "--help").out.splitlines()]
        build(tmp_path / "agent.adf", 27 if name == "migrate" else 32)
        for line in [line for line in lines if line.startswith("adf-format ") and "openai:" not in line]:  # a network
            arguments = _words(line.split("   ")[0])[1:]
            if arguments[0] == "new":
                (tmp_path / "ada.adf").unlink(missing_ok=True)
            assert adf(*arguments).code in (0, 1), line
            ran += 1
    assert ran >= 20


def _words(line: str) -> list[str]:
    import shlex

    return shlex.split(line)


class TestRepairsOfRules:
    def test_a_rule_tells_what_repair_does_about_it_and_how_sure_that_is(self, adf: Any) -> None:
        assert "  repair    safe: create the missing index" in adf("rules", "ADF212").out
        assert "  repair    guess: measure the text" in adf("rules", "ADF509").out
        assert "repair" not in adf("rules", "ADF501").out.partition("This breaks it")[0]
        assert "[repair: safe]" in adf("rules", "ADF2").out

    def test_programs_get_every_fix_of_every_rule(self, adf: Any) -> None:
        from adf_format.repair import FIXES

        document = json.loads(adf("rules", "--format", "json").out)
        told = {(rule["id"], one["kind"], one["does"]) for rule in document["rules"] for one in rule["repairs"]}
        assert told == {(fix.rule, str(fix.kind), fix.does) for fix in FIXES}
