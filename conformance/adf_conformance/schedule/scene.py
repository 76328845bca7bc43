"""A scene: a driver, a folder of files, and what happened so far. The one executor of steps."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adf_conformance.evidence import Ledger, Violation
from adf_conformance.observe import AgentFile, Family
from adf_conformance.protocol import Call, Driver, DriverFault, HarnessError, ModelCall
from adf_conformance.schedule import doing, judges, steps
from adf_conformance.schedule.outcome import Impossible, Moment, Outcome, Step, Struck

AGENT = "agent.adf"
PATIENCE = 10.0  # seconds within which what is owed must come


class Scene:
    """One scenario with one agent.

    :param command: how a driver is started
    :param folder: an existing folder that belongs to the scene
    :param law: requirement that a step breaks which says none itself
    :param kill_at: the process is killed when its model call with this number arrives, counted over all processes of
        the scene; see the kill matrix
    :param driver: a driver that runs already and is not ended with the scene
    :ivar history: every step so far
    :ivar labels: model calls by label
    :ivar kept: answers by the name that a step gave them
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        ledger: Ledger,
        *,
        judges_named: Sequence[str] = (),
        law: str = "",
        patience: float = PATIENCE,
        env: Mapping[str, str] | None = None,
        kill_at: int | None = None,
        driver: Driver | None = None,
    ) -> None:
        self.command, self.folder, self.ledger, self.law = list(command), folder, ledger, law
        self.patience, self.env, self.kill_at = patience, env, kill_at
        self._driver, self._borrowed = driver, driver
        self.judges = [judges.make(name) for name in judges_named]
        self.judges_named = list(judges_named)
        self.history: list[Moment] = []
        self.labels: dict[str, ModelCall] = {}
        self.kept: dict[str, Any] = {}
        self.begun: dict[str, Call] = {}
        self.marks: dict[str, tuple[Path, Family]] = {}
        self.spent: list[Driver] = []
        self._seen: dict[str, AgentFile] = {}
        self._before: dict[str, AgentFile] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the driver and forget the files. The folder stays."""
        if self._driver is not None and self._driver is not self._borrowed:
            self._driver.kill()
        for view in (*self._seen.values(), *self._before.values()):
            view.close()

    # --- steps

    def run(self, step: Step) -> Outcome:
        """Do one step and let the judges see it.

        :raises Violation: a requirement is broken
        :raises Impossible: the step makes no sense here
        :raises DriverFault: the driver broke the protocol or is gone
        :raises Struck: the process was killed at the model boundary `kill_at`
        :raises HarnessError: the step is no step
        """
        if problem := steps.problem(step):
            raise HarnessError(problem)
        for one in self.judges:
            one.before(self, step)
        moment = Moment(len(self.history), step)
        self.history.append(moment)
        try:
            moment.outcome = doing.do(self, step)
            self._look_again()
            for one in self.judges:
                one.after(self, step, moment.outcome)
        except (Violation, DriverFault, Impossible, Struck) as error:
            moment.note = str(error)
            raise
        finally:
            moment.open = [self.label_of(call) for call in self.open_calls]
        return moment.outcome

    def play(self, steps_: Sequence[Step]) -> None:
        """Do all steps, then let the judges see the end; see `run` for what it raises."""
        for step in steps_:
            self.run(step)
        for one in self.judges:
            one.finish(self)

    def demand(self, requirement: str, kept: object, message: str, **details: Any) -> None:
        """Demand that a requirement is kept, its "when" having occurred; see `Ledger.demand`."""
        self.ledger.demand(requirement, kept, message, details)

    # --- the driver

    @property
    def driver(self) -> Driver:
        """The driver; a new process is started if none runs.

        :raises DriverFault: it does not start
        """
        if self._driver is None:
            self._driver = Driver(self.command, env=self.env)
            self._driver.initialize(self.folder)
        return self._driver

    @property
    def running(self) -> bool:
        """Whether there is a driver."""
        return self._driver is not None

    def end_driver(self) -> None:
        """Kill the driver as a crash would; open model calls are lost."""
        if self._driver is not None:
            self._driver.kill()
            self.spent.append(self._driver)
            self._driver = None
            self.begun.clear()

    @property
    def model_calls(self) -> list[ModelCall]:
        """Every model call of the scene, in order, over all processes."""
        drivers = [*self.spent, *([self._driver] if self._driver else [])]
        return [call for driver in drivers for call in driver.inbound.model_calls]

    @property
    def open_calls(self) -> list[ModelCall]:
        """Model calls that wait for an answer, oldest first."""
        return self._driver.open_calls if self._driver else []

    def label_of(self, call: ModelCall) -> str:
        """Return the label of a model call, or its number and loop."""
        given = (label for label, known in self.labels.items() if known is call)
        return next(given, f"#{self.model_calls.index(call)} {call.loop}")

    def labelled(self, label: str) -> ModelCall:
        """Return the model call with a label.

        :raises Impossible: there is none
        """
        if label not in self.labels:
            raise Impossible(f"no model call is called {label!r}")
        return self.labels[label]

    @property
    def stderr(self) -> str:
        """The end of what the driver wrote to stderr, of the last process that there was."""
        last = self._driver or (self.spent[-1] if self.spent else None)
        return last.stderr_tail if last else ""

    def strike(self) -> None:
        """Kill the process if the model boundary has come at which it is to die.

        :raises Struck: it was killed
        """
        if self.kill_at is not None and len(self.model_calls) > self.kill_at:
            self.end_driver()
            self.kill_at = None
            raise Struck("killed at a model boundary, as asked for")

    # --- files

    def path(self, name: str = AGENT) -> Path:
        """Return the path of a file of the scene."""
        return self.folder / name

    def look(self, name: str = AGENT) -> AgentFile:
        """Read a file as it is now. Within one step it is read once.

        :raises Unreadable: it is no sound database
        """
        if name not in self._seen:
            self._seen[name] = AgentFile(self.path(name))
        return self._seen[name]

    def look_before(self, name: str = AGENT) -> AgentFile | None:
        """Return the file as it was when it was last read before this step, None if it was not."""
        return self._before.get(name)

    def _look_again(self) -> None:
        for name, view in self._seen.items():
            if name in self._before:
                self._before[name].close()
            self._before[name] = view
        self._seen.clear()

    def save_files(self, place: Path) -> None:
        """Copy the files of the scene, with what lies beside them, for those who look into a failure."""
        place.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                if path.is_file():
                    shutil.copyfile(path, place / path.name)
