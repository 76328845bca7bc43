"""From evidence to verdicts: nothing passes by silence, everything that is expected and does not happen is stale."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import build_requirements
import pytest
from suite_support import REPOSITORY, driver

from adf_conformance.checks import all_checks
from adf_conformance.checks.bench import Failure, Terms
from adf_conformance.requirements import LEVELS, Requirement, Selection, load, locked
from adf_conformance.running import Expectation, NoExpectations, Options, Verdict, load_expectations, run
from adf_conformance.running.expectations import unmatched
from adf_conformance.running.report import Report, Row
from adf_conformance.running.runner import run_check
from adf_conformance.running.verdicts import CheckResult, Judgement, judge
from adf_conformance.schedule import Case

TODAY = dt.date(2026, 12, 1)
REQUIREMENT = Requirement("core.x", "MUST", ("STO-032",), "It is so.", "it happens", ("core.a", "core.b"))
ALL = frozenset({"core", "clock"})


def failure(message: str = "it is not", reproduced: tuple[int, int] = (2, 2)) -> Failure:
    return Failure("core.x", message, Case("c", "core.a", []), reproduced=reproduced)


def verdict(*results: CheckResult, expect: Any = (), capabilities: Any = ALL, about: Any = REQUIREMENT) -> Judgement:
    return judge(about, {one.check: one for one in results}, capabilities, expect, TODAY)


def test_what_was_exercised_and_not_broken_passes() -> None:
    found = verdict(CheckResult("core.a", {"core.x": 3}), CheckResult("core.b", {"core.x": 4}))
    assert (found.verdict, found.exercised) == (Verdict.PASS, 7)


def test_what_never_occurred_is_inconclusive_however_much_else_did() -> None:
    found = verdict(CheckResult("core.a", {"core.y": 99}))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "it happens" in found.note
    assert verdict().verdict is Verdict.INCONCLUSIVE


def test_what_is_not_claimed_is_not_judged() -> None:
    assert verdict(CheckResult("core.a", {"core.x": 1}), capabilities=frozenset()).verdict is Verdict.NOT_CLAIMED
    timed = Requirement("core.x", "MUST", (), "t", "w", ("core.a",), needs="clock")
    assert verdict(about=timed, capabilities=frozenset({"core"})).verdict is Verdict.NOT_CLAIMED


def test_one_failure_is_enough_and_one_that_comes_and_goes_is_flaky() -> None:
    sound = CheckResult("core.a", {"core.x": 9})
    assert verdict(sound, CheckResult("core.b", {}, [failure()])).verdict is Verdict.FAIL
    found = verdict(sound, CheckResult("core.b", {}, [failure(reproduced=(1, 2))]))
    assert (found.verdict, found.note) == (Verdict.FLAKY, "2/3: it is not")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (("protocol-error", "bad"), Verdict.PROTOCOL_ERROR),
        (("harness-error", "ours"), Verdict.HARNESS_ERROR),
        (("untestable", "gone"), Verdict.UNTESTABLE),
    ],
)
def test_a_check_that_ended_early_does_not_let_anything_pass(fault: tuple[str, str], expected: Verdict) -> None:
    assert verdict(CheckResult("core.a", {"core.x": 5}, fault=fault)).verdict is expected
    assert verdict(CheckResult("core.a", {"core.x": 5}, [failure()], fault=fault)).verdict is Verdict.FAIL
    assert verdict(CheckResult("other.z", {"core.x": 5}, fault=fault)).verdict is Verdict.PASS


def test_a_prerequisite_that_failed_is_named() -> None:
    other = Failure("core.answers", "no answer", Case("c", "core.a", []))
    found = verdict(CheckResult("core.a", {}, [other]))
    assert (found.verdict, found.note) == (Verdict.UNTESTABLE, "prerequisite failed: core.answers")


def test_what_no_black_box_can_test_counts_against_nobody() -> None:
    found = verdict(about=Requirement("core.x", "MUST", (), "t", "w", untestable="hidden"))
    assert (found.verdict, found.by_design, found.note) == (Verdict.UNTESTABLE, True, "hidden")


# --- expectations


def test_an_expected_failure_is_none_that_counts() -> None:
    found = verdict(CheckResult("core.a", {}, [failure()]), expect=(Expectation("core.*", "known", message="is not"),))
    assert found.verdict is Verdict.EXPECTED_FAIL
    assert found.note == "known: it is not"


def test_an_expectation_that_passes_fails_otherwise_or_is_over_fails_the_run() -> None:
    broken = CheckResult("core.a", {}, [failure()])
    passing = verdict(CheckResult("core.a", {"core.x": 1}), expect=(Expectation("core.x", "r"),))
    other = verdict(broken, expect=(Expectation("core.x", "r", message="something else"),))
    over = verdict(broken, expect=(Expectation("core.x", "r", until=dt.date(2026, 11, 30)),))
    assert [one.verdict for one in (passing, other, over)] == [Verdict.STALE, Verdict.FAIL, Verdict.STALE]


def test_an_expectation_of_nothing_is_named_with_its_nearest_neighbour() -> None:
    lost = unmatched([Expectation("core.chat-rwo", "r"), Expectation("loops.*", "r")], ["core.chat-row", "loops.x"])
    assert lost == {"core.chat-rwo": "core.chat-row"}


def test_expectations_are_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "expected.toml"
    path.write_text('[[expect]]\nid = "core.x"\nreason = "r"\nuntil = 2027-01-31\n', encoding="utf-8")
    assert load_expectations(path) == (Expectation("core.x", "r", until=dt.date(2027, 1, 31)),)


@pytest.mark.parametrize(
    "text",
    ["[[expect]]\nid = 'x'\n", "[[expect]]\nid='x'\nreason='r'\ncolour='red'\n", "[[expect]]\nid='x'\nreason=1\n", "[[",
     "[[expect]]\nid='x'\nreason='r'\nuntil='soon'\n", "expect = [1]\n"],
)  # fmt: skip
def test_what_is_no_list_of_expectations_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(text, encoding="utf-8")
    with pytest.raises(NoExpectations):
        load_expectations(tmp_path / "e.toml")


# --- reports


def report(*rows: tuple[Verdict, bool], **more: Any) -> Report:
    made = [Row(REQUIREMENT, Judgement(one, exercised=2), counts) for one, counts in rows]
    return Report("0.7.4", "suite", "./driver", 0, 1.0, {}, made, **more)


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (report((Verdict.PASS, True)), 0),
        (report((Verdict.PASS, True), (Verdict.FAIL, False)), 0),
        (report((Verdict.PASS, True), (Verdict.EXPECTED_FAIL, True)), 0),
        (report((Verdict.PASS, True), (Verdict.NOT_CLAIMED, True)), 0),
        (report((Verdict.PASS, True), (Verdict.INCONCLUSIVE, True)), 3),
        (report((Verdict.PASS, True), (Verdict.HARNESS_ERROR, True)), 3),
        (report((Verdict.INCONCLUSIVE, True), (Verdict.FAIL, True)), 1),
        (report((Verdict.FLAKY, True)), 1),
        (report((Verdict.PROTOCOL_ERROR, True)), 1),
        (report((Verdict.PASS, True), (Verdict.STALE, False)), 1),
        (report((Verdict.PASS, True), lost={"core.z": ""}), 1),
        (report((Verdict.NOT_CLAIMED, True)), 3),
        (report(), 3),
    ],
)
def test_the_exit_code_follows_from_what_counts(made: Report, code: int) -> None:
    assert made.exit_code == code


def test_sums_are_never_over_nothing() -> None:
    made = report(
        (Verdict.PASS, True), (Verdict.EXPECTED_FAIL, True), (Verdict.FAIL, False), (Verdict.NOT_CLAIMED, True)
    )
    assert made.tally() == {"passed": 1, "required": 2, "exercised": 4}


# --- the list of requirements


def test_there_are_enough_requirements_and_most_have_a_check() -> None:
    requirements = load().values()
    assert len(requirements) >= 250
    assert sum(not one.untestable for one in requirements) >= 0.85 * len(requirements)


def test_what_a_requirement_demands_is_frozen() -> None:
    assert locked() == {one.id: one.digest for one in load().values()}
    assert build_requirements.changed(load()) == []


def test_the_page_of_requirements_is_what_the_tool_would_write() -> None:
    page = REPOSITORY / "docs" / "requirements.md"
    assert page.read_text(encoding="utf-8") == build_requirements.page(load()), "run tools/build_requirements.py"


@pytest.mark.parametrize("requirement", load().values(), ids=lambda one: one.id)
def test_a_requirement_says_where_it_comes_from_and_when_it_holds(requirement: Requirement) -> None:
    assert requirement.source
    assert requirement.level in LEVELS
    assert requirement.text.endswith(".")
    assert requirement.when
    if requirement.profile in {"reader", "validator", "migrator"}:
        assert any(requirement.covered_by(name) for name in all_checks())


@pytest.mark.parametrize("name", all_checks())
def test_a_check_covers_something_and_says_what_it_does(name: str) -> None:
    assert any(one.covered_by(name) for one in load().values())
    assert all_checks()[name].tells.endswith(".")


def test_requirements_are_selected_by_id_glob_check_rule_and_section() -> None:
    def selected(*patterns: str) -> set[str]:
        return {one.id for one in Selection(patterns=patterns).of(load().values())}

    assert selected("reader.display-order") == {"reader.display-order"}
    assert "loops.wake-idle" in selected("loops.wake-*")
    assert "core.display-order" in selected("STO-032")
    assert selected("LOOP") >= selected("LOOP-103")
    assert "core.compact-deletes" in selected("MM LLM-Powered Compaction")
    assert "migrator.crash-whole" in selected("migrator.crash")


# --- whole runs with drivers that misbehave


def outcome(mode: str) -> dict[str, str]:
    """The verdicts of one requirement after a run of one check."""
    terms = Terms(driver("fake", mode), patience=1, examples=2, shrink_seconds=0, confirmations=1)
    return {"fault": json.dumps(run_check("validator.valid", terms, 20).fault)}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("wrong-shape", "protocol-error"),
        ("ask-nonsense", "protocol-error"),
        ("claims-only", "null"),
        ("garbage", "null"),
        ("chatty", "null"),
        ("slow", "null"),
    ],
)
def test_a_check_ends_with_the_right_fault(mode: str, expected: str) -> None:
    assert expected in outcome(mode)["fault"]


def verdicts(mode: str, *patterns: str) -> dict[str, str]:
    selection = Selection(patterns=patterns or ("validator.accepts-fresh", "validator.answers"))
    options = Options(driver("fake", mode), selection, 10, 1, patience=1, shrink_seconds=0, confirmations=1)
    return {row.requirement.id: str(row.verdict) for row in run(options).rows}


def test_a_driver_that_dies_fails_to_answer_and_the_rest_is_untestable() -> None:
    assert verdicts("die") == {"validator.answers": "fail", "validator.accepts-fresh": "untestable"}


def test_a_driver_that_claims_what_it_does_not_have_fails() -> None:
    assert verdicts("claims-only") == {"validator.answers": "fail", "validator.accepts-fresh": "untestable"}


def test_a_driver_that_does_not_start_passes_nothing() -> None:
    options = Options(("/no/such/driver",), Selection(profiles=("reader",)))
    made = run(options)
    assert made.exit_code == 3
    assert made.tally()["passed"] == 0
    assert "cannot be started" in made.trouble or "No such file" in made.trouble
