"""One saboteur of a program that works on files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

Params = dict[str, Any]
Before = Callable[[Params], Params | None]
After = Callable[[Params, Params], Params]


@dataclass(frozen=True)
class Mutant:
    """A defect.

    :ivar name: `<profile>.<what it does>`
    :ivar method: the request that it spoils
    :ivar before: gets the parameters and returns those that the real driver gets; None leaves them
    :ivar after: gets the parameters of the suite and the answer (`{"result"}` or `{"error"}`), returns another
    """

    name: str
    method: str
    before: Before | None = None
    after: After | None = None

    @property
    def profile(self) -> str:
        """Profile of the program that it is in."""
        return self.name.split(".", maxsplit=1)[0]


@cache
def all_mutants() -> dict[str, Mutant]:
    """Return every saboteur by name."""
    from adf_conformance.mutants import migrators, readers, validators

    found = (*readers.MUTANTS, *validators.MUTANTS, *migrators.MUTANTS)
    return {mutant.name: mutant for mutant in found}
