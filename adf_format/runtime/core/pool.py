"""Which loop runs, which waits, which is on its way out: the life of loops as one machine (loops.md 3).

Per loop there is a phase, and a table says what each event does in it. An event returns commands; the edge carries them
out and reports back. What makes a stop certain is that `condemn` takes effect within the call: after it no turn of the
loop can start, and the one that runs is only waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal

from adf_format.runtime.core.delivery import DISABLED, MID_TURN, Delivery, Mailbox
from adf_format.runtime.core.dispatch import KICK, Dispatch

Why = Literal["disabled", "deleted", "removed"]
Phase = Enum("Phase", ["IDLE", "RUNNING", "STOPPING", "DOWN"])
"""IDLE and RUNNING take dispatches; STOPPING waits for a condemned turn; DOWN is declared and does not run."""


@dataclass(frozen=True)
class Start:
    """Run a turn."""

    loop: str
    turn: int
    dispatch: Dispatch


@dataclass(frozen=True)
class Abort:
    """Cancel a turn; `PoolMachine.ended` is to follow, whatever becomes of it."""

    loop: str
    turn: int


@dataclass(frozen=True)
class Dropped:
    """A dispatch that had been accepted will not run."""

    loop: str
    dispatch: Dispatch
    reason: str


@dataclass(frozen=True)
class Settled:
    """A condemned loop is still: nothing of it runs, nothing of it will be written."""

    loop: str
    why: Why


Command = Start | Abort | Dropped | Settled


@dataclass(frozen=True)
class LoopState:
    """One loop.

    :ivar why: of a loop that is stopping: what for
    :ivar turn: number of the running turn
    :ivar queue: what follows it
    """

    phase: Phase
    why: Why | None = None
    turn: int | None = None
    queue: tuple[Dispatch, ...] = ()
    mailbox: Mailbox = field(default_factory=Mailbox)


class PoolMachine:
    """All loops of an agent, `main` among them.

    :ivar gate: why nothing may run at all (`the agent is suspended`), None while it may
    """

    def __init__(self) -> None:
        self.loops: dict[str, LoopState] = {}
        self.gate: str | None = None
        self._turns = 0

    # what is declared

    def declare(self, name: str, *, runs: bool) -> None:
        """A loop is declared. One that is stopping stays so until it has settled (LOOP-095)."""
        state = self.loops.get(name)
        if state is None or state.phase is Phase.DOWN:
            self.loops[name] = LoopState(Phase.IDLE if runs else Phase.DOWN)

    def forget(self, name: str) -> None:
        """A loop is no longer declared, and it is still."""
        del self.loops[name]

    # events

    def dispatch(self, name: str, dispatch: Dispatch) -> tuple[str | None, list[Command]]:
        """Something wants a turn. Gives the reason if it is refused (LOOP-231); else it runs now or after others."""
        reason = self.refusal(name)
        if reason is not None:
            return reason, []
        state = self.loops[name]
        if state.phase is Phase.RUNNING:
            self.loops[name] = replace(state, queue=(*state.queue, dispatch))
            return None, []
        return None, [self._start(name, dispatch)]

    def deliver(self, name: str, seq: int, *, wake: bool) -> tuple[Delivery, list[Command]]:
        """A message is in the stream of a loop (wake matrix, loops.md 4.3)."""
        state = self.loops[name]
        if state.phase in (Phase.DOWN, Phase.STOPPING):
            return Delivery(delivered=True, woke=False, reason=DISABLED), []
        if not wake:
            return Delivery(delivered=True, woke=False), []
        if state.phase is Phase.RUNNING:
            self.loops[name] = replace(state, mailbox=state.mailbox.put(seq))
            return Delivery(delivered=True, woke=False, reason=self.gate or MID_TURN), []
        if self.gate is not None:
            return Delivery(delivered=True, woke=False, reason=self.gate), []
        return Delivery(delivered=True, woke=True), [self._start(name, KICK)]

    def boundary(self, name: str) -> None:
        """A turn built a request, and with it everything unread was read."""
        state = self.loops[name]
        if state.mailbox.owed:
            self.loops[name] = replace(state, mailbox=state.mailbox.settled())

    def cleared(self, name: str, seqs: Collection[int]) -> None:
        """Rows of a stream are gone."""
        state = self.loops.get(name)
        if state is not None and state.mailbox.owed:
            self.loops[name] = replace(state, mailbox=state.mailbox.without(seqs))

    def ended(self, name: str, turn: int) -> list[Command]:
        """A turn has ended, its last row is written; in whatever way it ended (LOOP-167).

        One that was given up before (LOOP-102) is none of ours any more.
        """
        state = self.loops.get(name)
        if state is None or state.turn != turn:
            return []
        if state.phase is Phase.STOPPING:
            return self._settle(name)
        return self._next(name, replace(state, phase=Phase.IDLE, turn=None))

    def condemn(self, name: str, why: Why) -> list[Command]:
        """No turn of this loop starts any more, from this moment on (LOOP-100). A stronger reason takes the place of a
        weaker one: what is being disabled can be deleted."""
        state = self.loops[name]
        if state.phase is Phase.STOPPING:
            self.loops[name] = replace(state, why=why)
            return []
        self.loops[name] = LoopState(Phase.STOPPING, why, state.turn)
        commands: list[Command] = [Dropped(name, one, _stopping(name, why)) for one in state.queue]
        if state.turn is not None:
            return [*commands, Abort(name, state.turn)]
        return [*commands, *self._settle(name)]

    def interrupt(self, name: str) -> list[Command]:
        """Abort what runs and drop what waits; the loop itself goes on."""
        state = self.loops[name]
        commands: list[Command] = [Dropped(name, one, "the owner cleared the history") for one in state.queue]
        self.loops[name] = replace(state, queue=(), mailbox=Mailbox())
        if state.phase is Phase.RUNNING and state.turn is not None:
            commands.append(Abort(name, state.turn))
        return commands

    def give_up(self, name: str) -> list[Command]:
        """The wait for a condemned turn is over; it must not write any more (LOOP-102)."""
        return self._settle(name) if self.loops[name].phase is Phase.STOPPING else []

    def restore(self, name: str, *, runs: bool) -> None:
        """A stop came to nothing: the loop can run again, with nothing left of what was queued (LOOP-110)."""
        self.loops[name] = LoopState(Phase.IDLE if runs else Phase.DOWN)

    def close(self, reason: str) -> list[Command]:
        """Nothing may run (LOOP-135): what runs is aborted, what waits is dropped. Owed wakes are kept (LOOP-168)."""
        self.gate = reason
        commands: list[Command] = []
        for name, state in self.loops.items():
            commands += [Dropped(name, one, reason) for one in state.queue]
            self.loops[name] = replace(state, queue=())
            if state.phase is Phase.RUNNING and state.turn is not None:
                commands.append(Abort(name, state.turn))
        return commands

    def open(self) -> None:
        """Turns may run again; nobody is woken by that."""
        self.gate = None

    # questions

    def refusal(self, name: str) -> str | None:
        """Return why a dispatch to a loop would be dropped, None if it would not."""
        state = self.loops.get(name)
        if state is None:
            return f'no loop named "{name}" on this agent'
        if state.phase is Phase.STOPPING and state.why is not None:
            return _stopping(name, state.why)
        if state.phase is Phase.DOWN:
            return f'loop "{name}" is disabled'
        return self.gate

    def running(self) -> Iterator[str]:
        """Yield the loops that have a turn."""
        return (name for name, state in self.loops.items() if state.turn is not None)

    def is_busy(self, name: str) -> bool:
        """Whether a turn of the loop runs, or has been accepted (LOOP-166)."""
        state = self.loops.get(name)
        return state is not None and state.turn is not None

    # transitions

    def _start(self, name: str, dispatch: Dispatch) -> Start:
        self._turns += 1
        state = self.loops[name]
        mailbox = state.mailbox.settled() if dispatch.event_type == KICK.event_type else state.mailbox
        self.loops[name] = replace(state, phase=Phase.RUNNING, turn=self._turns, mailbox=mailbox)
        return Start(name, self._turns, dispatch)

    def _next(self, name: str, state: LoopState) -> list[Command]:
        """A turn is over and nothing forbids the next: what was queued first, then what is owed (LOOP-164)."""
        self.loops[name] = state
        if self.gate is not None:
            return []
        if state.queue:
            self.loops[name] = replace(state, queue=state.queue[1:])
            return [self._start(name, state.queue[0])]
        return [self._start(name, KICK)] if state.mailbox.owed else []

    def _settle(self, name: str) -> list[Command]:
        """A condemned loop is still. A disabled one stays declared, others wait for what becomes of their stream."""
        why = self.loops[name].why
        assert why is not None  # noqa: S101 - only stopping loops settle
        still = LoopState(Phase.DOWN) if why == "disabled" else LoopState(Phase.STOPPING, why)
        self.loops[name] = still
        return [Settled(name, why)]


def _stopping(name: str, why: Why) -> str:
    doing = {"disabled": "is being disabled", "deleted": "is being deleted", "removed": "is being removed"}[why]
    return f'loop "{name}" {doing}'
