"""Messages from loop to loop: whether a turn is owed for one (loops.md 4).

A message is a row of the target's stream from the moment it is sent. It is read when a model request is built, which
takes everything that is unread; so it is read once, whatever else happens. A wake of a busy loop leaves a debt, not a
turn: one for all of them, and the next request pays it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

MID_TURN = "the loop is mid-turn and reads it at its next step"
DISABLED = "loop disabled"


@dataclass(frozen=True)
class Delivery:
    """What became of a message (LOOP-200).

    :ivar delivered: it is in the target's stream
    :ivar woke: a turn was started for it
    :ivar reason: why no turn was started although one was asked for, or why it is not read
    """

    delivered: bool
    woke: bool
    reason: str | None = None


@dataclass(frozen=True)
class Mailbox:
    """What a loop owes its senders.

    :ivar wakes: seqs of messages that are to be read soon, that no request has held, and for which no turn was started
    """

    wakes: tuple[int, ...] = ()

    @property
    def owed(self) -> bool:
        """Whether a turn has to follow the running one."""
        return bool(self.wakes)

    def put(self, seq: int) -> Mailbox:
        """A wake came while the loop was busy."""
        return Mailbox((*self.wakes, seq))

    def settled(self) -> Mailbox:
        """A request was built, or a turn was started for what was owed."""
        return Mailbox()

    def without(self, seqs: Collection[int]) -> Mailbox:
        """Rows are gone: nobody is woken for what is not there (LOOP-165)."""
        return Mailbox(tuple(seq for seq in self.wakes if seq not in seqs))
