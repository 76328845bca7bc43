"""From evidence to a verdict per requirement."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from adf_conformance.checks.bench import ANSWERS, Failure
from adf_conformance.requirements import Requirement
from adf_conformance.running.expectations import Expectation


class Verdict(StrEnum):
    """What is known about one requirement."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    FLAKY = "flaky"
    NOT_CLAIMED = "not-claimed"
    INCONCLUSIVE = "inconclusive"
    UNTESTABLE = "untestable"
    EXPECTED_FAIL = "expected-fail"
    STALE = "stale-expectation"
    PROTOCOL_ERROR = "protocol-error"
    HARNESS_ERROR = "harness-error"


BROKEN = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.STALE, Verdict.PROTOCOL_ERROR})
UNKNOWN = frozenset({Verdict.INCONCLUSIVE, Verdict.UNTESTABLE, Verdict.HARNESS_ERROR})


@dataclass(frozen=True)
class CheckResult:
    """What one check saw.

    :ivar exercised: how often the "when" of each requirement occurred
    :ivar fault: why the check ended early: kind (`protocol-error`, `harness-error`, `untestable`) and text
    :ivar malformed: lines of stdout that were no messages
    """

    check: str
    exercised: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[Failure] = ()
    fault: tuple[str, str] | None = None
    malformed: Sequence[str] = ()
    examples: int = 0
    seconds: float = 0.0
    stderr: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdict on one requirement.

    :ivar note: why, in words
    :ivar exercised: how often its "when" occurred
    :ivar by_design: no black box can test it; that does not count against anybody
    """

    verdict: Verdict
    note: str = ""
    exercised: int = 0
    failure: Failure | None = None
    by_design: bool = False


def judge(
    requirement: Requirement,
    results: Mapping[str, CheckResult],
    capabilities: frozenset[str],
    expectations: Sequence[Expectation],
    today: dt.date,
) -> Judgement:
    """Make the verdict on one requirement.

    :param results: what the checks saw that were run, by name
    """
    if requirement.untestable:
        return Judgement(Verdict.UNTESTABLE, requirement.untestable, by_design=True)
    for needed in filter(None, (requirement.profile, requirement.needs)):
        if needed not in capabilities:
            return Judgement(Verdict.NOT_CLAIMED, f"the driver does not claim {needed!r}")
    found = _observed(requirement, results)
    return _expected(requirement, found, expectations, today)


def _observed(requirement: Requirement, everything: Mapping[str, CheckResult]) -> Judgement:
    """Look at evidence from every check; only faults of those that cover the requirement stand in its way."""
    times = sum(result.exercised.get(requirement.id, 0) for result in everything.values())
    found = [failure for result in everything.values() for failure in result.failures]
    failures = [failure for failure in found if failure.requirement == requirement.id]
    if failures:
        return _failed(failures[0], times)
    results = [result for name, result in everything.items() if requirement.covered_by(name)]
    faults = [result.fault for result in results if result.fault]
    for kind in (Verdict.PROTOCOL_ERROR, Verdict.HARNESS_ERROR):
        for named, text in faults:
            if named == kind:
                return Judgement(kind, text, times)
    if times and not faults:
        return Judgement(Verdict.PASS, exercised=times)
    if faults:
        return Judgement(Verdict.UNTESTABLE, faults[0][1], times)
    return _silent(requirement, results)


def _failed(failure: Failure, times: int) -> Judgement:
    again, tries = failure.reproduced
    if again == tries:
        return Judgement(Verdict.FAIL, failure.message, times, failure)
    return Judgement(Verdict.FLAKY, f"{again + 1}/{tries + 1}: {failure.message}", times, failure)


def _silent(requirement: Requirement, results: Sequence[CheckResult]) -> Judgement:
    if not results:
        return Judgement(Verdict.INCONCLUSIVE, "none of its checks was run")
    broken = [failure.requirement for result in results for failure in result.failures]
    if any(name.endswith(f".{ANSWERS}") for name in broken):
        return Judgement(Verdict.UNTESTABLE, f"prerequisite failed: {broken[0]}")
    if broken:
        return Judgement(Verdict.UNTESTABLE, f"prerequisite failed: {broken[0]}, which ended the case before")
    return Judgement(Verdict.INCONCLUSIVE, f'its "when" never occurred: {requirement.when}')


def _expected(
    requirement: Requirement, found: Judgement, expectations: Sequence[Expectation], today: dt.date
) -> Judgement:
    mine = next((one for one in expectations if one.means(requirement.id)), None)
    if mine is None:
        return found
    if found.verdict in {Verdict.FAIL, Verdict.FLAKY}:
        if not mine.explains(found.note):
            return Judgement(
                Verdict.FAIL, f"fails otherwise than expected: {found.note}", found.exercised, found.failure
            )
        if mine.expired(today):
            note = f"the expectation ended on {mine.until}: {found.note}"
            return Judgement(Verdict.STALE, note, found.exercised, found.failure)
        return Judgement(Verdict.EXPECTED_FAIL, f"{mine.reason}: {found.note}", found.exercised, found.failure)
    if found.verdict is Verdict.PASS:
        return Judgement(Verdict.STALE, f"passes although {mine.id!r} expects a failure", found.exercised)
    return found
