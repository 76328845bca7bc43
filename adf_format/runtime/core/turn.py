"""One turn: what follows what (loops.md 6, storage.md 5.1).

A turn alternates between a model and its tools until the model has said enough. Between two steps its history may be
compacted. The machine is a table from phase and event to what is done; it knows sizes and answers, no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from adf_format.memory.injection import emergency_bound

NARRATION_LIMIT = 4
Trigger = Literal["auto", "preflight", "voluntary"]
Status = Literal["completed", "interrupted", "failed"]
Phase = Enum("Phase", ["STEP", "ASKING", "TOOLS", "COMPACTING", "OVER"])


@dataclass(frozen=True)
class Measured:
    """A step may begin.

    :ivar size: tokens of the context, as last counted or estimated (CMP-002)
    :ivar projected: estimate of what it has become since, with all that is new (CMP-006)
    :ivar threshold: from where the history is compacted
    :ivar empty: there is nothing that could be sent
    :ivar nudged: the warning was given already, in this turn or an earlier one (CMP-005)
    """

    size: int
    projected: int
    threshold: int
    empty: bool = False
    nudged: bool = False


@dataclass(frozen=True)
class Answered:
    """The model answered, and the answer is recorded. :ivar calls: number of tool calls in it"""

    calls: int


@dataclass(frozen=True)
class ToolsDone:
    """The results of a batch are recorded.

    :ivar ends: a tool ended the turn
    :ivar compacts: a tool asked for compaction
    """

    ends: bool = False
    compacts: bool = False


@dataclass(frozen=True)
class Compacted:
    """A compaction has ended. :ivar done: whether a summary is in place, ours or somebody else's"""

    done: bool


Event = Measured | Answered | ToolsDone | Compacted


@dataclass(frozen=True)
class Ask:
    """Build a request and ask the model. :ivar nudge: append the warning first"""

    nudge: bool = False


@dataclass(frozen=True)
class RunTools:
    """Run the calls of the answer."""


@dataclass(frozen=True)
class Compact:
    """Compact the history."""

    trigger: Trigger


@dataclass(frozen=True)
class Measure:
    """Say how large everything is: a step begins. :ivar remind: append the reminder to go on first (LOOP-211)"""

    remind: bool = False


@dataclass(frozen=True)
class End:
    """The turn is over.

    :ivar suspend: the limit of steps is reached (LOOP-216)
    :ivar broken: it was all words (LOOP-212)
    """

    suspend: bool = False
    broken: bool = False


Command = Ask | RunTools | Compact | Measure | End


@dataclass(frozen=True)
class Turn:
    """State of a turn.

    :ivar autonomous: goes on after an answer without calls
    :ivar limit: most model calls, None for any number
    :ivar steps: model calls so far
    :ivar narrations: answers without calls, in a row
    :ivar failures: compactions that failed in this turn (CMP-041)
    :ivar fresh: compacted since the last answer: doing it again would gain nothing
    :ivar ending: a tool has ended the turn, what remains is a compaction
    """

    autonomous: bool = False
    limit: int | None = None
    phase: Phase = Phase.STEP
    steps: int = 0
    narrations: int = 0
    failures: int = 0
    fresh: bool = False
    ending: bool = False

    def step(self, event: Event) -> tuple[Turn, Command]:
        """Take an event; gives the next state and what is to be done.

        :raises ValueError: the event cannot occur in this phase
        """
        act = _TABLE.get((self.phase, type(event)))
        if act is None:
            raise ValueError(f"{type(event).__name__} cannot occur in phase {self.phase.name}")
        return act(self, event)


Outcome = tuple[Turn, Command]


def _measured(turn: Turn, event: Measured) -> Outcome:
    """The top of a step: compaction first, then the model (CMP-004 to CMP-006)."""
    if turn.limit is not None and turn.steps >= turn.limit:
        return replace(turn, phase=Phase.OVER), End(suspend=True)
    trigger, nudge = _pressure(turn, event)
    if trigger is not None and not event.empty:
        return replace(turn, phase=Phase.COMPACTING), Compact(trigger)
    if event.empty:
        return replace(turn, phase=Phase.OVER), End()
    return replace(turn, phase=Phase.ASKING, steps=turn.steps + 1), Ask(nudge=nudge)


def _pressure(turn: Turn, event: Measured) -> tuple[Trigger | None, bool]:
    """Say whether a compaction is due, or else the warning before it.

    What was counted is compared with the threshold, what is estimated with the emergency bound. After a failure only
    that bound counts, after two nothing does until the next turn.
    """
    emergency = max(event.size, event.projected) >= emergency_bound(event.threshold)
    if turn.fresh or turn.failures > 1:
        return None, False
    if turn.failures:
        return ("preflight" if emergency else None), False
    if event.size >= event.threshold and event.nudged:
        return "auto", False
    if emergency:
        return "preflight", False
    return None, event.size >= event.threshold


def _answered(turn: Turn, event: Answered) -> Outcome:
    turn = replace(turn, fresh=False)
    if event.calls:
        return replace(turn, phase=Phase.TOOLS, narrations=0), RunTools()
    if not turn.autonomous:
        return replace(turn, phase=Phase.OVER), End()
    narrations = turn.narrations + 1
    if narrations >= NARRATION_LIMIT:
        return replace(turn, phase=Phase.OVER, narrations=narrations), End(broken=True)
    return replace(turn, phase=Phase.STEP, narrations=narrations), Measure(remind=True)


def _tools_done(turn: Turn, event: ToolsDone) -> Outcome:
    if event.compacts:
        return replace(turn, phase=Phase.COMPACTING, ending=event.ends), Compact("voluntary")
    if event.ends:
        return replace(turn, phase=Phase.OVER), End()
    return replace(turn, phase=Phase.STEP), Measure()


def _compacted(turn: Turn, event: Compacted) -> Outcome:
    turn = replace(turn, failures=turn.failures + (not event.done), fresh=event.done)
    if turn.ending:
        return replace(turn, phase=Phase.OVER), End()
    return replace(turn, phase=Phase.STEP), Measure()


_TABLE: dict[tuple[Phase, type], Callable[[Turn, Event], Outcome]] = {
    (Phase.STEP, Measured): _measured,  # type: ignore[dict-item]
    (Phase.ASKING, Answered): _answered,  # type: ignore[dict-item]
    (Phase.TOOLS, ToolsDone): _tools_done,  # type: ignore[dict-item]
    (Phase.COMPACTING, Compacted): _compacted,  # type: ignore[dict-item]
}
