"""Messages from loop to loop: what is unread, and whether a turn is owed for it (loops.md 4).

A message is a row of the target's stream from the moment it is sent. It is read when a model request is built, which
takes everything that is unread; so it is read once, whatever else happens. A wake of a busy loop leaves a debt, not a
turn: one for all of them, and a request pays it.
"""

from __future__ import annotations

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
    """What a loop has not read yet.

    :ivar unread: seqs of rows that no request has held, in the order in which they came
    :ivar owed: whether one of them is to be read soon, and no turn has been started for it
    """

    unread: tuple[int, ...] = ()
    owed: bool = False

    def put(self, seq: int, *, owed: bool = False) -> Mailbox:
        """A row came."""
        return Mailbox((*self.unread, seq), self.owed or owed)

    def read(self) -> Mailbox:
        """A request was built, with everything in it."""
        return Mailbox()

    def without(self, seqs: frozenset[int] | set[int]) -> Mailbox:
        """Rows were cleared: nobody is woken for what is gone (LOOP-165)."""
        left = tuple(seq for seq in self.unread if seq not in seqs)
        return Mailbox(left, self.owed and bool(left))

    def paid(self) -> Mailbox:
        """A turn was started that will read everything."""
        return Mailbox(self.unread)
