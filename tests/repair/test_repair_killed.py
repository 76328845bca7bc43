"""Killed at any instant, a file is the old one or the mended one; if it is mended, its changeset is there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).parents[1] / "clearing"))

from killing import duration, killed

from adf_format import sample
from adf_format.container import open_readonly
from adf_format.digest import digest
from adf_format.repair import repair, undo

KILLS = 20


def of(path: Path) -> str:
    with open_readonly(path) as container:
        assert container.connection.pragma("integrity_check") == "ok"
        return digest(container).sha256


def test_old_or_mended_never_half(tmp_path: Path) -> None:
    original, mended = tmp_path / "original.adf", tmp_path / "mended.adf"
    sample.build(original, 32)
    connection = apsw.Connection(str(original))
    connection.execute("UPDATE adf_files SET size = 1; UPDATE adf_meta SET protection = 'none'").fetchall()
    connection.close()
    shutil.copy(original, mended)
    repair(mended)
    states = {of(original): "old", of(mended): "mended"}
    folder = tmp_path / "work"
    folder.mkdir()
    path = folder / "a.adf"
    shutil.copy(original, path)
    code = f"from adf_format.repair import *\ndef change(): repair({str(path)!r})"
    longest = duration(code)
    seen = set()
    for seed in range(KILLS):
        for left in folder.iterdir():
            left.unlink()
        shutil.copy(original, path)
        ended = next(killed(code, longest * 1.1, 1, seed=seed))
        found = states[of(path)]
        seen.add(found)
        assert not ended or found == "mended"
        if found == "mended":
            undo(path, f"{path}.undo.changeset")
            assert states[of(path)] == "old"
        repair(path)
        assert states[of(path)] == "mended"
    assert "old" in seen
