"""Commands on the past: audit, loop, trace. Outputs keep their schemas, exit codes their meaning."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from jsonschema import Draft202012Validator

from adf_format import sample
from adf_format.audit import compress, encode_loop
from adf_format.schemas.store import document, registry

REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"  # read only, absent elsewhere
DAMAGED = REAL / "v0.3.2_audited_corrupt.adf"
LINE = "urn:adf-format:output:audit-export-line:1"


def checked(text: str, urn: str | None = None) -> dict[str, Any]:
    """Return a JSON document that keeps the schema it names, or another one."""
    value: dict[str, Any] = json.loads(text)
    Draft202012Validator(document(urn or value["$schema"]), registry=registry()).validate(value)
    return value


def change(path: Path, sql: str, *bindings: Any) -> Path:
    connection = apsw.Connection(str(path))
    connection.execute(sql, bindings)
    connection.close()
    return path


@pytest.fixture(params=range(21, 33))
def every(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The sample of every version."""
    path = tmp_path / "every.adf"
    sample.build(path, request.param)
    return path


class TestEveryVersion:
    def test_audit_lists_shows_and_verifies(self, adf: Any, every: Path) -> None:
        before = every.read_bytes()
        rows = checked(adf("audit", "ls", every, "--format", "json").out)["snapshots"]
        assert [row["kind"] for row in rows][:6] == [
            "loop",
            "inbox_message",
            "outbox_message",
            "file",
            "inbox",
            "outbox",
        ]
        for row in rows:
            shown = adf("audit", "show", every, row["id"], "--format", "json")
            assert shown.code == 0
            entries = checked(shown.out)["entries"]
            assert len(entries) == row["entry_count"]
            assert adf("audit", "show", every, row["id"]).code == 0
        result = adf("audit", "verify", every, "--format", "json")
        assert result.code == 0
        found = checked(result.out)
        assert found["complete"]
        assert (found["gone"], found["contested"]["count"], found["deleted_snapshots"]["count"]) == ([], 0, 0)
        assert "complete; " in adf("audit", "verify", every).out
        assert len(adf("audit", "ls", every).out.splitlines()) == len(rows) + 1
        assert every.read_bytes() == before
        assert [one.name for one in every.parent.iterdir()] == [every.name]

    def test_every_row_is_resolved_and_traced(self, adf: Any, every: Path) -> None:
        highest = checked(adf("audit", "verify", every, "--format", "json").out)["highest"]
        for seq in range(1, highest + 1):
            result = adf("audit", "resolve", every, f"S{seq}", "--format", "json")
            assert result.code == 0
            assert checked(result.out)["places"][0]["seq"] == seq
        assert adf("audit", "resolve", every, highest + 1).code == 1
        found = checked(adf("trace", every, "[S2]", "--format", "json").out)
        assert [(step["seq"], step["state"]) for step in found["steps"]] == [(2, "archived"), (9, "live")]
        assert found["cited_by_summaries"][0]["seq"] == 9
        text = adf("trace", every, "S2").out
        assert "S2 is archived in snapshot 1; summary S9 likely stands for it" in text
        assert "cited by summary S9" in text

    def test_transcripts_come_live_and_whole(self, adf: Any, every: Path) -> None:
        loops = checked(adf("loop", "ls", every, "--format", "json").out)["loops"]
        assert loops[0]["name"] == "main"
        for loop in loops:
            live = checked(adf("loop", "show", every, "--loop", loop["name"], "--format", "json").out)["items"]
            assert len(live) == loop["rows"]
            whole = adf("loop", "show", every, "--loop", loop["name"], "--history", "--format", "json")
            items = checked(whole.out)["items"]
            assert len(items) == loop["rows"] + loop["archived"]
            assert [one["seq"] for one in items] == sorted(one["seq"] for one in items)
        lines = adf("loop", "show", every, "--history", "--format", "jsonl").out.splitlines()
        kinds = {json.loads(line)["seq"]: json.loads(line)["kind"] for line in lines}
        assert kinds[9] == "summary"
        text = adf("loop", "show", every, "--history").out
        assert "-- compaction: this summary likely stands for snapshot 1, made 0 s before --" in text

    def test_every_entry_is_exported_as_it_was_archived(self, adf: Any, every: Path) -> None:
        rows = checked(adf("audit", "ls", every, "--format", "json").out)["snapshots"]
        result = adf("audit", "export", every)
        assert result.code == 0
        lines = [checked(line, LINE) for line in result.out.splitlines()]
        assert len(lines) == sum(row["entry_count"] for row in rows)
        for row in rows:
            entries = checked(adf("audit", "show", every, row["id"], "--format", "json").out)["entries"]
            assert [line["content"] for line in lines if line["audit_id"] == row["id"]] == entries
        some = adf("audit", "export", every, "--source", "file").out.splitlines()
        assert [json.loads(line)["content"]["path"] for line in some] == ["notes/old.md"]


