"""A receipt can be proved from the files alone, and a lie in it is found."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from migration_support import ask, names_in, rows_of, run, sample, version_of

from adf_format.audit import decompress_all, split_part
from adf_format.cli.main import cli
from adf_format.cli.main import run as command
from adf_format.container import open_readonly
from adf_format.container.backup import sha256_of
from adf_format.history import coverage
from adf_format.migration import checking
from adf_format.migration.receipt import seal
from adf_format.schemas import checker
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["migrate", *arguments], standalone_mode=False)
    assert done.exception is None, done.output
    return done.return_value, done.stdout


def told_json(*arguments: str, schema: str = "urn:adf-format:output:migrate:1") -> tuple[int, dict[str, Any]]:
    code, text = told(*arguments, "--format", "json")
    document = json.loads(text)
    assert list(checker(schema).problems(document)) == []
    return code, document


def migrated(folder: Path, *more: str, version: int = 27) -> dict[str, Any]:
    sample(folder, version)
    assert told("agent.adf", "--report", "r.json", *more)[0] == 0
    return checking.load("r.json")


def answers(document: dict[str, Any], **places: Path) -> dict[str, bool | None]:
    return {one.question: one.holds for one in checking.check(document["files"][0], **places)}


LIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a snapshot": lambda one: one["audit"][0]["json"].update(after="0" * 64),
    "both hashes of a snapshot": lambda one: one["audit"][0]["json"].update(before="0" * 64, after="0" * 64),
    "a snapshot left out": lambda one: one["audit"].pop(),
    "a change left out": lambda one: one["changes"].pop(),
    "a change made up": lambda one: one["changes"].append(one["changes"][0]),
    "the digest after": lambda one: one["after"].update(
        sha256=None, digest={**one["after"]["digest"], "sha256": "0" * 64}
    ),
    "the digest before": lambda one: one["before"].update(
        sha256=None, digest={**one["before"]["digest"], "sha256": "0" * 64}
    ),
    "the time": lambda one: one.update(now="2001-01-01T00:00:00.000Z"),
    "a rule": lambda one: one["changes"][0].update(rule=""),
}


class TestReceipt:
    @pytest.mark.parametrize("version", [21, 24, 27, 28, 31])
    def test_it_holds(self, version: int, folder: Path) -> None:
        document = migrated(folder, version=version)
        assert checking.is_sealed(document).holds
        assert set(answers(document).values()) == {True}
        assert told("--check-receipt", "r.json")[0] == 0
        assert told("--check-receipt", "r.json", "agent.adf")[0] == 0

    def test_of_a_copy_it_holds_against_the_untouched_original(self, folder: Path) -> None:
        before = sample(folder, 24).read_bytes()
        assert told("agent.adf", "--output", "new.adf", "--report", "r.json")[0] == 0
        assert (folder / "agent.adf").read_bytes() == before
        assert names_in(folder) == ["agent.adf", "new.adf", "r.json"]
        assert (version_of(folder / "new.adf"), version_of(folder / "agent.adf")) == (32, 24)
        assert set(answers(checking.load("r.json")).values()) == {True}

    def test_it_names_every_row_of_the_audit_and_the_rule_of_every_change(self, folder: Path) -> None:
        entry = migrated(folder)["files"][0]
        assert [one["id"] for one in entry["audit"]] == [
            row["id"] for row in rows_of(folder / "agent.adf", "adf_audit")
        ]
        assert all(one["rule"].startswith("MIG-") for one in entry["changes"])
        assert entry["undo"]["sha256"] == sha256_of(folder / "agent.adf.bak") == entry["before"]["sha256"]
        without = {one["table"]: one["same_without"] for one in entry["tables"] if "same_without" in one}
        assert without.keys() == {"adf_audit", "adf_loop"}
        assert all(one["before"] == one["after"] for one in without.values())

    def test_work_of_the_agent_since_then_is_told(self, folder: Path) -> None:
        migrated(folder)
        run(folder / "agent.adf", "INSERT INTO adf_logs (message, created_at) VALUES ('later', 1)")
        code, text = told("--check-receipt", "r.json")
        assert code == 1
        assert "it differs in adf_logs, sqlite_sequence" in text

    def test_what_cannot_be_checked_is_said_and_is_no_lie(self, folder: Path) -> None:
        document = migrated(folder)
        (folder / "agent.adf.bak").unlink()
        found = answers(document)
        assert found["migrating the file from before again gives the same"] is None
        assert found["the migrated file is the one that was made"] is True
        assert told("--check-receipt", "r.json")[0] == 0
        (folder / "agent.adf").unlink()
        assert told("--check-receipt", "r.json")[0] == 1

    @pytest.mark.parametrize("lie", LIES)
    def test_a_lie_is_found_even_if_the_seal_is_made_anew(self, lie: str, folder: Path) -> None:
        document = migrated(folder)
        LIES[lie](document["files"][0])
        assert checking.is_sealed(document).holds is False
        document["sha256"] = seal(document["files"])
        assert checking.is_sealed(document).holds is True
        assert False in answers(document).values()
        Path("r.json").write_text(json.dumps(document), "utf-8")
        assert told("--check-receipt", "r.json")[0] == 1

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", '{"$schema":"urn:adf-format:output:migration-receipt:1"}', "\xff"]
    )
    def test_what_is_no_receipt_is_refused(self, text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "r.json").write_text(text, "latin-1")
        assert command(["migrate", "--check-receipt", "r.json"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


class TestUndo:
    def test_the_old_file_is_back_byte_for_byte_and_the_new_one_is_kept(self, folder: Path) -> None:
        before = sample(folder, 21).read_bytes()
        told("agent.adf")
        after = (folder / "agent.adf").read_bytes()
        code, document = told_json("agent.adf", "--undo")
        assert (code, document["files"][0]["status"]) == (0, "undone")
        assert (folder / "agent.adf").read_bytes() == before
        assert (folder / "agent.adf.undone").read_bytes() == after
        assert names_in(folder) == ["agent.adf", "agent.adf.undone"]

    def test_nothing_is_overwritten_the_second_time(self, folder: Path) -> None:
        sample(folder, 21)
        for _ in range(2):
            told("agent.adf")
            told("agent.adf", "--undo")
        assert len(names_in(folder)) == 3
        assert version_of(folder / "agent.adf") == 21

    @pytest.mark.parametrize("trouble", ["none", "damaged", "of another agent", "newer", "no agent"])
    def test_a_backup_that_is_not_the_old_file_is_refused(
        self, trouble: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sample(folder, 21)
        told("agent.adf")
        bak = folder / "agent.adf.bak"
        if trouble == "none":
            bak.unlink()
        elif trouble == "damaged":
            data = bytearray(bak.read_bytes())
            data[2048:8192] = bytes(6144)
            bak.write_bytes(data)
        elif trouble == "of another agent":
            run(bak, """UPDATE adf_config SET config_json = json_set(config_json, '$.id', 'other')""")
        elif trouble == "newer":
            bak.write_bytes((folder / "agent.adf").read_bytes())
        else:
            bak.write_bytes(b"hello")
        after = (folder / "agent.adf").read_bytes()
        assert command(["migrate", "agent.adf", "--undo"]) in (2, 3)
        assert capsys.readouterr().err.count("\n") == 1
        assert (folder / "agent.adf").read_bytes() == after
        assert "agent.adf.undone" not in names_in(folder)

    def test_a_damaged_file_can_be_undone_too(self, folder: Path) -> None:
        before = sample(folder, 21).read_bytes()
        told("agent.adf")
        (folder / "agent.adf").write_bytes(b"SQLite format 3\0" + bytes(5000))
        assert told("agent.adf", "--undo")[0] == 0
        assert (folder / "agent.adf").read_bytes() == before

    def test_another_backup_can_be_named(self, folder: Path) -> None:
        before = sample(folder, 21).read_bytes()
        told("agent.adf", "--to", "24")
        told("agent.adf")
        assert told("agent.adf", "--undo", "--backup", "agent.adf.bak")[0] == 0
        assert (folder / "agent.adf").read_bytes() == before


class TestSplit:
    def test_each_message_of_a_batch_gets_a_row_and_the_originals_are_in_the_receipt(self, folder: Path) -> None:
        document = migrated(folder, "--split-batches")
        entry = document["files"][0]
        old = {row["id"]: row for row in rows_of(folder / "agent.adf.bak", "adf_audit")}
        new = {row["id"]: row for row in rows_of(folder / "agent.adf", "adf_audit")}
        assert {one["id"] for one in entry["replaced"]} == {5, 6}
        for one in entry["replaced"]:
            assert base64.b64decode(one["data"]) == old[one["id"]]["data"]
            messages = json.loads(decompress_all([old[one["id"]]["data"]], limit_bytes=1 << 20))
            for number, message in zip(one["became"], messages, strict=True):
                made = json.loads(decompress_all([new[number]["data"]], limit_bytes=1 << 20))
                assert new[number]["ref"] == made["id"] == (message["message_id"] or message["id"])
                assert new[number]["source"] == f"{one['source']}_message"
                assert made["payload"]["content"] == message["content"]
                kept = made["meta"]["archived_row"] | made | made["payload"]
                for key, value in message.items():
                    assert value is None or key in kept, key
        assert not {"inbox", "outbox"} & {row["source"] for row in new.values()}
        assert set(answers(document).values()) == {True}
        report = validate_file(folder / "agent.adf", Options(depth=Depth.DEEP))
        assert [one.message for one in report.findings if one.severity.name == "ERROR"] == []
        assert "ADF536" not in {one.rule for one in report.findings}

    def test_what_was_split_is_not_taken_for_deleted_and_a_lost_message_is(self, folder: Path) -> None:
        entry = migrated(folder, "--split-batches")["files"][0]
        batches = [one["id"] for one in entry["replaced"]]
        assert batches
        with open_readonly(folder / "agent.adf") as container:
            known = coverage(container)
        assert (list(known.split.numbers()), known.deleted.count(), known.complete) == (batches, 0, True)
        lost = entry["replaced"][0]["became"][0]
        run(folder / "agent.adf", f"DELETE FROM adf_audit WHERE id = {lost}")
        with open_readonly(folder / "agent.adf") as container:
            known = coverage(container)
        assert list(known.deleted.numbers()) == sorted((batches[0], lost))
        assert not known.complete
        report = validate_file(folder / "agent.adf", Options(depth=Depth.DEEP))
        assert next(one.message for one in report.findings if one.rule == "ADF536").startswith("2 of the ids")

    @pytest.mark.parametrize("note", [None, 7, {}, {"id": "5", "index": 0, "of": 1}, {"id": 5, "index": 2, "of": 2}])
    def test_what_is_no_note_of_a_batch_vouches_for_nothing(self, note: Any) -> None:
        assert split_part({"meta": {"archived_batch": note}}) is None
        assert split_part({"meta": "text"}) is None

    def test_it_works_on_a_file_of_the_newest_version_and_not_twice(self, folder: Path) -> None:
        sample(folder, 32)
        assert told("agent.adf", "--split-batches", "--report", "r.json")[0] == 0
        assert told("--check-receipt", "r.json")[0] == 0
        before = (folder / "agent.adf").read_bytes()
        told("agent.adf", "--split-batches", "--report", "r2.json")
        assert ask(folder / "agent.adf", "SELECT count(*) FROM adf_audit WHERE source = 'inbox_message'") == [(3,)]
        assert before

    def test_a_batch_that_cannot_be_read_stays(self, folder: Path) -> None:
        sample(folder, 27)
        run(folder / "agent.adf", "UPDATE adf_audit SET data = x'00' WHERE id = 5")
        code, document = told_json("agent.adf", "--split-batches", "--report", "r.json")
        assert code == 0
        assert any("batch 5" in note for note in document["files"][0]["notes"])
        assert ask(folder / "agent.adf", "SELECT source, data FROM adf_audit WHERE id = 5") == [("inbox", b"\0")]


class TestCommand:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["agent.adf", "--dry-run", "--undo"],
            ["agent.adf", "--in-place", "--output", "x"],
            ["agent.adf", "--dry-run", "--report", "x"],
            ["agent.adf", "--split-batches"],
            ["agent.adf", "--backup", "x"],
            ["agent.adf", "--to", "33"],
            ["agent.adf", "--to", "12"],
            ["agent.adf", "agent.adf", "--output", "x"],
            ["agent.adf", "--output", "agent.adf"],
            ["agent.adf", "--report", "agent.adf"],
            ["agent.adf", "--check-receipt", "missing.json"],
        ],
    )
    def test_what_makes_no_sense_is_refused_before_anything_is_done(
        self, arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = sample(folder, 27).read_bytes()
        assert command(["migrate", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        assert (names_in(folder), (folder / "agent.adf").read_bytes()) == (["agent.adf"], before)

    def test_of_several_files_each_is_done_and_the_worst_code_counts(self, folder: Path) -> None:
        for name, version in (("a.adf", 21), ("b.adf", 32), ("d.adf", 27)):
            sample(folder, version, name)
        (folder / "c.adf").write_bytes(b"hello")
        code, document = told_json(".", "--report", "r.json")
        assert code == 3
        assert [one["status"] for one in document["files"]] == ["migrated", "current", "failed", "migrated"]
        assert len(checking.load("r.json")["files"]) == 2
        assert told("--check-receipt", "r.json")[0] == 0

    def test_several_files_are_copied_into_a_folder(self, folder: Path) -> None:
        (folder / "old").mkdir()
        (folder / "new").mkdir()
        for name in ("a.adf", "b.adf"):
            sample(folder / "old", 27, name)
        assert told("old", "--output", "new")[0] == 0
        assert names_in(folder / "new") == names_in(folder / "old") == ["a.adf", "b.adf"]
        assert version_of(folder / "new" / "b.adf") == 32

    def test_a_plan_counts_rows_and_touches_nothing(self, folder: Path) -> None:
        path = sample(folder, 27)
        path.chmod(0o444)
        before = path.stat()
        code, document = told_json("agent.adf", "--dry-run")
        assert (code, document["files"][0]["status"]) == (0, "planned")
        step = {one["table"]: one["rows"] for one in document["files"][0]["steps"][0]["touched"] if one["rows"]}
        assert (step["adf_audit"], step["adf_loop"]) == (6, len(rows_of(path, "adf_loop")))
        assert (path.stat(), names_in(folder)) == (before, ["agent.adf"])

    def test_text_from_a_file_cannot_reach_the_terminal(self, folder: Path) -> None:
        path = sample(folder, 27)
        run(path, 'CREATE INDEX "\x1b[2J" ON adf_audit(start_at)')
        assert "\x1b" not in told("agent.adf")[1]
