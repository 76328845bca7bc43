"""What the user wants: from a file, a preset, the command line; errors name the nearest word."""

from __future__ import annotations

from pathlib import Path

import pytest

from adf_format.errors import UsageError
from adf_format.validation import settings as module
from adf_format.validation.context import Depth
from adf_format.validation.rule import Severity
from adf_format.validation.settings import Settings, find, load, presets

pytestmark = pytest.mark.usefixtures("few_rules")
ALL = {"ADF312", "ADF501", "ADF801"}


def written(folder: Path, text: str, name: str = "adf-format.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_all_rules_are_wanted_unless_some_are_named() -> None:
    assert Settings().wanted() == ALL
    assert Settings(select=("ADF5", "json-shape")).wanted() == {"ADF501", "ADF312"}
    assert Settings(select=("ALL",), ignore=("ADF5xx",)).wanted() == ALL - {"ADF501"}


@pytest.mark.parametrize(
    ("pattern", "suggestion"),
    [("ADF502", "'ADF501'"), ("snapshot-no-brotli", "'snapshot-not-brotli'"), ("json_shape", "'json-shape'")],
)
def test_an_unknown_rule_is_refused_with_the_nearest_one(pattern: str, suggestion: str) -> None:
    with pytest.raises(UsageError, match=f"no rule '{pattern}'; did you mean {suggestion}"):
        Settings(select=("ADF501", pattern)).wanted()


def test_a_severity_of_a_rule_comes_after_the_preset() -> None:
    settings = Settings(preset="strict", severity={"ADF3": "info"})
    assert settings.severities() == {"ADF312": Severity.INFO, "ADF801": Severity.WARNING}


def test_the_legacy_preset_only_mentions_warnings() -> None:
    assert Settings(preset="legacy").severities() == {"ADF312": Severity.INFO}


def test_every_preset_says_what_it_is_for() -> None:
    assert {name: set(preset) - {"about", "default", "severity"} for name, preset in presets().items()} == {
        "strict": set(),
        "legacy": set(),
    }
    assert all(preset["about"] for preset in presets().values())


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'strict'"):
        Settings(preset="strikt").severities()


def test_a_file_sets_everything(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        select = ["ADF5", "ADF3"]
        ignore = "ADF312"
        fail-on = "warning"
        depth = "deep"
        preset = "strict"
        jobs = 2
        timeout = 1.5
        memory = 512
        baseline = "known.json"
        severity = { ADF501 = "info" }
        per-file-ignores = { "old/*" = ["ADF501"] }
        """,
    )
    settings = load(path)
    assert settings.options().depth is Depth.DEEP
    assert settings.options().deadline == 1.5
    assert settings.wanted() == {"ADF501"}
    assert settings.threshold() is Severity.WARNING
    assert settings.baseline == str(tmp_path / "known.json")
    assert (settings.jobs, settings.memory) == (2, 512)


@pytest.mark.parametrize("where", ["old/a.adf", "./old/a.adf", "{base}/old/a.adf"])
def test_rules_are_ignored_per_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load(written(tmp_path, 'per-file-ignores = { "old/*" = ["ADF5"], "b.adf" = ["ALL"] }'))
    options = settings.options()
    assert settings.options_for(where.format(base=tmp_path), options).wanted == ALL - {"ADF501"}
    assert settings.options_for("new/a.adf", options).wanted == ALL
    assert settings.options_for("new/b.adf", options).wanted == frozenset()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selekt = []", "unknown setting 'selekt'; did you mean 'select'?"),
        ("select = 5", "the setting 'select' is wrong"),
        ('select = ["a", 5]', "the setting 'select' is wrong"),
        ('fail-on = "fatal"', "'fatal' is not one of error, warning, info, never"),
        ('severity = { ADF501 = "fatal" }', "'fatal' is not one of error, warning, info"),
        ('severity = "x"', "a table is expected"),
        ("jobs = true", "a number from 0 up is expected"),
        ("jobs = -1", "a number from 0 up is expected"),
        ("jobs = 1.5", "a number from 0 up is expected"),
        ("timeout = nan", "a number from 0.001 to 1e+06 is expected"),
        ("baseline = 1", "a text is expected"),
        ("select = [", "the settings are not TOML"),
        ("a = " + "[" * 5000, "the settings are not TOML"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_settings_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_a_wrong_rule_per_file_is_refused_before_any_file_is_read(tmp_path: Path) -> None:
    settings = load(written(tmp_path, 'per-file-ignores = { "*" = ["ADF999"] }'))
    with pytest.raises(UsageError, match="ADF999"):
        settings.options()


def test_the_nearest_settings_count(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find(inner) in (None, *(parent / module.FILE_NAME for parent in tmp_path.parents))
    written(tmp_path, "[tool.other]", "pyproject.toml")
    outer = written(tmp_path, "")
    assert find(inner) == outer
    project = written(tmp_path / "a", "[tool.adf-format]\njobs = 3", "pyproject.toml")
    assert find(inner) == project
    assert load(project).jobs == 3
