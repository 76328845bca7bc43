"""The corpus is what its builder makes of the rules of today, and says what the validator says."""

import json
from pathlib import Path
from typing import Any

import build_fixtures
import pytest

from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
EXPECTED = sorted(FIXTURES.glob("*/*.expected.json"))
VALID = sorted(FIXTURES.glob("valid/*.adf"))
MANIFEST = json.loads((FIXTURES / "manifest.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    build_fixtures.build(folder)
    return folder


def test_the_corpus_is_up_to_date(built: Path) -> None:
    """Otherwise: run tools/build_fixtures.py."""
    assert build_fixtures.differences(built, FIXTURES) == []


def test_a_changed_missing_or_added_file_is_noticed(built: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, names in ((one, "abc"), (other, "bcd")):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("same" if name != "b" else folder.name)
    (one / "README.md").write_text("by hand")
    assert build_fixtures.differences(one, other) == ["a", "b", "d"]


def test_every_version_has_two_valid_files() -> None:
    assert {path.stem for path in VALID} == {f"v{n}-{base}" for n in range(21, 33) for base in ("fresh", "rich")}


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_file_has_no_finding(path: Path) -> None:
    report = validate_file(path, Options(depth=Depth.DEEP))
    assert report.error is None
    assert report.findings == []


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name.removesuffix(".expected.json"))
def test_what_is_expected_of_a_file_is_what_the_validator_says(path: Path) -> None:
    expected = json.loads(path.read_text("utf-8"))
    file = path.with_name(path.name.removesuffix(".expected.json") + ".adf")
    report = validate_file(file, Options(depth=Depth[expected["depth"].upper()]))
    assert {finding.rule: str(finding.severity) for finding in report.findings} == expected["reported"]
    assert report.schema_version == expected["schema_version"]
    assert (report.error is not None) == (expected["exit"] == 3)
    assert report.valid == (expected["verdict"] == "accepted")


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("invalid/*.expected.json")), ids=lambda path: path.name[:6])
def test_an_invalid_file_gives_the_rule_that_it_is_about(path: Path) -> None:
    expected = json.loads(path.read_text("utf-8"))
    assert expected["reported"][expected["rule"]] == expected["severity"]
    if expected["severity"] == "error":
        assert expected["verdict"] == "rejected"


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("near-miss/*.expected.json")), ids=lambda path: path.name[:6])
def test_a_near_miss_is_accepted_and_not_reported_under_its_rule(path: Path) -> None:
    expected = json.loads(path.read_text("utf-8"))
    assert expected["verdict"] == "accepted"
    assert expected["rule"] not in expected["reported"]


def test_the_manifest_names_every_file_and_the_corpus_stays_small() -> None:
    listed = {entry["path"] for entry in MANIFEST["entries"]}
    present = {path.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("*.adf")}
    present = {name for name in present if not name.startswith(build_fixtures.ELSEWHERE)}
    assert listed == present
    assert sum(path.stat().st_size for path in FIXTURES.rglob("*") if path.is_file()) < 17_000_000


def test_wrong_usage_of_the_builder(capsys: Any) -> None:
    assert build_fixtures.main(["--frobnicate"]) == 2
    assert "usage:" in capsys.readouterr().err
