"""A receipt outlives a kill: what was finished is in it, and the next run tells the whole of what was not."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from migration_support import run, sample, version_of
from test_safety import Killer, in_child

from adf_format.cli.main import run as command
from adf_format.migration import checking
from adf_format.migration.journal import SUFFIX, Journal
from adf_format.schemas import LATEST

BATCH = ["migrate", "one.adf", "two.adf", "--report", "r.json", "-q"]
COPY = ["migrate", "one.adf", "--output", "new.adf", "--report", "r.json", "-q"]
KILLS = 16


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def originals(folder: Path) -> None:
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    sample(folder, 21, "one.adf")
    sample(folder, 27, "two.adf")


def told(arguments: list[str]) -> int:
    """Run a command, and tell its exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return command(arguments)


def killed(arguments: list[str], at: int | None, count: Path) -> int:
    def work() -> None:
        killer = Killer(at)
        vfs = killer.install()
        command(arguments)
        count.write_text(json.dumps(killer.kinds))
        del vfs

    return in_child(work)


def demand_whole(found: dict[str, Any], wanted: dict[str, tuple[int, int]]) -> None:
    assert {one["file"]: (one["from"], one["to"]) for one in found["files"]} == wanted
    assert checking.is_sealed(found).holds
    for entry in found["files"]:
        assert [answer for answer in checking.check(entry) if not answer.holds] == []


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [(BATCH, {"one.adf": (21, LATEST), "two.adf": (27, LATEST)}), (COPY, {"one.adf": (21, LATEST)})],
    ids=["batch", "copy"],
)
def test_killed_at_any_instant_the_next_run_tells_the_whole(
    arguments: list[str], wanted: dict[str, tuple[int, int]], folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    counted = tmp_path_factory.mktemp("count") / "kinds"
    originals(folder)
    assert killed(arguments, None, counted) == 0
    kinds = json.loads(counted.read_text())
    rng = random.Random(3)
    ends = [at for at, kind in enumerate(kinds, 1) if kind in ("write", "rename", "replace", "link", "unlink")]
    instants = {*ends[-8:], *rng.sample(range(1, len(kinds) + 1), KILLS)}
    for at in sorted(instants):
        originals(folder)
        assert killed(arguments, at, counted) == -signal.SIGKILL
        for entry in checking.load("r.json")["files"] if Path("r.json").exists() else []:
            assert [answer for answer in checking.check(entry) if not answer.holds] == []
        assert told(arguments) == 0, f"{at} of {len(kinds)}"
        demand_whole(checking.load("r.json"), wanted)
        assert not [left for left in folder.iterdir() if left.is_dir()]
        assert not Path(f"r.json{SUFFIX}").exists()


class TestReceipt:
    def test_one_that_is_there_is_added_to(self, folder: Path) -> None:
        originals(folder)
        for name in ("one.adf", "two.adf", "one.adf"):
            assert told(["migrate", name, "--report", "r.json"]) == 0
        demand_whole(checking.load("r.json"), {"one.adf": (21, LATEST), "two.adf": (27, LATEST)})

    def test_an_entry_is_made_anew_once_its_file_was_brought_back(self, folder: Path) -> None:
        originals(folder)
        for arguments in (["--report", "r.json"], ["--undo"], ["--report", "r.json", "--to", "28"]):
            assert told(["migrate", "one.adf", *arguments]) == 0
        demand_whole(checking.load("r.json"), {"one.adf": (21, 28)})

    def test_one_that_speaks_of_another_migration_of_the_file_is_not_changed(self, folder: Path) -> None:
        originals(folder)
        assert told(["migrate", "one.adf", "--report", "r.json", "--to", "28"]) == 0
        before = Path("r.json").read_bytes()
        assert told(["migrate", "one.adf", "--report", "r.json"]) == 2
        assert json.loads(Path("r.json").read_bytes()) == json.loads(before)
        assert version_of(folder / "one.adf") == 28

    def test_what_is_no_receipt_is_not_overwritten(self, folder: Path) -> None:
        originals(folder)
        Path("r.json").write_text("{}")
        assert told(["migrate", "one.adf", "--report", "r.json"]) == 2
        assert (Path("r.json").read_text(), version_of(folder / "one.adf")) == ("{}", 21)

    def test_two_runs_do_not_write_one_receipt(self, folder: Path) -> None:
        originals(folder)
        with Journal(folder / "r.json"):
            assert told(["migrate", "one.adf", "--report", "r.json"]) == 2
        assert version_of(folder / "one.adf") == 21

    def test_work_of_the_agent_between_two_runs_is_not_passed_off_as_a_migration(self, folder: Path) -> None:
        originals(folder)
        counted = folder / "count"
        assert killed(BATCH, None, counted) == 0
        last = len(json.loads(counted.read_text()))
        for at in range(last, 0, -1):  # the last instant at which the second file is migrated, and not in the receipt
            originals(folder)
            killed(BATCH, at, counted)
            part = Path(f"r.json{SUFFIX}")
            lines = ["", *(part.read_text().splitlines() if part.exists() else [])]
            if '"begun"' in lines[-1] and "two.adf" in lines[-1] and version_of(folder / "two.adf") == LATEST:
                break
        run(folder / "two.adf", "INSERT INTO adf_logs (message, created_at) VALUES ('later', 1)")
        shutil.copy("two.adf.bak", "kept")
        assert told(BATCH) == 0
        assert [one["file"] for one in checking.load("r.json")["files"]] == ["one.adf"]
        assert Path(f"r.json{SUFFIX}").exists()  # the file from before is still known
        assert Path("two.adf.bak").read_bytes() == Path("kept").read_bytes()

    def test_a_line_that_was_cut_is_passed_over(self, folder: Path) -> None:
        originals(folder)
        assert told(["migrate", "one.adf", "--report", "r.json"]) == 0
        Path(f"r.json{SUFFIX}").write_text('{"entry": {"file": "tw')
        assert told(["migrate", "two.adf", "--report", "r.json"]) == 0
        demand_whole(checking.load("r.json"), {"one.adf": (21, LATEST), "two.adf": (27, LATEST)})
