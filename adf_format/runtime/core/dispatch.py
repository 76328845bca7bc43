"""A reason for a loop to run a turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Dispatch:
    """What starts a turn.

    :ivar event_type: chat, timer, inbox, ..., `kick` for a wake by another loop, `kickoff` at a start
    :ivar text: text of the `user` row that is appended when the turn begins; None if there is none to append
    :ivar held: seq of a row that is in the stream already and is shown to the model from this turn on
    :ivar token: whatever the sender wants back if the dispatch is dropped before its turn began
    """

    event_type: str
    text: str | None = None
    held: int | None = None
    token: Any = field(default=None, compare=False)


KICK = Dispatch("kick")
