"""Saboteurs: each is caught, and the right implementation is not (the whole list is run by tools/saboteurs.py)."""

from __future__ import annotations

import pytest
from suite_support import driver

from adf_conformance.mutants import all_mutants
from adf_conformance.requirements import Selection
from adf_conformance.running import Options, run
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
TERMS = Options((), examples=10, seconds=30, shrink_seconds=0, confirmations=0)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_saboteur_is_caught(name: str) -> None:
    (saboteur,) = [one for one in of_files(driver("toolkit")) if one.name == name]
    options = Options((), Selection(patterns=(SAMPLE[name],)), 30, 10, shrink_seconds=0, confirmations=0)
    (kill,) = kills([saboteur], options)
    assert kill.killers
    assert kill.faults == ()
    assert 0 < kill.steps <= 15


def test_there_are_saboteurs_of_every_role_that_works_on_files() -> None:
    profiles = [mutant.profile for mutant in all_mutants().values()]
    assert min(profiles.count(profile) for profile in ("reader", "validator", "migrator")) >= 10


def test_the_right_implementation_is_not_caught_and_every_when_occurs() -> None:
    selection = Selection(profiles=("reader", "validator", "migrator"))
    report = run(Options(driver("toolkit"), selection, 60, 40, seed=11))
    assert {row.requirement.id: str(row.verdict) for row in report.rows if str(row.verdict) != "pass"} == {}
    assert report.exit_code == 0
    assert all(row.judgement.exercised for row in report.rows)
