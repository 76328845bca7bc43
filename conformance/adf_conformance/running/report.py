"""The result of a run, as a value: everything that any form of report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from adf_conformance.requirements import LEVELS, Requirement
from adf_conformance.running.verdicts import BROKEN, UNKNOWN, CheckResult, Judgement, Verdict

FORMAT = 1
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_UNKNOWN = 0, 1, 2, 3


@dataclass(frozen=True)
class Row:
    """One requirement with its verdict.

    :ivar counts: whether a failure of it fails the run
    :ivar case: name of the file of its case, below the folder of cases
    """

    requirement: Requirement
    judgement: Judgement
    counts: bool
    case: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return self.judgement.verdict


@dataclass(frozen=True)
class Report:
    """The result of a run.

    :ivar driver: what the driver said about itself: name, version, language, storage, capabilities
    :ivar command: how it was started
    :ivar trouble: what ended the run before it began
    :ivar lost: expectations that mean no requirement, with the nearest id
    """

    spec: str
    suite: str
    command: str
    seed: int
    seconds: float
    driver: dict[str, Any]
    rows: Sequence[Row]
    checks: Sequence[CheckResult] = ()
    trouble: str = ""
    lost: dict[str, str] = field(default_factory=dict)

    @property
    def required(self) -> list[Row]:
        """Rows that count and whose profile is claimed, those that no black box can test left out."""
        counted = (row for row in self.rows if row.counts and not row.judgement.by_design)
        return [row for row in counted if row.verdict is not Verdict.NOT_CLAIMED]

    @property
    def exit_code(self) -> int:
        """0 conforms, 1 fails or stale, 3 inconclusive or could not be tested."""
        verdicts = {row.verdict for row in self.required}
        stale = any(row.verdict is Verdict.STALE for row in self.rows)
        if verdicts & BROKEN or stale or self.lost:
            return EXIT_FAILED
        if self.trouble or verdicts & UNKNOWN or not self.required:
            return EXIT_UNKNOWN
        return EXIT_OK

    @property
    def malformed(self) -> list[str]:
        """Lines of the driver that were no messages."""
        return list(dict.fromkeys(line for result in self.checks for line in result.malformed))

    def tally(self, profile: str | None = None) -> dict[str, int]:
        """Count what is required: passed, required, and how often it was exercised.

        Expected failures are required and not passed.
        """
        rows = [row for row in self.required if profile in {None, row.requirement.profile}]
        passed = sum(row.verdict is Verdict.PASS for row in rows)
        return {
            "passed": passed,
            "required": len(rows),
            "exercised": sum(row.judgement.exercised for row in rows),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the report in the shape of `schemas/output/conformance-report/1.json`, in a stable order."""
        return {
            "format": FORMAT,
            "spec": self.spec,
            "suite": self.suite,
            "driver": {"command": self.command, **self.driver},
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "exit_code": self.exit_code,
            "trouble": self.trouble,
            "summary": {
                "total": self.tally(),
                "profiles": {name: self.tally(name) for name in self._profiles()},
                "verdicts": dict(sorted(Counter(str(row.verdict) for row in self.rows).items())),
            },
            "requirements": [_row(row) for row in self.rows],
            "checks": [_check(result) for result in self.checks],
            "malformed": self.malformed,
            "unmatched_expectations": self.lost,
        }

    def _profiles(self) -> list[str]:
        return list(dict.fromkeys(row.requirement.profile for row in self.rows))


def _row(row: Row) -> dict[str, Any]:
    requirement, judgement = row.requirement, row.judgement
    told: dict[str, Any] = {
        "id": requirement.id,
        "profile": requirement.profile,
        "level": requirement.level,
        "source": list(requirement.source),
        "text": requirement.text,
        "when": requirement.when,
        "checks": list(requirement.checks),
        "counts": row.counts,
        "verdict": str(judgement.verdict),
        "exercised": judgement.exercised,
        "note": judgement.note,
        "by_design": judgement.by_design,
    }
    if row.case:
        told["case_file"] = row.case
    if judgement.failure:
        failure = judgement.failure
        told["failure"] = {
            "message": failure.message,
            "reproduced": list(failure.reproduced),
            "case": asdict(failure.case),
            "steps_before_shrinking": failure.shrunk,
            "timeline": failure.timeline,
            "changes": failure.changes,
            "details": failure.details,
            "stderr": failure.stderr,
        }
    return told


def _check(result: CheckResult) -> dict[str, Any]:
    told = {"id": result.check, "examples": result.examples, "seconds": round(result.seconds, 2)}
    return told | {"fault": list(result.fault) if result.fault else None}


def weakest_first(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that need attention, the most serious first."""
    order = [*sorted(BROKEN), *sorted(UNKNOWN), Verdict.EXPECTED_FAIL]
    shown = [row for row in rows if row.verdict in order and not row.judgement.by_design]
    return sorted(
        shown, key=lambda row: (not row.counts, order.index(row.verdict), LEVELS.index(row.requirement.level))
    )
