"""How strong is the suite? Each saboteur is run, and the requirements that catch it are written down."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adf_conformance.mutants import all_mutants
from adf_conformance.requirements import Selection
from adf_conformance.running.options import Options
from adf_conformance.running.runner import run
from adf_conformance.running.verdicts import BROKEN


@dataclass(frozen=True)
class Saboteur:
    """A broken implementation and how it is started.

    :ivar profiles: profiles that are run against it
    """

    name: str
    command: tuple[str, ...]
    profiles: tuple[str, ...]


@dataclass(frozen=True)
class Kill:
    """What a run found out about one saboteur.

    :ivar killers: requirements that are broken, the first one found first; empty if it survived
    :ivar steps: steps of the smallest case
    :ivar faults: checks that ended early, with the reason: a fault of the suite hides what it would have caught
    """

    saboteur: str
    killers: tuple[str, ...]
    seconds: float
    steps: int = 0
    faults: tuple[str, ...] = ()


def of_files(driver: Sequence[str]) -> list[Saboteur]:
    """Return the saboteurs of readers, validators and migrators, over a driver that is right."""
    proxy = (sys.executable, "-m", "adf_conformance.mutants")
    return [Saboteur(one.name, (*proxy, one.name, "--", *driver), (one.profile,)) for one in all_mutants().values()]


def kills(saboteurs: Sequence[Saboteur], options: Options) -> Iterator[Kill]:
    """Run every saboteur.

    :param options: what they have in common; `command` and `selection` are set here
    """
    for saboteur in saboteurs:
        started = time.monotonic()
        chosen = Selection(saboteur.profiles, options.selection.patterns, "advisory")
        report = run(replace(options, command=saboteur.command, selection=chosen))
        broken = [row for row in report.rows if row.verdict in BROKEN]
        lengths = [len(row.judgement.failure.case.steps) for row in broken if row.judgement.failure]
        names = tuple(row.requirement.id for row in broken)
        faults = tuple(f"{result.check}: {result.fault[1]}" for result in report.checks if result.fault)
        yield Kill(saboteur.name, names, time.monotonic() - started, min(lengths, default=0), faults)
