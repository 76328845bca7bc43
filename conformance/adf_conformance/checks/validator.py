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
    for plan in _certain(versions(bench)[1]):
        bench.watch(partial(_validate, plan=plan), _case("certain", bench), share=True)
    bench.explore(plans(versions(bench)), _validate, _case("valid", bench), share=True)


def _certain(newest: int) -> list[dict[str, Any]]:
    """Return plans of what must be seen in every run: a compacted transcript, several loops."""

    def row(seq: int, said: str, **more: Any) -> dict[str, Any]:
        return {"seq": seq, "role": "user", "blocks": [{"type": "text", "text": said}], **more}

    archived = [row(1, "a"), row(2, "b")]
    compacted = [row(3, "c"), row(5, "[Loop Compacted, audited] a and b", ord=2)]
    loops = [row(3, "c"), row(4, "[from loop:main] d", loop="gardener"), row(5, "e")]
    declared = {"loops": [{"name": "gardener", "goal": "Tend.", "enabled": True, "tools": []}]}
    certain: list[dict[str, Any]] = [
        {"version": 28, "entries": compacted, "snapshots": [{"source": "loop", "entries": archived}]},
        {"version": 29, "entries": loops, "config": declared},
    ]
    return [plan for plan in certain if plan["version"] <= newest]


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