class TestLoop:
    def test_a_deleted_loop_is_remembered(self, adf: Any, agent: Path) -> None:
        loops = {one["name"]: one for one in checked(adf("loop", "ls", agent, "--format", "json").out)["loops"]}
        assert {name: one["state"] for name, one in loops.items()} == {
            "main": "enabled",
            "drafter": "deleted",
            "gardener": "enabled",
            "reviewer": "disabled",
        }
        assert loops["main"]["tokens"] == {"input": 3000, "output": 195}
        assert "S20 to S21" in adf("loop", "ls", agent).out
        assert "Draft the spring letter" in adf("loop", "show", agent, "--loop", "drafter", "--history").out
        nothing = adf("loop", "show", agent, "--loop", "drafter")
        assert (nothing.code, nothing.out, nothing.err) == (0, "", "no rows\n")

    @pytest.mark.parametrize("history", [[], ["--history"]])
    def test_an_unknown_loop_is_wrong_usage_and_the_nearest_is_named(
        self, adf: Any, agent: Path, history: list[str]
    ) -> None:
        result = adf("loop", "show", agent, "--loop", "gardner", *history)
        assert result.code == 2
        assert "did you mean 'gardener'?" in result.err

    @pytest.mark.parametrize("history", [[], ["--history"]])
    @pytest.mark.parametrize("last", [0, 1, 3, 100])
    def test_the_end_of_a_transcript(self, adf: Any, agent: Path, last: int, history: list[str]) -> None:
        whole = adf("loop", "show", agent, *history, "--format", "jsonl").out.splitlines()
        end = adf("loop", "show", agent, *history, "--format", "jsonl", "--last", last).out.splitlines()
        assert end == whole[max(0, len(whole) - last) :]

    @pytest.mark.parametrize("last", [0, 1, 5, 9, 100])
    def test_the_end_of_a_life_with_gaps_is_how_the_whole_ends(self, adf: Any, agent: Path, last: int) -> None:
        change(agent, "DELETE FROM adf_loop WHERE seq IN (7, 11, 18)")
        change(agent, "DELETE FROM adf_loop WHERE loop = 'main' AND seq = 19")
        whole = adf("loop", "show", agent, "--history", "--format", "jsonl").out.splitlines()
        end = adf("loop", "show", agent, "--history", "--format", "jsonl", "--last", last).out.splitlines()
        rows = [at for at, one in enumerate(whole) if "seq" in json.loads(one)]
        assert len(rows) < len(whole)
        assert end == ([] if last == 0 else whole if last >= len(rows) else whole[rows[-last] :])

    def test_display_order_is_that_of_ord(self, adf: Any, agent: Path) -> None:
        """STO-032."""
        change(agent, "UPDATE adf_loop SET ord = 100 WHERE seq = 10")
        lines = adf("loop", "show", agent, "--format", "jsonl").out.splitlines()
        assert [json.loads(line)["seq"] for line in lines][-1] == 10
        assert json.loads(lines[0])["seq"] == 9

    def test_long_texts_are_shortened_unless_asked_for(self, adf: Any, agent: Path) -> None:
        text = json.dumps([{"type": "text", "text": "beans " * 2000}])
        change(agent, "UPDATE adf_loop SET content_json = ? WHERE seq = 10", text)
        assert "more characters (--full shows them)" in adf("loop", "show", agent).out
        assert adf("loop", "show", agent, "--full").out.count("beans ") >= 1999

    def test_gaps_are_shown_where_they_are(self, adf: Any, agent: Path) -> None:
        change(agent, "DELETE FROM adf_loop WHERE seq IN (11, 12)")
        result = adf("loop", "show", agent, "--history")
        assert "-- S11 to S12 gone (2 rows): deleted without being archived" in result.out
        items = checked(adf("loop", "show", agent, "--history", "--format", "json").out)["items"]
        assert [one["start"] for one in items if one["kind"] == "gap"] == [11]

    def test_versions_of_a_row_that_differ_are_all_shown(self, adf: Any, agent: Path) -> None:
        text = json.dumps([{"type": "text", "text": "rewritten"}])
        change(agent, "INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES (6, 'user', ?, 1)", text)
        shown = adf("loop", "show", agent, "--history").out
        assert "another version, in snapshot 1:\n  Thank you. How are the peas?" in shown
        result = adf("audit", "resolve", agent, "S6")
        assert "THE COPIES DIFFER" in result.out
        assert "the copies of S6 differ" in adf("audit", "verify", agent).out
        assert "THE COPIES DIFFER" in adf("trace", agent, "S6").out


