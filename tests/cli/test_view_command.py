"""`adf-format view` writes a page, a folder or a text, and says what it left out; `inspect` is good to look at."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from adf_format.cli import inspect_screen, view
from adf_format.inspection import inspect_file


def test_view_writes_one_page_and_leaves_the_file_alone(adf: Any, agent: Path, tmp_path: Path) -> None:
    before, out = agent.read_bytes(), tmp_path / "ada.html"
    result = adf("view", agent, "-o", out)
    assert result.code == 0
    assert result.out == ""
    assert f"{out.stat().st_size:,} bytes" in result.err
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert agent.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {"ada.adf", "ada.html"}


def test_view_writes_to_stdout(adf: Any, agent: Path) -> None:
    assert "<title>Ada</title>" in adf("view", agent, "-o", "-").out


def test_view_writes_a_folder(adf: Any, agent: Path, tmp_path: Path) -> None:
    result = adf("view", agent, "-o", f"{tmp_path / 'pages'}/", "--rows", 5)
    assert result.code == 0
    assert "begin with index.html" in result.err
    assert (tmp_path / "pages" / "loop-main-4.html").is_file()


def test_view_shows_only_what_is_asked_for(adf: Any, agent: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    assert (
        adf(
            "view", agent, "-o", out, "--loop", "gardener", "--since", "2026-01-01T00:00:16", "--until", "2026-01-02"
        ).code
        == 0
    )
    made = out.read_text("utf-8")
    assert 'id="S16"' in made
    assert 'id="S15"' not in made
    assert 'id="loop-main"' not in made
    assert "1 earlier entry is not included." in made


def test_view_prints_a_transcript(adf: Any, agent: Path) -> None:
    found = adf("view", agent, "--text").out
    order = [
        found.index(words)
        for words in ("=== main ===", "6 archived rows", "ripe", "=== drafter ===", "=== gardener ===")
    ]
    assert order == sorted(order)
    assert "13 earlier entries not included" in adf("view", agent, "--text", "--loop", "main", "--limit", 3).out
    assert (
        "1 later entries not included" in adf("view", agent, "--text", "--loop", "main", "--until", "1767225618500").out
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "where should the page go"),
        (["-o", "x.html", "--loop", "gardner"], "did you mean 'gardener'"),
        (["-o", "x.html", "--since", "soon"], "'soon' is no time"),
    ],
)
def test_wrong_usage_is_explained(adf: Any, agent: Path, arguments: list[str], words: str) -> None:
    result = adf("view", agent, *arguments)
    assert result.code == 2
    assert words in result.err


def test_view_never_overwrites_an_agent(adf: Any, agent: Path) -> None:
    assert adf("view", agent, "-o", agent).code == 2


def test_view_opens_the_page(adf: Any, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(view.webbrowser, "open", lambda address: bool(opened.append(address)))
    result = adf("view", agent, "-o", tmp_path / "a.html", "--open")
    assert opened == [(tmp_path / "a.html").as_uri()]
    assert "no browser could be opened" in result.err


def test_view_of_what_is_no_agent_gives_3(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "x.adf").write_text("no agent")
    assert adf("view", tmp_path / "x.adf", "-o", tmp_path / "x.html").code == 3
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("given", "milliseconds"),
    [
        ("2026-01-01", 1767225600000),
        ("2026-01-01T01:00+01:00", 1767225600000),
        ("1767225600000", 1767225600000),
        (None, None),
    ],
)
def test_times_are_understood(given: str | None, milliseconds: int | None) -> None:
    assert view.moment_of(given) == milliseconds


def test_inspect_on_a_terminal_shows_the_same_facts(agent: Path) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=100, no_color=True, markup=False, emoji=False, highlight=False)
    facts = inspect_file(agent) | {"findings": {"depth": "quick", "errors": 1, "warnings": 0, "infos": 2}}
    inspect_screen.show(console, facts, [("files", "9 with 1,903 bytes")])
    shown = stream.getvalue()
    for words in (
        "Ada @ada",
        "active",
        "storage version 32",
        "gardener",
        "S7 to S19",
        "13 live, 8 archived",
        "1 error",
        "9 with",
    ):
        assert words in shown


def test_inspect_on_a_terminal_lets_no_escape_through(agent: Path) -> None:
    facts = inspect_file(agent)
    facts["identity"] |= {"name": "\x1b[2J[red]x", "handle": "\u202e"}
    facts["findings"] = {"depth": "quick", "error": "\x1b[31m"}
    stream = io.StringIO()
    inspect_screen.show(Console(file=stream, width=100, color_system=None), facts, [])
    assert not {"\x1b", "\u202e"} & set(stream.getvalue())


def test_rich_is_imported_only_where_somebody_looks(agent: Path) -> None:
    code = (
        "import sys; from adf_format.cli.main import run;"
        f" run(['inspect', {str(agent)!r}, '--format', 'json']); sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
