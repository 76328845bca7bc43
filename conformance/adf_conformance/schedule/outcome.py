"""What became of a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Step = dict[str, Any]


class Impossible(Exception):  # noqa: N818 - a property of a schedule, not an error
    """The step makes no sense here, such as an answer to a call that does not exist.

    A shrinker takes it for "does not fail"; in a case that was written by hand it is a mistake of ours.
    """


class Struck(Exception):  # noqa: N818 - what was asked for
    """The driver was killed at the model boundary at which a kill matrix wanted it to die."""


@dataclass(frozen=True)
class Outcome:
    """What became of a step.

    :ivar refused: the driver answered with an error, which the step allowed
    :ivar value: what it answered
    :ivar code: number of the error
    """

    value: Any = None
    refused: bool = False
    code: int | None = None
    message: str = ""


@dataclass
class Moment:
    """One step of a scene, as it happened.

    :ivar open: labels of the model calls that are open after it
    :ivar note: how it ended if it did not end well
    """

    number: int
    step: Step
    outcome: Outcome | None = None
    open: list[str] = field(default_factory=list)
    note: str = ""
