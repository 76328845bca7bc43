"""The command `adf-conformance` from outside: exit codes, files, drivers right and wrong."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from suite_support import driver

from adf_conformance.cli import main
from adf_conformance.schedule import Case

TOOLKIT = shlex.join(driver("toolkit"))
MINI = shlex.join(driver("miniature"))
LOSING = shlex.join(driver("miniature", "loses-rows"))
BLIND = shlex.join(
    (*driver("toolkit")[:1], "-m", "adf_conformance.mutants", "reader.order-by-seq", "--", *driver("toolkit"))
)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def fake(mode: str) -> str:
    return shlex.join(driver("fake", mode))


def test_the_help_names_every_command_without_importing_one() -> None:
    result = call("--help")
    assert result.exit_code == 0
    for name in ("smoke", "run", "list", "replay", "report", "diff", "compare", "init-driver", "corpus"):
        assert f"  {name} " in result.output
        assert call(name, "--help").exit_code == 0
    assert call("dance").exit_code == 2


@pytest.mark.parametrize("command", [TOOLKIT, MINI, fake("good")], ids=["toolkit", "miniature", "fake"])
def test_a_driver_that_is_right_passes_smoke(command: str) -> None:
    result = call("smoke", "--driver", command)
    assert result.exit_code == 0, result.output
    assert result.output.endswith("the driver is right\n")


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("garbage", "FAIL writes only messages to stdout"),
        ("other-protocol", "FAIL introduces itself: the driver chose protocol 2"),
        ("wrong-shape", "FAIL does the simplest thing of validator"),
        ("claims-only", "FAIL does the simplest thing of validator"),
        ("die", "FAIL does the simplest thing of validator"),
    ],
)
def test_a_driver_that_is_wrong_fails_smoke(mode: str, told: str) -> None:
    result = call("smoke", "--driver", fake(mode))
    assert result.exit_code == 1
    assert told in result.output
    assert "the driver is not right" in result.output


def test_a_driver_that_is_not_there_fails_smoke() -> None:
    assert "FAIL starts" in call("smoke", "--driver", "/no/such/driver").output


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_skeleton_passes_smoke(language: str, tmp_path: Path) -> None:
    if shutil.which(language if language == "node" else "python3") is None:
        pytest.skip(f"{language} is not installed")
    result = call("init-driver", language, str(tmp_path))
    assert result.exit_code == 0, result.output
    (made,) = tmp_path.iterdir()
    assert len(made.read_text(encoding="utf-8").splitlines()) < 150
    result = call("smoke", "--driver", str(made))
    assert result.exit_code == 0, result.output
    assert "claims nothing" in result.output
    assert call("init-driver", language, str(tmp_path)).exit_code == 3


def test_a_run_that_conforms(tmp_path: Path) -> None:
    files = {name: tmp_path / f"out/{name}" for name in ("r.json", "r.html", "r.xml", "b.svg")}
    wanted = ["--json", str(files["r.json"]), "--html", str(files["r.html"]), "--junit", str(files["r.xml"])]
    arguments = ["run", "--driver", TOOLKIT, "--select", "reader.cases", "--jobs", "1", "--cases", str(tmp_path / "c")]
    result = call(*arguments, *wanted, "--badge", str(files["b.svg"]), "--budget", "3s")
    assert result.exit_code == 0, result.output
    assert "adf-format conforms to the format 0.7.4" in result.output
    assert all(path.stat().st_size for path in files.values())
    assert not (tmp_path / "c").exists()
    for form in ("human", "json", "junit", "html", "svg", "shields"):
        assert call("report", str(files["r.json"]), "--format", form).exit_code == 0
    assert call("diff", str(files["r.json"]), str(files["r.json"])).exit_code == 0


def broken(tmp_path: Path, *more: str) -> tuple[Result, dict[str, Any]]:
    arguments = ["run", "--driver", BLIND, "--select", "reader.display-order*", "--jobs", "1", "-q", "--budget", "1s"]
    result = call(*arguments, "--cases", str(tmp_path / "c"), "--json", str(tmp_path / "r.json"), *more)
    return result, json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))


def test_a_run_that_does_not_conform_saves_cases_that_replay(tmp_path: Path) -> None:
    result, told = broken(tmp_path)
    assert result.exit_code == 1
    assert "FAIL reader.display-order [MUST, STO-032]" in result.output
    case = tmp_path / "c" / "reader.display-order.json"
    assert told["requirements"][0]["case_file"] == case.name
    assert call("replay", str(case), "--driver", BLIND).output.startswith("FAILED")
    fixed = call("replay", str(case), "--driver", TOOLKIT)
    assert (fixed.exit_code, fixed.output.partition(" ")[0]) == (0, "FIXED")
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert call("replay", str(tmp_path / "x.json"), "--driver", TOOLKIT).exit_code == 3


def test_an_expected_failure_passes_the_run_and_a_stale_one_fails_it(tmp_path: Path) -> None:
    path = tmp_path / "expected.toml"
    path.write_text('[[expect]]\nid = "reader.display-order"\nreason = "not yet"\n', encoding="utf-8")
    result, told = broken(tmp_path, "--expect", str(path))
    verdicts = {row["id"]: row["verdict"] for row in told["requirements"]}
    assert verdicts["reader.display-order"] == "expected-fail"
    assert result.exit_code == (1 if "fail" in verdicts.values() else 0)
    arguments = ["run", "--driver", TOOLKIT, "--select", "reader.display-order", "--jobs", "1", "--budget", "1s"]
    stale = call(*arguments, "--expect", str(path), "--cases", str(tmp_path / "c"))
    assert stale.exit_code == 1
    assert "STALE-EXPECTATION" in stale.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "--driver", "'"],
        ["run", "--driver", ""],
        ["run", "--driver", "x", "--budget", "soon"],
        ["run", "--driver", "x", "--select", "nothing.at-all"],
        ["run", "--driver", "x", "--profile", "dancer"],
        ["run", "--driver", "x", "--expect", "/no/such/file"],
        ["compare", "--driver", "x"],
        ["init-driver", "cobol", "x"],
    ],
)
def test_wrong_usage_is_told_apart(arguments: list[str]) -> None:
    assert call(*arguments).exit_code == 2


def test_a_driver_that_cannot_be_tested_is_no_success(tmp_path: Path) -> None:
    result = call("run", "--driver", "/no/such/driver", "--profile", "reader", "--cases", str(tmp_path))
    assert result.exit_code == 3
    assert "does not introduce itself" in result.output


def test_two_drivers_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adf_conformance.cli.compare.EXAMPLES", 5)
    same = ["--select", "reader.ord-negative"]
    assert call("compare", "--driver", TOOLKIT, "--driver", TOOLKIT, *same).output == "no disagreement\n"
    result = call("compare", "--driver", TOOLKIT, "--driver", BLIND, *same)
    assert result.exit_code == 1
    assert "reader.ord-negative" in result.output
    assert call("compare", "--driver", TOOLKIT, "--driver", "/no/such", *same).exit_code == 3


def test_lists_are_for_people_and_programs() -> None:
    assert "525 requirements" in call("list").output or "requirements," in call("list").output
    chosen = json.loads(call("list", "--select", "STO-032", "--format", "json").output)
    assert {one["id"] for one in chosen} >= {"reader.display-order", "core.display-order"}
    assert "reader.cases" in call("list", "--checks", "--profile", "reader").output
    assert all(one["tells"] for one in json.loads(call("list", "--checks", "--format", "json").output))


def test_a_case_is_replayed_once_per_model_boundary(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [{"do": "create", "config": {}}, {"do": "start"}, {"do": "chat", "text": "Hello"}]
    Case("hello", "core.turns", [*steps, {"do": "drain"}, {"do": "stop"}]).save(tmp_path / "case.json")
    result = call("replay", "--kill-matrix", str(tmp_path / "case.json"), "--driver", MINI)
    assert (result.exit_code, result.output) == (0, f". {tmp_path / 'case.json'}\n")
    assert call("replay", "--kill-matrix", str(tmp_path / "case.json"), "--driver", "/no/such").exit_code == 3
    quiet = Case("quiet", "core.turns", steps[:2])
    quiet.save(tmp_path / "quiet.json")
    assert "no model call" in call("replay", "--kill-matrix", str(tmp_path / "quiet.json"), "--driver", MINI).output
