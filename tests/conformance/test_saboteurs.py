"""Saboteurs: each is caught, and the right implementation is not (the whole list is run by tools/saboteurs.py)."""

from __future__ import annotations

import pytest
from suite_support import driver

from adf_conformance.checks.bench import Terms
from adf_conformance.mutants import all_mutants
from adf_conformance.requirements import Selection
from adf_conformance.running import Options, run
from adf_conformance.running.runner import run_check
from adf_conformance.running.strength import kills, of_files

SAMPLE = {
    "reader.log-ignored": "reader.cases",
    "reader.null-ranges-skipped": "reader.cases",
    "validator.leaves-traces": "validator.valid",
    "validator.unknown-tables-rejected": "validator.tolerance",
    "validator.ranges-unchecked": "validator.faults",
    "migrator.log-lost": "migrator.cases",
    "migrator.protection-lost": "migrator.generated",
}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_saboteur_is_caught(name: str) -> None:
    (saboteur,) = [one for one in of_files(driver("toolkit")) if one.name == name]
    result = run_check(SAMPLE[name], Terms(saboteur.command, examples=10, shrink_seconds=0, confirmations=0), 10)
    assert result.fault is None
    assert result.failures
    assert all(len(failure.case.steps) <= 15 for failure in result.failures)


def test_the_score_names_who_caught_whom() -> None:
    (saboteur,) = [one for one in of_files(driver("toolkit")) if one.name == "migrator.log-lost"]
    options = Options((), Selection(patterns=("migrator.log-included",)), 5, 5, shrink_seconds=0, confirmations=0)
    (kill,) = kills([saboteur], options)
    assert kill.killers == ("migrator.log-included",)
    assert kill.faults == ()


def test_there_are_saboteurs_of_every_role_that_works_on_files() -> None:
    profiles = [mutant.profile for mutant in all_mutants().values()]
    assert min(profiles.count(profile) for profile in ("reader", "validator", "migrator")) >= 10


def test_the_right_implementation_is_not_caught_and_every_when_occurs() -> None:
    """The number of examples ends the run, not the time: which they are follows from the seed, on any machine."""
    selection = Selection(profiles=("reader", "validator", "migrator"))
    report = run(Options(driver("toolkit"), selection, seconds=600, examples=15, seed=11))
    assert {row.requirement.id: str(row.verdict) for row in report.rows if str(row.verdict) != "pass"} == {}
    assert report.exit_code == 0
    assert all(row.judgement.exercised for row in report.rows)
