"""`adf-format files`: lists, shows, and brings out the agent's files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.schemas.checker import checker


def test_a_list(adf: Any, agent: Path) -> None:
    result = adf("files", "ls", agent)
    assert result.code == 0
    assert "notes/plan.md" in result.out
    assert "read_only" in result.out


def test_a_list_keeps_its_schema(adf: Any, agent: Path) -> None:
    document = json.loads(adf("files", "ls", agent, "--format", "json").out)
    assert list(checker("urn:adf-format:output:files-ls:1").problems(document)) == []
    assert {row["path"] for row in document["files"]} >= {"mind.md", "soul.md"}


def test_names_cannot_reach_the_terminal_raw(adf: Any, agent: Path) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute("UPDATE adf_files SET path = 'x' || char(27) || '[31m' WHERE path = 'notes/plan.md'")
    connection.execute("UPDATE adf_files SET path = x'ff' WHERE path = 'lib/api.ts'")
    connection.close()
    result = adf("files", "ls", agent)
    assert "\x1b" not in result.out
    assert "no text" in result.out
    assert adf("files", "extract", agent, "out").code == 1


def test_one_file_byte_for_byte(adf: Any, agent: Path, tmp_path: Path) -> None:
    assert adf("files", "cat", agent, "assets/pixel.png", "-o", tmp_path / "p.png").code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_a_file_on_a_terminal_is_harmless(adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", terminal)
    assert adf("files", "cat", agent, "assets/pixel.png").code == 0
    assert "\x1a" not in terminal.getvalue()
    assert "PNG" in terminal.getvalue()


def test_a_file_that_is_not_there(adf: Any, agent: Path) -> None:
    result = adf("files", "cat", agent, "nothing.md")
    assert (result.code, result.out) == (1, "")
    assert "files ls" in result.err


def test_bringing_out_all_or_some(adf: Any, agent: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert adf("files", "extract", agent, out, "notes/", "mind.md").code == 0
    assert sorted(str(one.relative_to(out)) for one in out.rglob("*.*")) == ["mind.md", "notes/plan.md"]
    result = adf("files", "extract", agent, out, "--format", "json")
    document = json.loads(result.out)
    assert list(checker("urn:adf-format:output:files-extract:1").problems(document)) == []
    assert {one["path"] for one in document["files"] if one["outcome"] == "same"} == {"notes/plan.md", "mind.md"}


def test_what_is_not_there_is_named(adf: Any, agent: Path, tmp_path: Path) -> None:
    result = adf("files", "extract", agent, tmp_path / "out", "mind.md", "nothing/")
    assert result.code == 1
    assert "absent   nothing/" in result.out


def test_an_agent_without_files(adf: Any, agent: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute("DELETE FROM adf_files")
    connection.close()
    assert adf("files", "ls", agent).out == "no files\n"
    assert adf("files", "extract", agent, tmp_path / "out").out == "no files\n"
