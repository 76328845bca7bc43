"""`adf-format digest`: one line per file, and a verdict on two."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.schemas.checker import checker

SCHEMA = "urn:adf-format:output:digest:1"


@pytest.fixture
def copy(agent: Path) -> Path:
    """The same agent, laid out otherwise."""
    other = agent.with_name("copy.adf")
    shutil.copy(agent, other)
    connection = apsw.Connection(str(other))
    connection.execute("PRAGMA page_size = 4096; VACUUM").fetchall()
    connection.close()
    return other


def change(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE adf_inbox SET status = 'archived'; CREATE TABLE local_more (v)").fetchall()
    connection.close()


def test_one_line_per_file_like_sha256sum(adf: Any, agent: Path, copy: Path) -> None:
    result = adf("digest", agent, copy)
    lines = [line.split("  ") for line in result.out.splitlines()]
    assert result.code == 0
    assert [line[1] for line in lines] == [str(agent), str(copy)]
    assert lines[0][0] == lines[1][0]
    assert len(lines[0][0]) == 64


def test_tables_are_listed_on_request(adf: Any, agent: Path) -> None:
    result = adf("digest", agent, "--tables")
    assert "adf_loop (" in result.out
    assert "adf_config (1 row)" in result.out


def test_check_says_equal_or_which_tables_differ(adf: Any, agent: Path, copy: Path) -> None:
    assert adf("digest", agent, "--check", copy).code == 0
    change(copy)
    result = adf("digest", agent, "--check", copy)
    assert result.code == 1
    assert "adf_inbox" in result.out
    assert "local_more" in result.out
    assert "adf_loop" not in result.out


def test_json_keeps_its_schema(adf: Any, agent: Path, copy: Path) -> None:
    change(copy)
    shown = json.loads(adf("digest", agent, "nothing.adf", "--format", "json").out)
    compared = json.loads(adf("digest", agent, "--check", copy, "--format", "json").out)
    for document in (shown, compared):
        assert not list(checker(SCHEMA).problems(document))
    assert shown["files"][0]["sha256"] == compared["files"][0]["sha256"]
    assert "error" in shown["files"][1]
    assert (compared["equal"], compared["differing"]) == (False, ["adf_inbox", "local_more"])


def test_a_file_that_cannot_be_read_gives_3_and_the_others_are_shown(adf: Any, agent: Path) -> None:
    Path("note.adf").write_text("text")
    result = adf("digest", "note.adf", agent)
    assert result.code == 3
    assert str(agent) in result.out
    assert result.err.count("\n") == 1


def test_check_needs_one_file(adf: Any, agent: Path, copy: Path) -> None:
    assert adf("digest", agent, copy, "--check", agent).code == 2


def test_nothing_is_left_beside_the_file(adf: Any, agent: Path) -> None:
    before = agent.read_bytes()
    adf("digest", agent)
    assert sorted(path.name for path in agent.parent.iterdir()) == ["ada.adf"]
    assert agent.read_bytes() == before
