"""The kill matrix: a case once per model boundary, with SIGKILL at that boundary, judged by what the file says then."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from adf_conformance.checks.bench import Bench, Failure
from adf_conformance.evidence import Violation
from adf_conformance.protocol import DriverFault
from adf_conformance.schedule import Case, Impossible, Scene, Step, Struck

LIMIT = 40  # boundaries of one case that are tried
EPILOGUE: tuple[Step, ...] = ({"do": "start"}, {"do": "drain"}, {"do": "stop"})
"""What happens after the crash: a fresh process opens the file, comes to rest and closes it."""


@dataclass(frozen=True)
class Boundary:
    """One model boundary of a case.

    :ivar number: how many model calls came before
    :ivar failure: what was wrong afterwards, None if nothing was
    """

    number: int
    failure: Failure | None = None


def kill_matrix(bench: Bench, case: Case, judges: tuple[str, ...] = ("file-laws",)) -> list[Boundary]:
    """Play a case with a crash at each of its model boundaries, until one is past the end.

    :param judges: those who judge besides the judges of the case
    """
    boundaries: list[Boundary] = []
    for number in range(LIMIT):
        struck, failure = _with_crash(bench, case, number, judges)
        if not struck:
            break
        boundaries.append(Boundary(number, failure))
    return boundaries


def _with_crash(bench: Bench, case: Case, number: int, judges: tuple[str, ...]) -> tuple[bool, Failure | None]:
    named = list(dict.fromkeys([*case.judges, *judges]))
    like = Case(f"{case.name}-killed-at-{number}", bench.check, [], named, case.law)
    struck = [False]

    def act(scene: Scene) -> None:
        scene.kill_at = number
        try:
            for step in case.steps:
                scene.run(step)
        except Struck:
            struck[0] = True
            scene.history[-1].note = ""
            scene.run({"do": "kill", "struck": True})
            for step in EPILOGUE:
                scene.run(step)
            for one in scene.judges:
                one.finish(scene)

    failure = bench.watch(act, like, shrink=False)
    return struck[0] or failure is not None, failure


def strip(boundaries: list[Boundary]) -> str:
    """Return the matrix as one line: a dot for a boundary where all was well, a cross for one where it was not."""
    return "".join("x" if boundary.failure else "." for boundary in boundaries)


def matrix_of_file(case: Case, command: tuple[str, ...]) -> list[Boundary]:
    """Play a case from a file with crashes, for the command line.

    :raises DriverFault: the driver cannot be used
    """
    from adf_conformance.checks.bench import Terms

    bench = Bench(case.check or "core.case", Terms(command, confirmations=0, shrink_seconds=0))
    try:
        return kill_matrix(bench, case)
    finally:
        bench.close()


def replay(case: Case, command: tuple[str, ...]) -> tuple[str, str]:
    """Play a case from a file as it is; return `FIXED`, `FAILED` or `ERROR`, and why."""
    from adf_conformance.evidence import Ledger

    ledger = Ledger()
    with (
        tempfile.TemporaryDirectory(prefix="adf-conformance-") as place,
        Scene(command, Path(place), ledger, judges_named=case.judges, law=case.law or "case") as scene,
    ):
        try:
            scene.play(case.steps)
        except Violation as violation:
            other = case.requirement not in {"", violation.requirement}
            was = f" (the case was made for {case.requirement})" if other else ""
            return "FAILED", f"{violation.requirement}: {violation.message}{was}"
        except DriverFault as fault:
            return ("FAILED" if case.requirement.endswith(".answers") else "ERROR"), str(fault)
        except Impossible as error:
            return "ERROR", f"the case cannot be played: {error}"
    return "FIXED", "nothing is broken any more" if case.requirement else "nothing is broken"
