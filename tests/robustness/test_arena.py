"""The arena itself: a validator that dies, hangs or floods does not pass."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from robustness.arena import Arena


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.adf"
    path.write_bytes(b"no database")
    return path


def _signal(arena: Arena, number: int) -> None:
    assert arena._process is not None
    os.kill(arena._process.pid, number)


def test_a_refused_file_is_an_answer_without_a_complaint(tmp_path: Path, plain: Path) -> None:
    with Arena(tmp_path) as arena:
        answer = arena.judge(plain)
    assert answer["error"]
    assert "traceback" not in answer


def test_a_dead_worker_is_noticed_and_replaced(tmp_path: Path, plain: Path) -> None:
    with Arena(tmp_path) as arena:
        arena.judge(plain)
        _signal(arena, signal.SIGKILL)
        answers = [arena.judge(plain), arena.judge(plain)]
    assert "traceback" not in answers[-1]


def test_a_hanging_worker_is_noticed(tmp_path: Path, plain: Path) -> None:
    with Arena(tmp_path, seconds=5.0) as arena:
        arena.judge(plain)
        _signal(arena, signal.SIGSTOP)
        assert arena.judge(plain)["traceback"] == "no answer in 5.0 s"


def test_something_left_in_the_temporary_folder_is_noticed(tmp_path: Path, plain: Path) -> None:
    with Arena(tmp_path) as arena:
        (arena.scratch / "left").touch()
        assert "behind" in arena.judge(plain)["traceback"]
