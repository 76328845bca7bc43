"""A run that is killed loses the receipt of no file that it finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from migration_support import sample, version_of

from adf_format.cli.main import run as command
from adf_format.errors import UnreadableError
from adf_format.migration import checking
from adf_format.migration.journal import Journal

ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal, sys
from adf_format.cli import migrate
from adf_format.cli.main import run
real = migrate.Journal.add
def add(self, entry):
    real(self, entry)
    if len(self.entries) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
migrate.Journal.add = add
run(["migrate", ".", "--report", "r.json"])
"""


def test_the_next_run_takes_over_what_a_killed_one_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.adf", "b.adf", "c.adf"):
        sample(tmp_path, 27, name)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False, stdout=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    assert not Path("r.json").exists()
    assert [version_of(Path(name)) for name in ("a.adf", "b.adf", "c.adf")] == [32, 32, 27]
    assert command(["migrate", ".", "--report", "r.json"]) == 0
    assert "takes over 2 entries of a run that was interrupted" in capsys.readouterr().err
    assert [entry["file"] for entry in checking.load("r.json")["files"]] == ["a.adf", "b.adf", "c.adf"]
    assert command(["migrate", "--check-receipt", "r.json"]) == 0
    assert not Path(".r.json.unfinished").exists()


def test_a_line_that_the_kill_cut_off_is_no_entry(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "r.json")
    journal.add({"file": "a", "text": "half of a pair: \ud83d"})
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + whole[:7])
    again = Journal(tmp_path / "r.json")
    assert (again.taken_over, again.entries) == (1, journal.entries)
    again.add({"file": "b"})
    assert [one["file"] for one in Journal(tmp_path / "r.json").entries] == ["a", "b"]
    again.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("junk", [b"\n", b"not json\n", b"[1]\n", b"\xff\n", b"{"])
def test_what_was_never_an_entry_is_passed_over(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / ".r.json.unfinished").write_bytes(junk)
    assert Journal(tmp_path / "r.json").entries == []


def test_a_receipt_that_cannot_be_written_is_said_before_anything_is_migrated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sample(tmp_path, 27).read_bytes()
    place = tmp_path / "gone" / "r.json"
    with pytest.raises(UnreadableError, match="the receipt cannot be written"):
        Journal(place)
    assert command(["migrate", str(tmp_path / "agent.adf"), "--report", str(place)]) == 3
    assert str(place) in capsys.readouterr().err
    assert (tmp_path / "agent.adf").read_bytes() == before