class TestDamage:
    @pytest.mark.parametrize("data", ["x'ffff'", "substr(data, 1, 20)", "data || x'00'", "x''"])
    def test_a_damaged_snapshot_is_named_everywhere(self, adf: Any, agent: Path, data: str) -> None:
        change(agent, f"UPDATE adf_audit SET data = CAST({data} AS BLOB) WHERE id = 1")
        result = adf("audit", "verify", agent)
        assert result.code == 1
        assert "NOT COMPLETE; 7 snapshots, 1 damaged" in result.out
        assert "DAMAGED   snapshot 1 (loop:main)" in result.out
        assert "snapshot 1 is damaged" in adf("audit", "show", agent, 1).err
        assert adf("audit", "show", agent, 1).code == 1
        found = checked(adf("audit", "resolve", agent, 3, "--format", "json").out)
        assert [one["audit_id"] for one in found["damaged"]] == [1]
        assert "not searched to the end: snapshot 1 (loop:main)" in adf("trace", agent, 3).out
        export = adf("audit", "export", agent)
        assert export.code == 1
        lines = [checked(line, LINE) for line in export.out.splitlines()]
        assert [line["audit_id"] for line in lines if line.get("error")] == [1]
        assert "snapshot 1 is damaged" in export.err
        assert len(lines) >= 9

    def test_what_stands_before_trailing_bytes_is_not_lost(self, adf: Any, agent: Path) -> None:
        change(agent, "UPDATE adf_audit SET data = CAST(data || x'00' AS BLOB) WHERE id = 1")
        result = adf("audit", "resolve", agent, 3)
        assert result.code == 0
        assert "from a damaged snapshot" in result.out

    def test_entries_that_are_no_json_are_told_one_by_one(self, adf: Any, agent: Path) -> None:
        data = compress('[{"seq":1},{"seq":2,"a":"\\ud800\\q"},{"seq":3}]')
        change(agent, "UPDATE adf_audit SET data = ? WHERE id = 1", data)
        assert adf("audit", "verify", agent).code == 1
        assert adf("audit", "export", agent).code == 1

    @pytest.mark.skipif(not DAMAGED.is_file(), reason="the real files are not here")
    def test_the_real_damaged_file_names_its_four_rows(self, adf: Any, tmp_path: Path) -> None:
        path = tmp_path / "d.adf"
        shutil.copyfile(DAMAGED, path)
        result = adf("audit", "verify", path)
        assert result.code == 1
        for number in (1, 2, 3, 23):
            assert f"DAMAGED   snapshot {number} (" in result.out
        found = checked(adf("audit", "verify", path, "--format", "json").out)
        assert [one["id"] for one in found["snapshots"] if not one["sound"]] == [1, 2, 3, 23]
        assert {gap["reason"] for gap in found["gone"]} == {"damaged-snapshot"}
        assert adf("audit", "resolve", path, "S5").code == 1
        assert "not searched to the end: snapshot 1 (loop)" in adf("audit", "resolve", path, "S5").out
        assert "S5 is gone (S1 to S10: may be in snapshots 1 to 3" in adf("trace", path, "S5").out

    def test_a_missing_file_gives_3(self, adf: Any, tmp_path: Path) -> None:
        for command in (["audit", "ls"], ["audit", "verify"], ["loop", "show"], ["loop", "ls"], ["audit", "export"]):
            result = adf(*command, tmp_path / "none.adf")
            assert (result.code, result.out) == (3, "")
            assert len(result.err.splitlines()) == 1

    def test_damaged_pages_give_3_and_one_line(self, adf: Any, agent: Path) -> None:
        data = bytearray(agent.read_bytes())
        for at in range(1024, len(data), 512):
            data[at : at + 400] = b"\xa5" * 400
        agent.write_bytes(data)
        for command in (["audit", "verify"], ["loop", "ls"], ["loop", "show", "--history"], ["audit", "ls"]):
            result = adf(*command[:2], agent, *command[2:])
            assert result.code == 3
            assert len(result.err.splitlines()) == 1
            assert "internal error" not in result.err


