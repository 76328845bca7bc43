"""`adf-format validate`: paths, exit codes, output, settings and baselines."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def paths_of(result: Any) -> list[str]:
    return [Path(file["path"]).name for file in json.loads(result.out)["files"]]


def test_a_valid_file_gives_0(adf: Any, agent: Path) -> None:
    result = adf("validate", agent)
    assert result.code == 0
    assert f"{agent}: valid (storage version 32)" in result.out
    assert result.err == ""


def test_findings_give_1(adf: Any, broken: Path) -> None:
    result = adf("validate", broken)
    assert result.code == 1
    assert "NOT VALID" in result.out


def test_an_unreadable_file_gives_3_and_the_others_are_checked_all_the_same(
    adf: Any, agent: Path, broken: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.adf"
    empty.touch()
    result = adf("validate", broken, empty, tmp_path / "none.adf", agent, "--format", "json")
    assert result.code == 3
    files = json.loads(result.out)["files"]
    assert [file["valid"] for file in files] == [False, False, False, True]
    assert ["error" in file for file in files] == [False, True, True, False]


def test_fail_on_moves_the_threshold(adf: Any, broken: Path) -> None:
    assert adf("validate", broken, "--fail-on", "never").code == 0
    assert adf("validate", broken, "--severity", "ADF5=warning").code == 0
    assert adf("validate", broken, "--severity", "ADF5=warning", "--fail-on", "warning").code == 1
    assert adf("validate", broken, "--severity", "ADF5=info", "--fail-on", "info").code == 1


def test_select_and_ignore_take_ids_prefixes_and_lists(adf: Any, broken: Path) -> None:
    assert adf("validate", broken, "--select", "ADF1,ADF2", "--select", "ADF3xx").code == 0
    assert adf("validate", broken, "--ignore", "ADF5").code == 0
    assert adf("validate", broken, "--select", "ADF5").code == 1


def test_a_folder_means_every_adf_below_it_in_order(adf: Any, agent: Path, tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    for name in ("b/z.adf", "b/A.ADF", "a/x.adf", "c.adf", "c.adf.bak", "c.adf-wal", "c.txt", "d.adf.bak.17"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(agent, folder / name)
    (folder / "c.adf-wal").write_bytes(b"")
    (folder / "dir.adf").mkdir()
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "gone.adf").symlink_to(folder / "nothing")
    result = adf("validate", folder, "--format", "json")
    assert result.code == 0
    assert paths_of(result) == ["c.adf", "x.adf", "A.ADF", "z.adf"]


def test_a_folder_without_an_adf_gives_3(adf: Any, agent: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    result = adf("validate", tmp_path / "nothing", agent)
    assert result.code == 3
    assert "there is no .adf in this folder" in result.err
    assert "valid (storage version 32)" in result.out


def test_the_output_of_all_jobs_is_the_same(adf: Any, agent: Path, broken: Path, tmp_path: Path) -> None:
    results = [adf("validate", tmp_path, "--format", "json", "--jobs", jobs).out for jobs in (0, 1, 3)]
    assert results[0] == results[1] == results[2]


def test_the_output_file_appears_whole(adf: Any, agent: Path, tmp_path: Path) -> None:
    report = tmp_path / "out.json"
    report.write_text("old")
    report.chmod(0o640)
    result = adf("validate", agent, "--format", "json", "-o", report)
    assert (result.code, result.out) == (0, "")
    assert json.loads(report.read_text("utf-8"))["summary"]["valid"] == 1
    assert report.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.adf", "out.json"]


def test_a_run_that_fails_leaves_the_old_output(adf: Any, agent: Path, tmp_path: Path) -> None:
    report = tmp_path / "out.json"
    report.write_text("old")
    assert adf("validate", agent, "--select", "ADF999", "-o", report).code == 2
    assert report.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.adf", "out.json"]


@pytest.mark.parametrize("option", ["--output", "--write-baseline"])
def test_no_report_is_written_over_an_agent(adf: Any, agent: Path, option: str) -> None:
    before = agent.read_bytes()
    result = adf("validate", agent, option, agent)
    assert result.code == 2
    assert "is not overwritten" in result.err
    assert agent.read_bytes() == before


def test_settings_count_and_the_command_line_comes_after_them(
    adf: Any, broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adf-format.toml").write_text('ignore = ["ADF5"]\nfail-on = "info"')
    assert adf("validate", broken).code == 0
    assert adf("validate", broken, "--isolated").code == 1
    other = tmp_path / "other.toml"
    other.write_text('fail-on = "never"')
    assert adf("validate", broken, "--config", other).code == 0
    assert adf("validate", broken, "--config", other, "--fail-on", "error").code == 1


def test_options_can_come_from_the_environment(adf: Any, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADF_FORMAT_VALIDATE_FAIL_ON", "never")
    assert adf("validate", broken).code == 0


def test_a_baseline_hides_what_is_known(adf: Any, broken: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert adf("validate", broken, "--write-baseline", known).code == 1
    result = adf("validate", broken, "--baseline", known)
    assert result.code == 0
    assert "known to the baseline" in result.out
    found = json.loads(adf("validate", broken, "--baseline", known, "--format", "sarif").out)
    assert all("suppressions" in one for one in found["runs"][0]["results"])


def test_a_baseline_that_knows_too_much_is_stale(adf: Any, agent: Path, broken: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    adf("validate", broken, "--write-baseline", known)
    shutil.copy(agent, broken)
    result = adf("validate", broken, "--baseline", known)
    assert result.code == 0
    assert "write it anew" in result.err
    assert adf("validate", broken, "--baseline", known, "--quiet").err == ""


def test_colours_only_when_wanted(adf: Any, broken: Path) -> None:
    assert "\x1b[" not in adf("validate", broken).out
    assert "\x1b[" in adf("validate", broken, "--color", "always").out


def test_a_hostile_name_of_a_file_is_shown_harmlessly(adf: Any, agent: Path, tmp_path: Path) -> None:
    nasty = tmp_path / "a\x1b[2J\u202e\n.adf"
    shutil.copy(agent, nasty)
    for name in ("human", "json", "jsonl", "sarif", "junit", "github"):
        result = adf("validate", nasty, "--format", name)
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "\u202e" not in result.out
    os.truncate(nasty, 10)
    assert "\x1b" not in adf("inspect", nasty).err


def test_the_exit_code_reaches_the_shell(agent: Path, broken: Path) -> None:
    for path, code in ((agent, 0), (broken, 1), ("none.adf", 3)):
        done = subprocess.run(
            [sys.executable, "-m", "adf_format", "validate", str(path)], capture_output=True, timeout=60, check=False
        )
        assert done.returncode == code
