"""What a check works with: scenes, time, a seed, and a place where failures are written down."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adf_conformance.checks import shrinking, telling
from adf_conformance.evidence import Ledger, Violation
from adf_conformance.protocol import Driver, DriverDied, DriverFault, HarnessError, NoAnswer
from adf_conformance.schedule import Case, Impossible, Scene

if TYPE_CHECKING:
    from hypothesis import settings
    from hypothesis.strategies import SearchStrategy

ANSWERS = "answers"
"""Requirement of every profile, `<profile>.answers`: each request is answered in time and the process lives."""

CONFIRMATIONS = 2  # fresh processes on which a failure is tried again
SHRINK_SECONDS = 20.0
MANY = 5  # failures of one check after which the next ones are not made smaller, and tried again only once
BATCH = 20  # examples that Hypothesis draws before the time is looked at


@dataclass
class Failure:
    """A requirement that was broken, with all that a reader needs.

    :ivar reproduced: on how many of how many fresh processes it happened again
    :ivar shrunk: number of steps before shrinking
    """

    requirement: str
    message: str
    case: Case
    details: dict[str, Any] = field(default_factory=dict)
    reproduced: tuple[int, int] = (0, 0)
    timeline: list[dict[str, Any]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    stderr: str = ""
    shrunk: int | None = None


@dataclass(frozen=True)
class Terms:
    """How a run is to be done: what is the same for all its checks.

    :ivar command: how a driver is started
    :ivar examples: scenarios that a generated check draws if time allows; None: as many as time allows
    :ivar shrink_seconds: time for making a failing schedule smaller
    :ivar storage: oldest and newest storage version of the implementation
    """

    command: tuple[str, ...]
    seed: int = 0
    examples: int | None = 40
    patience: float = 10.0
    shrink_seconds: float = SHRINK_SECONDS
    confirmations: int = CONFIRMATIONS
    capabilities: frozenset[str] = frozenset()
    storage: tuple[int, int] = (21, 32)
    env: Mapping[str, str] = field(default_factory=dict)


class Bench:
    """The place where one check is done.

    :param seconds: time that a generated check may take
    :param muted: requirements that are not looked at
    """

    def __init__(self, check: str, terms: Terms, seconds: float = 3600.0, muted: Sequence[str] = ()) -> None:
        self.check, self.terms = check, terms
        self.ledger = Ledger(muted)
        self.failures: list[Failure] = []
        self.malformed: list[str] = []
        self.examples = 0
        self.deadline = time.monotonic() + seconds
        self._shared: Driver | None = None
        self._numbers = itertools.count()

    @property
    def profile(self) -> str:
        """The profile of the check."""
        return self.check.split(".", maxsplit=1)[0]

    @property
    def answers(self) -> str:
        """The requirement that is broken when the driver hangs or dies."""
        return f"{self.profile}.{ANSWERS}"

    @property
    def time_is_up(self) -> bool:
        """Whether the share of time is used up."""
        return time.monotonic() >= self.deadline

    def close(self) -> None:
        """End what still runs."""
        if self._shared is not None:
            self._shared.kill()
            self._shared = None

    # --- scenes

    @contextmanager
    def scene(
        self, judges: Sequence[str] = (), law: str = "", *, ledger: Ledger | None = None, share: bool = False
    ) -> Iterator[Scene]:
        """Open a scene in a folder of its own.

        :param law: requirement that a step breaks which says none itself; that of answering, if not given
        :param share: use one driver for many scenes: for requests that leave no state behind
        """
        driver = self._driver() if share else None
        with tempfile.TemporaryDirectory(prefix="adf-conformance-") as place:
            scene = Scene(
                self.terms.command,
                Path(place),
                ledger or self.ledger,
                judges_named=judges,
                law=law or self.answers,
                patience=self.terms.patience,
                env=self.terms.env,
                driver=driver,
            )
            with scene:
                yield scene
                self._note_malformed(scene)

    def _driver(self) -> Driver:
        if self._shared is not None and not self._shared.alive:
            self.close()
        if self._shared is None:
            self._shared = Driver(self.terms.command, env=self.terms.env)
            self._shared.initialize(Path(tempfile.gettempdir()))
        return self._shared

    def _note_malformed(self, scene: Scene) -> None:
        for driver in (*scene.spent, *([scene.driver] if scene.running else [])):
            self.malformed.extend(str(one) for one in driver.inbound.malformed if str(one) not in self.malformed)

    # --- cases and scenarios

    def play(self, case: Case, *, share: bool = False) -> None:
        """Play a case that was written by hand; again past each failure, until nothing new is found."""
        for _ in range(50):
            if not self.watch(lambda scene: scene.play(case.steps), case, share=share, shrink=False):
                return

    def watch(
        self, act: Callable[[Scene], object], like: Case, *, share: bool = False, shrink: bool = True
    ) -> Failure | None:
        """Let something happen in a scene, and write down what it breaks.

        :param like: the case as far as it is known: name, judges, law; the steps are those that are done
        :return: the failure, if there was one
        :raises DriverFault: a bad message; the end of a check
        :raises Impossible: a step made no sense, which is a mistake of ours
        """
        with self.scene(like.judges, like.law, share=share) as scene:
            try:
                act(scene)
            except Violation as violation:
                return self.record(violation, scene, like, shrink=shrink)
            except DriverFault as fault:
                found = self.as_violation(fault)
                return self.record(found, scene, like, shrink=shrink) if found else None
            self.ledger.saw(self.answers)
        return None

    def as_violation(self, fault: DriverFault) -> Violation | None:
        """Turn a death or a hang into the breach of a requirement; None if it is known already.

        :raises DriverFault: it is another matter, such as a bad message
        """
        if not isinstance(fault, (DriverDied, NoAnswer)):
            raise fault
        self.ledger.saw(self.answers)
        if self.answers in self.ledger.muted:
            self.ledger.repeated[self.answers] += 1
            return None
        return Violation(self.answers, str(fault))

    def record(self, violation: Violation, scene: Scene, like: Case, *, shrink: bool = True) -> Failure:
        """Write down a failure: try it again on fresh processes, make it smaller, and mute the requirement."""
        self._note_malformed(scene)
        case = Case(like.name, self.check, [moment.step for moment in scene.history], list(like.judges), like.law)
        case.requirement, case.message = violation.requirement, violation.message
        case.found = {"seed": self.terms.seed}
        failure = Failure(violation.requirement, violation.message, case, telling.plain(violation.details))
        failure.timeline, failure.changes, failure.stderr = (
            telling.timeline(scene),
            telling.changes(scene),
            scene.stderr,
        )
        often = self.terms.confirmations if len(self.failures) < MANY else 1
        tries = [self.fails(case) for _ in range(often)]
        failure.reproduced = (sum(tries), len(tries))
        if shrink and all(tries) and len(self.failures) < MANY:
            self._shrink(failure)
        self.ledger.muted.add(violation.requirement)
        self.failures.append(failure)
        return failure

    def _shrink(self, failure: Failure) -> None:
        before = len(failure.case.steps)
        smaller = shrinking.shrink(failure.case, self.fails, time.monotonic() + self.terms.shrink_seconds)
        if smaller.steps != failure.case.steps:
            failure.case, failure.shrunk = smaller, before
            self._tell_again(failure)

    def _tell_again(self, failure: Failure) -> None:
        """Let the smaller case happen once more, for the story that goes with it."""
        with self.scene(failure.case.judges, failure.case.law, ledger=self._only(failure.requirement)) as scene:
            try:
                scene.play(failure.case.steps)
            except Violation as violation:
                failure.message = failure.case.message = violation.message
                failure.details = telling.plain(violation.details)
            except (DriverFault, Impossible):
                pass
            failure.timeline, failure.changes = telling.timeline(scene), telling.changes(scene)
            failure.stderr = scene.stderr or failure.stderr

    def fails(self, case: Case) -> bool:
        """Say whether a case breaks its requirement again, on a fresh process."""
        with self.scene(case.judges, case.law, ledger=self._only(case.requirement)) as scene:
            try:
                scene.play(case.steps)
            except Violation as violation:
                return violation.requirement == case.requirement
            except DriverFault:
                return case.requirement == self.answers
            except Impossible:
                return False
        return False

    def _only(self, requirement: str) -> Ledger:
        """Return a ledger in which only one requirement counts: others may be broken before it."""
        return _OnlyLedger(requirement)

    # --- generation

    def explore(
        self, strategy: SearchStrategy[Any], play: Callable[[Scene, Any], object], like: Case, *, share: bool = False
    ) -> None:
        """Draw examples and play each in a scene, until the number of examples or the time is reached."""
        for batch in itertools.count():
            wanted = self.batch()
            if not wanted:
                return

            # Played afterwards: what a scene raises is no business of Hypothesis.
            examples = draws(strategy, wanted, f"{self.terms.seed} {self.check} {batch}")
            for example in examples:
                if not (self.time_is_up and self.examples):
                    self.examples += 1
                    self.watch(partial(_played, play, example), like, share=share)

    def draw(
        self,
        strategy: SearchStrategy[Any],
        play: Callable[[Scene, Any], object],
        like: Case,
        *,
        share: bool = False,
        salt: int = 0,
    ) -> None:
        """Draw one example and play it in a scene.

        :param salt: makes examples of one strategy differ
        """
        example = drawn(strategy, f"{self.terms.seed} {like.name} {salt}")
        self.examples += 1
        self.watch(partial(_played, play, example), like, share=share)

    def batch(self) -> int:
        """Return how many examples to draw next; at least one batch is drawn whatever the time."""
        limit = self.terms.examples
        if self.examples and (self.time_is_up or (limit is not None and self.examples >= limit)):
            return 0
        return BATCH if limit is None else min(BATCH, limit - self.examples)


class _OnlyLedger(Ledger):
    """Hears of one requirement only."""

    def __init__(self, requirement: str) -> None:
        super().__init__()
        self._only = requirement

    def demand(self, requirement: str, kept: object, message: str, details: Mapping[str, Any] | None = None) -> None:
        if requirement == self._only:
            super().demand(requirement, kept, message, details)


def _played(play: Callable[[Scene, Any], object], example: Any, scene: Scene) -> None:
    play(scene, example)


def drawn(strategy: SearchStrategy[Any], salt: str) -> Any:
    """Draw one example. The first ones are the simplest, and draws may be given up, so several are tried."""
    for wanted in (3, 10, 50):
        if found := draws(strategy, wanted, f"{salt} {wanted}"):
            return found[-1]
    raise HarnessError(f"nothing can be drawn ({salt})")


def draws(strategy: SearchStrategy[Any], wanted: int, salt: str) -> list[Any]:
    """Draw examples, at most as many as are wanted; the same ones for the same salt."""
    from hypothesis import given, seed

    found: list[Any] = []

    @seed(salt)
    @drawing(wanted)
    @given(strategy)
    def once(example: Any) -> None:
        found.append(example)

    once()
    return found


def drawing(examples: int) -> settings:
    """Return settings of Hypothesis for drawing only: we shrink, save and time by ourselves."""
    from hypothesis import HealthCheck, Phase
    from hypothesis import settings as of_hypothesis

    return of_hypothesis(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
