"""The protocol is not bound to a language: a driver in JavaScript, written from the docs and the schemas alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from suite_support import DRIVERS, REPOSITORY

from adf_conformance.requirements import Selection
from adf_conformance.running import Options, run
from adf_conformance.running.smoke import smoke

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
NODE = 20


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Install the driver with npm into a folder of its own; skip where that is not possible."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(told.lstrip("v").split(".")[0]) < NODE:
        pytest.skip(f"node {told.strip()} is older than {NODE}")
    place = tmp_path_factory.mktemp("js")
    for file in (DRIVERS / "js").iterdir():
        shutil.copyfile(file, place / file.name)
    install = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(install, cwd=place, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not finish in time")
    if done.returncode != 0 or not (place / "node_modules" / "better-sqlite3" / "build").is_dir():
        pytest.skip(f"npm cannot install better-sqlite3: {done.stderr[-200:]}")
    os.environ["ADF_SCHEMAS"] = str(REPOSITORY / "schemas")
    return (node, str(place / "driver.mjs"))


def test_the_driver_is_right(command: tuple[str, ...]) -> None:
    assert [probe for probe in smoke(command) if probe.wrong] == []


@pytest.mark.parametrize("profile", ["reader", "validator", "migrator"])
def test_it_keeps_every_requirement(profile: str, command: tuple[str, ...]) -> None:
    report = run(Options(command, Selection(profiles=(profile,)), 20, 10, shrink_seconds=2))
    assert {row.requirement.id: row.judgement.note for row in report.required if str(row.verdict) != "pass"} == {}
    assert report.exit_code == 0


def test_it_is_small(tmp_path: Path) -> None:
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in (DRIVERS / "js").glob("*.mjs")}
    assert max(lines.values()) < 250
    assert lines["driver.mjs"] + lines["reader.mjs"] + lines["file.mjs"] < 200
