"""`adf-format memory`: each command keeps its exit codes, its schema, and its promises."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.schemas.checker import checker

NOW = ("--now", "2026-04-01T10:00", "--tz", "Europe/Berlin")
SECRET = "gh" + "p_" + "A1b2" * 9


@pytest.fixture
def work(adf: Any, tmp_path: Path) -> Path:
    assert adf("memory", "init", tmp_path / "work", *NOW).code == 0
    return tmp_path / "work"


def document(result: Any, name: str) -> Any:
    value = json.loads(result.out)
    assert value["$schema"] == f"urn:adf-format:output:memory-{name}:1"
    assert list(checker(value["$schema"]).problems(value)) == []
    return value


def test_init_twice(adf: Any, work: Path) -> None:
    again = adf("memory", "init", work, *NOW, "--format", "json")
    assert again.code == 0
    assert document(again, "init")["created"] == []
    assert "there already" in adf("memory", "init", work, *NOW).out


def test_init_where_something_is_in_the_way(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("")
    result = adf("memory", "init", tmp_path)
    assert result.code == 1
    assert "in the way" in result.out


def test_init_of_an_agent(adf: Any, agent: Path) -> None:
    assert "there already  mind.md" in adf("memory", "init", agent).out


def test_a_day(adf: Any, work: Path) -> None:
    """Note, channel, task, context, status: one after the other."""
    added = document(
        adf("memory", "note", work, "Chose SQLite", "--section", "Decisions", *NOW, "--format", "json"), "note"
    )
    assert (added["path"], added["line"]) == ("memory/2026-04-01.md", 7)
    assert adf("memory", "note", work, "late", "--date", "2026-03-31", *NOW).out.startswith("memory/2026-03-31.md:5")
    assert (
        "ops.md:5 (Recent Decisions), a new file" in adf("memory", "channel", work, "#ops", "x", "--decision", *NOW).out
    )
    made = document(adf("memory", "task", "add", work, "Ship", *NOW, "--format", "json"), "tasks")["tasks"][0]
    assert adf("memory", "task", "set", work, made["id"], "blocked", *NOW).code == 0
    assert "blocked" in adf("memory", "task", "list", work).out
    assert adf("memory", "task", "done", work, made["id"][:5], *NOW).code == 0
    assert adf("memory", "task", "list", work).out == "no tasks\n"
    assert "Ship" in adf("memory", "task", "list", work, "--all").out
    assert adf("memory", "task", "prune", work).code == 0
    shown = document(adf("memory", "status", work, *NOW, "--format", "json"), "status")
    assert shown["kind"] == "adaptive"
    assert shown["notes"]["unprocessed"] == ["memory/2026-03-31.md", "memory/2026-04-01.md"]
    assert shown["distillation"]["due"]
    assert "DUE: 2 unprocessed notes, never distilled" in adf("memory", "status", work, *NOW).out


def test_what_a_session_loads(adf: Any, work: Path) -> None:
    """MEM-072: unknown counts as shared, and is the default."""
    shared = document(adf("memory", "context", work, *NOW, "--format", "json"), "context")
    assert shared["excluded"] == ["MEMORY.md"]
    main = adf("memory", "context", work, "--kind", "main", "--channel", "ops", *NOW)
    assert '<injected_file path="MEMORY.md" role="long_term">' in main.out
    assert 'path="memory/channel_context/ops.md" missing="true"' in main.out
    (work / "memory/active_context.md").write_text("line\n" * 5000)
    cut = adf("memory", "context", work, *NOW)
    assert "of 5,000 lines are loaded" in cut.err
    (work / "memory/active_context.md").write_text(f"{SECRET}\n")
    assert SECRET not in adf("memory", "context", work, *NOW).out


def test_a_distillation_by_hand(adf: Any, work: Path) -> None:
    """MEM-093: exit codes 0 due, 1 not due; plan, edit, commit."""
    assert adf("memory", "distill", "due", work, *NOW).code == 1
    assert adf("memory", "distill", "plan", work, *NOW).code == 1
    adf("memory", "note", work, "Chose SQLite", *NOW)
    due = adf("memory", "distill", "due", work, *NOW, "--format", "json")
    assert due.code == 0
    assert document(due, "distill-due")["triggers"] == {"heartbeat": False, "weekly": True}
    assert adf("memory", "distill", "due", work, *NOW).out.startswith("due: 1 unprocessed note")
    plan = document(adf("memory", "distill", "plan", work, *NOW), "distill-plan")
    commit = ("memory", "distill", "commit", work, "--plan", plan["id"], *NOW)
    refused = adf(*commit)
    assert refused.code == 1
    assert "nothing was consolidated" in refused.err
    new = work.parent / "new.md"
    assert adf(*commit, "--memory", new).code == 2
    new.write_text((work / "MEMORY.md").read_text() + "- SQLite\n")
    done = document(adf(*commit, "--memory", new, "--format", "json"), "distill-commit")
    assert done["added"] == ["- SQLite"]
    assert adf("memory", "distill", "due", work, *NOW).code == 1


def test_a_commit_tells_what_changed(adf: Any, work: Path) -> None:
    adf("memory", "note", work, "x", *NOW)
    plan = json.loads(adf("memory", "distill", "plan", work, *NOW).out)
    (work / "MEMORY.md").write_text("# Long-Term Memory\n\n- x\n")
    result = adf("memory", "distill", "commit", work, "--plan", plan["id"], *NOW)
    assert "1 notes consolidated" in result.out
    assert "- ## Key Decisions" in result.out
    assert "+ - x" in result.out
    assert "the old text: memory/.history/MEMORY-" in result.out


def test_a_wrong_state_is_an_error(adf: Any, work: Path) -> None:
    """MEM-094: a last time in the future; exit code 3 tells it apart from `not due`."""
    (work / "memory/distillation-state.json").write_text('{"lastConsolidatedAt": "2030-01-01T00:00:00Z"}')
    assert adf("memory", "distill", "due", work, *NOW).code == 3
    (work / "memory/distillation-state.json").write_text("no")
    result = adf("memory", "distill", "due", work, *NOW)
    assert result.code == 3
    assert "not readable" in result.err


class Model:
    """A model that adds one line."""

    async def complete(self, **asked: Any) -> Any:
        from adf_format.models import Completion

        memory = json.loads(asked["messages"][0]["content"][0]["text"])["files"][0]["text"]
        return Completion([{"type": "text", "text": f"<memory>{memory}- from a model\n</memory>"}], "end_turn")


def test_a_distillation_by_a_model(adf: Any, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adf_format.cli.memory_distill._model", lambda *_: Model())
    auto = ("memory", "distill", "--auto", work, "--model", "scripted:x", *NOW)
    assert "nothing to distil" in adf(*auto).err
    adf("memory", "note", work, "x", *NOW)
    assert adf(*auto, "--dry-run").out.endswith("- from a model\n")
    assert "+ - from a model" in adf(*auto, "--if-due").out
    assert (work / "MEMORY.md").read_text().endswith("- from a model\n")


def test_there_and_back(adf: Any, work: Path, tmp_path: Path) -> None:
    """Import, export: counts, exit codes, the same tree."""
    adf("new", tmp_path / "ada.adf", "--name", "Ada")
    assert "would be done" in adf("memory", "import", work, tmp_path / "ada.adf", "--dry-run").out
    result = adf("memory", "import", work, tmp_path / "ada.adf", *NOW)
    assert result.code == 0
    assert "as it was before" in result.out
    shown = document(adf("memory", "status", tmp_path / "ada.adf", *NOW, "--format", "json"), "status")
    assert (shown["kind"], shown["workspace"]["kind"]) == ("mind", "adaptive")
    human = adf("memory", "status", tmp_path / "ada.adf", *NOW)
    assert "loaded on every turn" in human.out
    back = adf("memory", "export", tmp_path / "ada.adf", tmp_path / "back", "--format", "json")
    assert back.code == 0
    assert not document(back, "transfer")["blocked"]
    assert (tmp_path / "back/MEMORY.md").read_bytes() == (work / "MEMORY.md").read_bytes()
    context = adf("memory", "context", tmp_path / "ada.adf", "--kind", "main", *NOW)
    assert '<injected_file path="memory/active_context.md"' in context.out


def test_conflicts_and_secrets_are_exit_code_1(adf: Any, work: Path, tmp_path: Path) -> None:
    adf("new", tmp_path / "ada.adf", "--name", "Ada")
    (work / "memory/x.md").write_text(SECRET)
    result = adf("memory", "import", work, tmp_path / "ada.adf")
    assert result.code == 1
    assert "secret   memory/x.md:1:1 (github-token)" in result.out
    assert "NOTHING WAS WRITTEN" in result.out
    assert SECRET not in result.out
    assert adf("memory", "import", work, tmp_path / "ada.adf", "--allow-secrets", "--no-backup").code == 0
    (work / "memory/x.md").write_text("other")
    assert "conflict" in adf("memory", "import", work, tmp_path / "ada.adf").out
    assert not (tmp_path / "ada.adf.bak").exists()


def test_a_mind_is_exported_and_loaded(adf: Any, agent: Path, tmp_path: Path) -> None:
    result = adf("memory", "export", agent, tmp_path / "out", "--with-citations", "--soul", *NOW)
    assert result.code == 0
    copies = tmp_path / "out/memory/adf_mind"
    assert {"mind.md", "soul.md", "manifest.json", "citations.jsonl"} <= {one.name for one in copies.iterdir()}
    assert '<injected_file path="mind.md" role="index">' in adf("memory", "context", agent).out
    connection = apsw.Connection(str(agent))
    connection.execute("DELETE FROM adf_files WHERE path = 'mind.md'")
    connection.close()
    assert 'path="mind.md" missing="true"' in adf("memory", "context", agent).out
    assert "not there" in adf("memory", "status", agent).out


def test_a_place_without_memory(adf: Any, agent: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert adf("memory", "status", tmp_path / "empty").code == 3
    assert adf("memory", "status", tmp_path / "none").code == 3
    assert adf("memory", "distill", "due", tmp_path / "empty").code == 3
    assert adf("memory", "note", agent, "x").code == 2
    assert adf("memory", "export", agent, agent).code == 2
    assert adf("memory", "context", tmp_path / "empty").out.count('missing="true"') == 4


def test_wrong_usage(adf: Any, work: Path) -> None:
    assert adf("memory", "nothing").code == 2
    assert "did you mean 'status'" in adf("memory", "statu", work).err
    assert adf("memory", "note", work, "x", "--date", "soon").code == 2
    assert adf("memory", "note", work, "x", "--tz", "Mars").code == 2
    assert adf("memory", "note", work, "x", "--now", "soon").code == 2
    secret = adf("memory", "note", work, f"the token is {SECRET}")
    assert secret.code == 2
    assert SECRET not in secret.err


@pytest.mark.parametrize("command", [(), ("task",), ("distill",), ("note",), ("import",), ("context",)])
def test_help_teaches(adf: Any, command: tuple[str, ...]) -> None:
    assert "adf-format" in adf("memory", *command, "--help").out


def test_the_zone_of_the_settings(adf: Any, work: Path) -> None:
    """MEM-014: the key `timezone`."""
    Path("adf-format.toml").write_text('timezone = "Asia/Tokyo"\n')
    assert "(Asia/Tokyo)" in adf("memory", "status", work).out


def test_status_on_a_disk_that_is_only_read(adf: Any, work: Path) -> None:
    """MEM-103: nothing is written, not even a time of access of ours."""
    before = {path: path.lstat().st_mtime_ns for path in work.rglob("*")}
    for path in [work, *work.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    assert adf("memory", "status", work, *NOW).code == 0
    assert {path: path.lstat().st_mtime_ns for path in work.rglob("*")} == before
    for path in [work, *work.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
