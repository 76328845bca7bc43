"""Base of the Hypothesis state machines: rules choose steps, the scene does them, judges judge.

Rules call `do`. After a violation, or once time is up, the rest of the run does nothing, so that Hypothesis goes on to
the next one: it draws, and never shrinks. Each machine is one generated check:

    class Loops(Machine):
        judges = ("loops",)

        @rule(text=texts)
        def chat(self, text): self.do({"do": "chat", "text": text})

    @check("loops.machine", generated=True)
    def loops_machine(bench): run_machine(bench, Loops)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from typing import ClassVar

from hypothesis import seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from adf_conformance.checks.bench import Bench, drawing
from adf_conformance.evidence import Violation
from adf_conformance.protocol import DriverFault
from adf_conformance.schedule import Case, Impossible, Outcome, Scene, Step

STEPS = 30  # steps of one run


class Machine(RuleBasedStateMachine):
    """A state machine whose every step is data.

    :ivar scene: where it happens
    :ivar over: a requirement was broken, or time is up: nothing more is done
    """

    judges: ClassVar[tuple[str, ...]] = ()
    steps: ClassVar[int] = STEPS
    bench: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.over = self.bench.time_is_up and self.bench.examples > 0
        self._like = Case(type(self).__name__.lower(), self.bench.check, [], list(self.judges))
        if not self.over:
            self.bench.examples += 1
            self.scene: Scene = self._stack.enter_context(self.bench.scene(self.judges))
            self.set_up()

    def set_up(self) -> None:
        """Do the steps that every run begins with."""

    def do(self, step: Step) -> Outcome | None:
        """Do a step; None if the run is over or the step makes no sense here."""
        if self.over:
            return None
        return self._guarded(lambda: self.scene.run(step))

    def at_end(self) -> None:
        """Do the steps that every run ends with, such as coming to rest and stopping."""

    def teardown(self) -> None:
        """End the run."""
        try:
            if not self.over:
                self.at_end()
            if not self.over:
                self._guarded(self._finish)
        finally:
            self._stack.close()

    def _finish(self) -> None:
        for one in self.scene.judges:
            one.finish(self.scene)
        self.bench.ledger.saw(self.bench.answers)

    def _guarded(self, act: Callable[[], Outcome | None]) -> Outcome | None:
        try:
            return act()
        except Impossible:
            return None
        except Violation as violation:
            found: Violation | None = violation
        except DriverFault as fault:
            found = self.bench.as_violation(fault)
        self.over = True
        if found:
            self.bench.record(found, self.scene, self._like)
        return None


def run_machine(bench: Bench, machine: type[Machine]) -> None:
    """Run a machine until the number of examples or the time is reached."""
    bound = type(machine.__name__, (machine,), {"bench": bench})
    for batch in itertools.count():
        wanted = bench.batch()
        if not wanted:
            return
        chosen = settings(drawing(wanted), stateful_step_count=machine.steps)
        seeded = seed(bench.terms.seed * 1_000_003 + batch)
        run_state_machine_as_test(seeded(bound), settings=chosen)