class TestArguments:
    @pytest.mark.parametrize("text", ["3", "S3", "[S3]", "adf-audit://seq/3"])
    def test_a_row_can_be_named_as_it_is_cited(self, adf: Any, agent: Path, text: str) -> None:
        assert "S3 of loop main is archived in snapshot 1" in adf("audit", "resolve", agent, text).out

    @pytest.mark.parametrize("text", ["x", "S", "3.5", "S3 ", "", "9" * 30, "٣"])
    def test_what_names_no_row_is_wrong_usage(self, adf: Any, agent: Path, text: str) -> None:
        for command in (["audit", "resolve"], ["trace"]):
            assert adf(*command, agent, "--", text).code == 2

    def test_a_row_of_another_loop_is_not_found(self, adf: Any, agent: Path) -> None:
        assert adf("audit", "resolve", agent, 3, "--loop", "gardener").code == 1
        assert adf("trace", agent, 3, "--loop", "gardener").code == 1
        assert adf("trace", agent, 3, "--loop", "main").code == 0

    def test_an_unknown_snapshot_gives_1(self, adf: Any, agent: Path) -> None:
        result = adf("audit", "show", agent, 99)
        assert (result.code, result.out) == (1, "")
        assert "there is no snapshot 99" in result.err

    def test_a_newer_version_is_read_and_said(self, adf: Any, agent: Path) -> None:
        change(agent, "UPDATE adf_meta SET value = '40' WHERE key = 'adf_schema_version'")
        result = adf("audit", "verify", agent)
        assert result.code == 0
        assert "WARNING: storage version 40 is newer than 32" in result.err

    def test_a_writer_that_interfered_is_told(self, adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from adf_format.container import Container

        monkeypatch.setattr(Container, "changed", lambda _: True)
        result = adf("audit", "ls", agent)
        assert result.code == 0
        assert "the file was changed while it was read" in result.err

    def test_everything_that_is_wrong_is_on_the_screen(self, adf: Any, agent: Path) -> None:
        change(agent, "DELETE FROM adf_audit WHERE id = 5")
        change(agent, "UPDATE adf_loop SET seq = 20 WHERE seq = 19")
        change(agent, "UPDATE adf_audit SET start_seq = 3 WHERE id = 1")
        change(
            agent,
            "UPDATE adf_audit SET data = ? WHERE id = 4",
            compress('{"path":"a","content_base64":"/w==","size":1}'),
        )
        text = adf("audit", "verify", agent).out
        for words in (
            "NOT COMPLETE",
            "DELETED   1 snapshot: 5",
            "CONTESTED S20: more than one loop",
            "note: snapshot 1: the range 3 to 6 leaves out entries",
            "DAMAGED   snapshot 4 (file): size_bytes says 129",
            "gone      S19 (1 row): may have been in snapshot 5, deleted since",
        ):
            assert words in text
        assert "(not text)" in adf("audit", "show", agent, 4).out
        assert "is archived in snapshot 1, made" in adf("audit", "resolve", agent, 2).out
        assert "though its range says otherwise" in adf("audit", "resolve", agent, 2).out

    def test_an_agent_without_a_past(self, adf: Any, tmp_path: Path) -> None:
        assert adf("new", tmp_path / "n.adf", "--name", "Ada").code == 0
        assert adf("audit", "ls", tmp_path / "n.adf").out == "no snapshots\n"
        assert "no row was ever written" in adf("audit", "verify", tmp_path / "n.adf").out
        assert checked(adf("audit", "ls", tmp_path / "n.adf", "--format", "json").out)["snapshots"] == []
        assert checked(adf("loop", "show", tmp_path / "n.adf", "--format", "json").out)["items"] == []


HOSTILE = "\x1b[2J\u202eevil\x07\x9b31m\r\n\u2066x\0"


class TestHostile:
    @pytest.fixture
    def hostile(self, agent: Path) -> Path:
        """Escape sequences wherever a text can stand."""
        block = [
            {"type": "text", "text": HOSTILE},
            {"type": "thinking", "thinking": HOSTILE},
            {"type": "tool_use", "id": HOSTILE, "name": HOSTILE, "input": {HOSTILE: HOSTILE}},
            {"type": "tool_result", "tool_use_id": HOSTILE, "content": HOSTILE, "is_error": True},
            {"type": HOSTILE, "x": HOSTILE},
            HOSTILE,
        ]
        text = json.dumps(block)
        change(
            agent, "UPDATE adf_loop SET content_json = ?, role = ?, model = ? WHERE seq = 10", text, HOSTILE, HOSTILE
        )
        change(agent, "UPDATE adf_loop SET loop = ? WHERE seq = 11", HOSTILE)
        row = {"seq": 3, "role": HOSTILE, "content_json": text, "created_at": 5, "model": HOSTILE}
        made = encode_loop([row]).data
        change(agent, "UPDATE adf_audit SET data = ?, source = ? WHERE id = 1", made, f"loop:{HOSTILE}")
        change(agent, "UPDATE adf_audit SET ref = ? WHERE id > 1", HOSTILE)
        page = f"{HOSTILE} [S3]".encode()
        change(agent, "UPDATE adf_files SET content = ? WHERE path = 'mind.md'", page)
        return agent

    @pytest.mark.parametrize(
        "command",
        [
            "audit ls",
            "audit ls --format json",
            "audit show 1",
            "audit show 1 --format json",
            "audit show 4",
            "audit verify",
            "audit verify --format json",
            "audit resolve S3",
            "audit resolve S3 --format json",
            "audit resolve S10",
            "audit export",
            "loop ls",
            "loop ls --format json",
            "loop show",
            "loop show --history",
            "loop show --format json",
            "loop show --format jsonl",
            "trace S3",
            "trace S3 --format json",
        ],
    )
    def test_nothing_that_a_terminal_acts_on_is_printed(self, adf: Any, hostile: Path, command: str) -> None:
        words = command.split()
        group = 1 if words[0] == "trace" else 2
        result = adf(*words[:group], hostile, *words[group:])
        assert result.code in (0, 1)
        printed = result.out + result.err
        assert all(char == "\n" or (char.isprintable() and char not in "\u202e\u2066") for char in printed)

    def test_a_value_of_any_depth_and_size_is_told_or_refused_in_one_line(self, adf: Any, agent: Path) -> None:
        for depth in (50, 300, 900, 5000):
            deep = "[" * depth + "]" * depth
            entry = f'[{{"seq":3,"role":"user","content_json":[{deep},{"9" * 500},1e999],"created_at":5}}]'
            change(agent, "UPDATE adf_audit SET data = ? WHERE id = 1", compress(entry))
            for command in (["audit", "resolve", "S3"], ["audit", "show", "1"], ["audit", "export"], ["trace", "S3"]):
                for format_name in ([], ["--format", "json"]) if command[1] != "export" else ([],):
                    words = command[:1] if command[0] == "trace" else command[:2]
                    rest = command[len(words) :]
                    result = adf(*words, agent, *rest, *format_name)
                    assert result.code in (0, 1, 3)
                    assert "internal error" not in result.err


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_lines_on_a_terminal_are_bounded(adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps([{"type": "text", "text": "x" * 500 + " 豆" * 300 + "\n    indented " + "word " * 100}])
    change(agent, "UPDATE adf_loop SET content_json = ? WHERE seq = 10", text)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stdout", stream := Terminal())
    assert adf("loop", "show", agent, "--color", "never").code == 0
    from adf_format.terminal import width_of

    body = [line for line in stream.getvalue().splitlines() if line.startswith("  ")]
    assert max(map(width_of, body)) <= 60
    assert any(line.startswith("      indented") for line in body)


class TestParquet:
    def test_without_pyarrow_the_way_out_is_named(self, adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        result = adf("audit", "export", agent, "--format", "parquet", "--output", agent.with_name("p"))
        assert result.code == 2
        assert "adf-format[export]" in result.err
        assert not agent.with_name("p").exists()

    def test_parquet_has_the_same_entries(self, adf: Any, agent: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        target = agent.with_name("past.parquet")
        assert adf("audit", "export", agent, "--format", "parquet", "--output", target).code == 0
        rows = parquet.read_table(target).to_pylist()
        lines = [json.loads(line) for line in adf("audit", "export", agent).out.splitlines()]
        assert [json.loads(row["content"]) for row in rows] == [line["content"] for line in lines]
        assert [(row["audit_id"], row["seq"]) for row in rows] == [(line["audit_id"], line["seq"]) for line in lines]
