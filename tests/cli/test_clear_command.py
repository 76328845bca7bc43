"""`adf-format clear`: asks, clears, and tells what was done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.schemas.checker import checker

SCHEMA = "urn:adf-format:output:clear:1"


def count(path: Path, table: str) -> int:
    connection = apsw.Connection(str(path))
    found = connection.execute(f"SELECT count(*) FROM {table}").get
    connection.close()
    return int(found)


def test_nobody_to_ask_means_wrong_usage_and_nothing_done(adf: Any, agent: Path) -> None:
    before = agent.read_bytes()
    result = adf("clear", agent, "loop")
    assert result.code == 2
    assert "--yes" in result.err
    assert agent.read_bytes() == before


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("", 130)])
def test_on_a_terminal_it_shows_and_asks(
    adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    import io

    stdin = io.StringIO(answer)
    stdin.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", stdin)
    rows = count(agent, "adf_loop")
    result = adf("clear", agent, "loop")
    assert result.code == code
    assert "rows (S" in result.err
    assert (count(agent, "adf_loop") < rows) == (code == 0)


def test_a_clear_tells_what_was_archived_and_where_the_backup_is(adf: Any, agent: Path) -> None:
    result = adf("clear", agent, "all", "--yes")
    assert result.code == 0
    assert "archived as snapshot" in result.out
    assert "ada.adf.bak" in result.out
    assert "loop gardener" in result.out
    assert count(agent, "adf_loop") == count(agent, "adf_inbox") == 0


def test_no_backup_leaves_none(adf: Any, agent: Path) -> None:
    assert adf("clear", agent, "mind", "--yes", "--no-backup").code == 0
    assert [path.name for path in agent.parent.iterdir()] == ["ada.adf"]


def test_a_dry_run_changes_nothing(adf: Any, agent: Path) -> None:
    before = agent.read_bytes()
    result = adf("clear", agent, "all", "--dry-run")
    assert result.code == 0
    assert "would be cleared" in result.out
    assert agent.read_bytes() == before
    assert [path.name for path in agent.parent.iterdir()] == ["ada.adf"]


@pytest.mark.parametrize("arguments", [("loop", "--dry-run"), ("all", "--yes"), ("loop", "--slice", "-2:", "--yes")])
def test_json_keeps_its_schema(adf: Any, agent: Path, arguments: tuple[str, ...]) -> None:
    result = adf("clear", agent, *arguments, "--format", "json")
    document = json.loads(result.out)
    assert not list(checker(SCHEMA).problems(document))
    assert document["dry_run"] == ("--dry-run" in arguments)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("loop", "--slice", "x", "--yes"), 2),
        (("loop", "--loop", "nobody", "--yes"), 2),
        (("mind", "--slice", "1:", "--yes"), 2),
        (("outbox", "--yes"), 2),
        (("loop", "--document", "--yes"), 2),
    ],
)
def test_wrong_usage(adf: Any, agent: Path, arguments: tuple[str, ...], code: int) -> None:
    result = adf("clear", agent, *arguments)
    assert result.code == code
    assert result.err.count("\n") == 1


def test_a_file_that_cannot_be_read_gives_3(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "note.adf").write_text("text")
    for name in ("note.adf", "nothing.adf"):
        result = adf("clear", name, "loop", "--yes")
        assert result.code == 3
        assert result.err.count("\n") == 1


def test_a_policy_that_cannot_be_read_is_named(adf: Any, agent: Path) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute("UPDATE adf_config SET config_json = '{'")
    connection.close()
    result = adf("clear", agent, "loop", "--yes")
    assert result.code == 3
    assert "nothing was cleared" in result.err
    assert str(agent) in result.err
