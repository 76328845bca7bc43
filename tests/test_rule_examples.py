"""Each rule reports its own counter-example, and is silent on its near miss."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adf_format import sample
from adf_format.memory.lint import examples
from adf_format.memory.lint.workspace import Moment, check_workspace
from adf_format.schemas import LATEST, OLDEST
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Example, Rule, all_rules

RULES = [pytest.param(rule, id=f"{rule.id}-{rule.name}") for rule in all_rules().values()]
DEEP = Options(depth=Depth.DEEP)
MOMENT = Moment(datetime.fromisoformat(examples.NOW), UTC)


def look(path: Path, change: Example) -> FileReport:
    if change.files:
        examples.build(path, change)
        return check_workspace(path, MOMENT)
    sample.example(path, change)
    return validate_file(path, DEEP)


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_reports_its_counter_example(rule: Rule, tmp_path: Path) -> None:
    report = look(tmp_path / "a.adf", rule.fires)
    assert {finding.severity for finding in report.findings if finding.rule == rule.id} == {rule.severity}


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_is_silent_on_its_near_miss(rule: Rule, tmp_path: Path) -> None:
    report = look(tmp_path / "a.adf", rule.silent)
    assert report.error is None
    assert not [finding for finding in report.findings if finding.rule == rule.id]


@pytest.mark.parametrize("rule", RULES)
def test_both_examples_are_of_a_version_that_the_rule_applies_to(rule: Rule) -> None:
    assert rule.applies(rule.fires.on)
    assert rule.fires != rule.silent


@pytest.mark.parametrize("base", ["fresh", "rich"])
@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_the_sample_as_it_is_gives_no_finding(version: int, base: str, tmp_path: Path) -> None:
    report = look(tmp_path / "a.adf", Example(on=version, base=base))
    assert report.error is None
    assert [(finding.rule, finding.message) for finding in report.findings] == []
    assert report.stats.not_checked == []
