"""Checks of the profile `validator`."""

from __future__ import annotations

from functools import partial
from typing import Any

from adf_conformance.checks.bench import Bench
from adf_conformance.checks.registry import check
from adf_conformance.format_data import latest, oldest
from adf_conformance.schedule import Case, Scene

FILE = "agent.adf"
PLAIN = "plain.adf"
JUDGES = ["validator"]
ONES = 2  # files for each shape and fault, in a run of the usual size


def _validate(scene: Scene, plan: dict[str, Any]) -> None:
    """Validate a file, then a plain one, then the first again: nothing may stick from one to the next."""
    scene.run({"do": "make", "plan": plan, "file": FILE})
    scene.run({"do": "make", "plan": {"version": plan["version"], "worked": True}, "file": PLAIN})
    for file in (FILE, PLAIN, FILE):
        scene.run({"do": "call", "method": "file/validate", "params": {"path": file}, "expect": "any"})


def versions(bench: Bench) -> tuple[int, int]:
    """Return the storage versions that both the implementation and the suite know."""
    return max(bench.terms.storage[0], oldest()), min(bench.terms.storage[1], latest())


@check("validator.valid", generated=True)
def valid(bench: Bench) -> None:
    """Valid files of every storage version are validated twice each."""
    from adf_conformance.files.strategies import plans

    for version in range(versions(bench)[0], versions(bench)[1] + 1):
        for worked in (False, True):
            plan = {"version": version, "worked": worked}
            bench.watch(partial(_validate, plan=plan), _case("plain", bench), share=True)
    bench.explore(plans(versions(bench)), _validate, _case("valid", bench), share=True)


@check("validator.tolerance", generated=True)
def tolerance(bench: Bench) -> None:
    """Files with one legal oddity each are validated."""
    from adf_conformance.files import SHAPES

    _each(bench, list(SHAPES))


@check("validator.faults", generated=True, weight=1.5)
def faults(bench: Bench) -> None:
    """Files with one fault each are validated."""
    from adf_conformance.files import FAULTS

    _each(bench, list(FAULTS))


def _each(bench: Bench, names: list[str]) -> None:
    """Draw some files for each oddity, the same number for all."""
    from adf_conformance.files.strategies import fits, odd_plans

    usable = [name for name in names if fits(name, versions(bench))]
    rounds = ONES if bench.terms.examples else 20
    for number in range(rounds):
        for name in usable:
            if number and bench.time_is_up:
                return
            bench.draw(odd_plans(name, versions(bench)), _validate, _case(name, bench), share=True, salt=number)


def _case(name: str, bench: Bench) -> Case:
    return Case(name, bench.check, [], list(JUDGES))
