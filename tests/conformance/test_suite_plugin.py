"""The plugin of pytest, in a pytest of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from suite_support import PLACES, driver

BLIND = ("-m", "adf_conformance.mutants", "reader.order-by-seq", "--", *driver("toolkit"))


def pytest_run(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(PLACES)}
    env.pop("PYTEST_ADDOPTS", None)
    loaded = "import sys, pytest; import adf_conformance.plugin as p; sys.exit(pytest.main(sys.argv[1:], plugins=[p]))"
    command = [sys.executable, "-c", loaded, "-q", "-p", "no:cacheprovider", "-p", "no:adf-conformance", *arguments]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_each_requirement_is_an_item_with_properties(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("", encoding="utf-8")
    command = shlex.join((sys.executable, *BLIND))
    arguments = ["--adf-driver", command, "--adf-profile", "reader", "-k", "display-order or usage-number"]
    result = pytest_run(tmp_path, *arguments, "--junitxml", "j.xml", "--adf-budget", "1s")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "fail: A transcript is given in the order" in result.stdout
    assert "Traceback" not in result.stdout
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "j.xml").iter("testcase")}
    assert set(cases) == {"reader.display-order", "reader.display-order-ties", "reader.usage-number"}
    properties = {one.get("name"): one.get("value") for one in cases["reader.usage-number"].iter("property")}
    assert (properties["verdict"], properties["level"]) == ("pass", "MUST")
    assert (tmp_path / "adf-cases" / "reader.display-order.json").is_file()


def test_without_the_option_nothing_is_collected_or_imported(tmp_path: Path) -> None:
    told = "import sys\ndef test_x(): assert not [m for m in sys.modules if m.startswith('adf_conformance.r')]\n"
    (tmp_path / "test_x.py").write_text(told, encoding="utf-8")
    result = pytest_run(tmp_path)
    assert "1 passed" in result.stdout, result.stdout + result.stderr
