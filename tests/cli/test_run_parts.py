"""Lines of standard input, and happenings as text."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.cli.run_lines import Lines
from adf_format.cli.run_text import CUT, RunText
from adf_format.runtime.ports import Happening
from adf_format.terminal import Screen


def piped(*pieces: bytes) -> list[str]:
    """Read all lines of a pipe into which pieces are written one after the other."""

    async def run() -> list[str]:
        ours, theirs = os.pipe()
        with os.fdopen(ours) as stream:
            lines = Lines(stream)
            lines.start()
            for piece in pieces:
                os.write(theirs, piece)
                await asyncio.sleep(0)
            os.close(theirs)
            found = []
            while (line := await lines.next()) is not None:
                found.append(line)
            lines.stop()
            return found

    return asyncio.run(run())


def test_a_line_may_come_in_pieces_and_the_last_one_without_an_end() -> None:
    assert piped(b"o", b"ne\r\ntw", b"o\n\nthree\xff") == ["one", "two", "", "three\ufffd"]
    assert piped() == []


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=5), max_size=6), st.data())
def test_lines_are_the_same_however_they_are_cut(texts: list[str], data: Any) -> None:
    whole = "".join(f"{text}\n" for text in texts).encode()
    at = data.draw(st.integers(0, len(whole)))
    assert piped(*(piece for piece in (whole[:at], whole[at:]) if piece)) == texts


def test_a_file_is_read_directly(tmp_path: Any) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo")

    async def run() -> list[str | None]:
        with path.open() as stream:
            lines = Lines(stream)
            lines.start()
            return [await lines.next() for _ in range(3)]

    assert asyncio.run(run()) == ["one", "two", None]


def drawn(kind: Any, data: Mapping[str, Any]) -> list[str]:
    return list(RunText(Screen()).lines(Happening(kind, "main", data)))


@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [
        ("state", {"state": "idle"}, "-- the agent is idle --"),
        ("retrying", {"error": "busy", "delay_ms": 1500}, "! main: busy; next try in 1.5 s"),
        ("compaction_failed", {"error": "empty"}, "! main could not be compacted: empty; its history stays"),
        ("cleared", {"deleted": 3, "archived": False}, "-- main cleared: 3 rows (not archived) --"),
        (
            "compacted",
            {"removed": 3, "archived": False, "seq": 9},
            "-- main compacted: 3 rows became one summary, S9 (not archived) --",
        ),
        ("turn_started", {"event": "timer"}, "  main wakes (timer)"),
        ("log", {"level": "error", "event": "x", "message": "a\nb"}, "! x: a\\nb"),
        ("tool_done", {"tool": "t", "failed": True, "content": "\x1b[2J"}, "  main: t failed \\u{1b}[2J"),
    ],
)
def test_what_happens_is_one_harmless_line(kind: Any, data: Mapping[str, Any], line: str) -> None:
    assert drawn(kind, data) == [line]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("turn_started", {"event": "chat"}),
        ("turn_ended", {"status": "completed"}),
        ("model_called", {}),
        ("log", {"level": "info"}),
    ],
)
def test_what_nobody_needs_to_see_is_not_shown(kind: Any, data: Mapping[str, Any]) -> None:
    assert drawn(kind, data) == []


def test_what_is_long_is_cut_and_says_so() -> None:
    (line,) = drawn("tool_done", {"tool": "t", "failed": False, "content": "x" * (CUT + 1)})
    assert line.endswith(f"… ({CUT + 1} characters)")
