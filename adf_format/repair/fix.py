"""What a fix is, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adf_format.repair.mend import Mend


class Kind(StrEnum):
    """How sure a fix is.

    SAFE: the right value follows from the file itself, and nothing is lost. LOSSY: the result is right, but
    something that stood there is gone. GUESS: a plausible result; somebody who knows the agent should look at it.
    """

    SAFE = "safe"
    LOSSY = "lossy"
    GUESS = "guess"


@dataclass(frozen=True)
class Place:
    """Where a rule was broken; as in a finding, but every place on its own."""

    rule: str
    message: str
    table: str | None = None
    rowid: int | None = None
    column: str | None = None
    pointer: str | None = None


@dataclass(frozen=True)
class Fix:
    """One fix for one rule. The class is a property of the fix: a rule may have several.

    :ivar does: what it does, one sentence
    :ivar because: why it is of its class
    :ivar run: carries it out at the places where the rule is broken; a place it does not know, it leaves alone
    """

    rule: str
    kind: Kind
    does: str
    because: str
    run: Callable[[Mend, Sequence[Place]], None]
