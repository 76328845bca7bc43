"""Every fix mends the example of its rule, changes nothing else, and can be taken back."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from adf_format import sample
from adf_format.digest import Digest, digest
from adf_format.repair import FIXES, Fix, Kind, fixes_of, plan, repair, undo
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.report import FileReport
from adf_format.validation.rule import all_rules

ELSEWHERE = {
    # the example of the rule is a place that the fix does not know; this one it knows
    "ADF301": "UPDATE adf_files SET content = 'text', size = 4 WHERE path = 'notes/plan.md'",
    "ADF475": (
        "UPDATE adf_config SET config_json = json_set(config_json, '$.tools[#]',"
        ' json(\'{"name":"container_exec","enabled":false,"visible":false}\'))'
    ),
}
NAME = "SELECT fullkey FROM json_tree(config_json) WHERE value = 'compute_exec' AND key = 'name'"
UNNAMED = f"json_remove(config_json, ({NAME}))"


def of(path: Path) -> Digest:
    connection = apsw.Connection(str(path))
    try:
        return digest(connection)
    finally:
        connection.close()


def report(path: Path) -> FileReport:
    return validate_file(path, Options())


def broken(path: Path, fix: Fix) -> Path:
    """The example of the fix's rule."""
    if fix.rule not in ELSEWHERE:
        sample.example(path, all_rules()[fix.rule].fires)
        return path
    sample.build(path, 32)
    connection = apsw.Connection(str(path))
    if fix.rule == "ADF475":
        connection.execute(f"UPDATE adf_config SET config_json = {UNNAMED}")
        text = connection.execute("SELECT config_json FROM adf_config").get
        assert "compute_exec" not in text
    connection.execute(ELSEWHERE[fix.rule])
    connection.close()
    return path


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: f"{fix.rule}-{fix.kind}")
def test_a_fix_mends_its_rule_and_nothing_else(tmp_path: Path, fix: Fix) -> None:
    path = broken(tmp_path / "ada.adf", fix)
    kinds, wanted = frozenset({fix.kind}), frozenset({fix.rule})
    old, before = report(path), of(path)
    bytes_before = path.read_bytes()
    planned = plan(path, kinds, wanted)
    assert path.read_bytes() == bytes_before
    outcome = repair(path, kinds, wanted)
    assert outcome.plan.changes
    assert [(one.action, one.table, one.rowid, one.column) for one in outcome.plan.changes] == [
        (one.action, one.table, one.rowid, one.column) for one in planned.changes
    ]
    new = report(path)
    assert fix.rule in {finding.rule for finding in old.findings}
    assert fix.rule not in {finding.rule for finding in new.findings if finding.rule != "ADF301"}
    assert outcome.backup is not None
    assert outcome.backup.read_bytes() == bytes_before
    assert set(of(path).differing(before)) <= {one.table for one in outcome.plan.changes} | {"sqlite_sequence"}
    assert not repair(path, kinds, wanted).plan.changes
    if outcome.undo is None:
        assert {one.action for one in outcome.plan.changes} == {"index"}
        return
    undo(path, outcome.undo)
    assert set(of(path).differing(before)) <= ({"sqlite_sequence"} if fix.rule == "ADF608" else set())


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: f"{fix.rule}-{fix.kind}")
def test_a_fix_is_made_only_by_whoever_asks_for_its_class(tmp_path: Path, fix: Fix) -> None:
    path = broken(tmp_path / "ada.adf", fix)
    before = path.read_bytes()
    others = frozenset(Kind) - {fix.kind}
    outcome = repair(path, others, frozenset({fix.rule}))
    assert not outcome.plan.changes
    assert fix in outcome.plan.offered
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["ada.adf"]


def test_fixes_are_of_rules_that_exist_and_say_what_they_do() -> None:
    for fix in FIXES:
        assert fix.rule in all_rules()
        assert fix.does
        assert fix.because
        assert fix in fixes_of(fix.rule)
    assert {fix.kind for fix in FIXES if fix.rule.startswith("ADF5") and fix.rule != "ADF521"} == {Kind.GUESS}


@pytest.mark.parametrize(
    "rule",
    [rule for rule in all_rules().values() if rule.fires.content is None and not rule.fires.files],
    ids=lambda rule: rule.id,
)
def test_whatever_is_wrong_a_plan_is_made_or_refused_and_never_makes_it_worse(tmp_path: Path, rule: object) -> None:
    from adf_format.errors import AdfError

    path = tmp_path / "ada.adf"
    sample.example(path, rule.fires)  # type: ignore[attr-defined]
    try:
        planned = plan(path, frozenset(Kind))
    except AdfError:
        return
    severe = {name for name, one in all_rules().items() if one.severity > 1}
    for name, count in planned.after.items():
        assert name not in severe or count <= planned.before.get(name, 0), name


def test_the_page_lists_every_fix() -> None:
    page = (Path(__file__).parents[2] / "docs" / "repair.md").read_text("utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| ADF")]
    assert sorted(listed) == sorted(f"| {fix.rule} | {fix.kind} | {fix.does} | {fix.because} |" for fix in FIXES)
