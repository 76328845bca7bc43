"""`adf-format repair`: shows every change, writes only what was asked for, takes it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.schemas.checker import checker

SCHEMA = "urn:adf-format:output:repair:1"


@pytest.fixture
def worn(agent: Path) -> Path:
    """A file with one finding per class of fixes, and text that a terminal would act on."""
    connection = apsw.Connection(str(agent))
    connection.execute("UPDATE adf_files SET size = 1 WHERE path = 'mind.md'")
    text = '[{"type":"text","text":"a\\ud83d\\u001b[31m"}]'
    connection.execute("UPDATE adf_loop SET content_json = ? WHERE seq = 13", (text,))
    connection.execute("UPDATE adf_files SET protection = 'none' WHERE path = 'soul.md'")
    connection.close()
    return agent


def test_a_diff_shows_before_and_after_and_writes_nothing(adf: Any, worn: Path) -> None:
    before = worn.read_bytes()
    result = adf("repair", worn, "--diff")
    assert result.code == 1
    assert "\n-1\n+" in result.out
    assert "ADF331 safe" in result.out
    assert "with --lossy: ADF808" in result.out
    assert "with --guess: ADF711" in result.out
    assert worn.read_bytes() == before
    assert [path.name for path in worn.parent.iterdir()] == ["ada.adf"]


def test_a_diff_of_a_sound_file_is_empty(adf: Any, agent: Path) -> None:
    result = adf("repair", agent, "--diff")
    assert (result.code, "nothing to mend" in result.out) == (0, True)


def test_only_safe_fixes_are_made_unless_more_is_asked_for(adf: Any, worn: Path) -> None:
    result = adf("repair", worn)
    assert result.code == 0
    assert "1 change made" in result.out
    assert "--undo" in result.out
    more = adf("repair", worn, "--lossy", "--guess")
    assert "2 changes made" in more.out
    assert "\x1b" not in more.out


def test_select_and_ignore(adf: Any, worn: Path) -> None:
    assert "nothing to mend" in adf("repair", worn, "--select", "ADF2").out
    assert "nothing to mend" in adf("repair", worn, "--ignore", "ADF331").out
    assert adf("repair", worn, "--select", "ADF0").code == 2


def test_undo_gives_the_old_agent(adf: Any, worn: Path) -> None:
    before = adf("digest", worn).out
    adf("repair", worn, "--lossy", "--guess")
    assert adf("digest", worn).out != before
    assert adf("repair", worn, "--undo", f"{worn}.undo.changeset").code == 0
    assert adf("digest", worn).out == before


@pytest.mark.parametrize("arguments", [("--diff",), (), ("--lossy", "--guess")])
def test_json_keeps_its_schema(adf: Any, worn: Path, arguments: tuple[str, ...]) -> None:
    result = adf("repair", worn, *arguments, "--format", "json")
    document = json.loads(result.out)
    assert not list(checker(SCHEMA).problems(document))
    assert document["changes"]
    undone = adf("repair", worn, "--undo", f"{worn}.undo.changeset", "--format", "json")
    if not document["dry_run"]:
        assert not list(checker(SCHEMA).problems(json.loads(undone.out)))


def test_wrong_usage_and_unreadable_files(adf: Any, worn: Path) -> None:
    Path("note.adf").write_text("text")
    assert adf("repair", worn, "--undo", "x", "--diff").code == 2
    assert adf("repair", worn, "--undo", "note.adf").code in (2, 3)
    assert adf("repair", worn, "--undo", "nothing").code == 3
    for name in ("note.adf", "nothing.adf"):
        result = adf("repair", name)
        assert (result.code, result.err.count("\n")) == (3, 1)
