"""Killed at any instant, a file is the old one or the new one, never half of each; a second run finishes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from clearing_support import agent, connect
from killing import duration, killed

from adf_format.clearing import Request, clear
from adf_format.container import open_readonly
from adf_format.digest import digest
from adf_format.errors import AdfError

KILLS = 25


def state(path: Path) -> tuple[int, int]:
    """How many rows there are, and how many snapshots."""
    with open_readonly(path) as container:
        connection = container.connection
        assert connection.pragma("integrity_check") == "ok"
        digest(container)
        return connection.execute("SELECT (SELECT count(*) FROM adf_loop), (SELECT count(*) FROM adf_audit)").get


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_old_or_new_never_half(tmp_path: Path, mode: str) -> None:
    original = agent(tmp_path / "original.adf", 32, [(seq, None) for seq in range(1, 1501)])
    connection = connect(original)
    connection.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    connection.close()
    folder = tmp_path / "work"
    folder.mkdir()
    path = folder / "a.adf"
    code = f"from adf_format.clearing import *\ndef change(): clear({str(path)!r}, Request('loop'))"
    shutil.copy(original, path)
    longest = duration(code)
    seen = set()
    for seed in range(KILLS):
        for left in folder.iterdir():
            left.unlink()
        shutil.copy(original, path)
        ended = next(killed(code, longest * 1.2, 1, seed=seed))
        found = state(path)
        assert found in ((1500, 0), (0, 1))
        assert not ended or found == (0, 1)
        seen.add(found)
        _finish(path)
        assert state(path) == (0, 1)
        backups = [left for left in folder.iterdir() if ".bak" in left.name]
        assert all(state(backup) in ((1500, 0), (0, 1)) for backup in backups)
        # a journal that was over may lie there until the next write: SQLite's header says that it is none
        names = {"a.adf", "a.adf-journal", *(left.name for left in backups)}
        assert {left.name for left in folder.iterdir()} <= names
    assert (1500, 0) in seen


def _finish(path: Path) -> None:
    try:
        clear(path, Request("loop"))
    except AdfError as error:
        raise AssertionError(f"a second run must finish: {error}") from error
