"""The list of checks."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adf_conformance.checks.bench import Bench

HOMES = (
    "adf_conformance.checks.reader",
    "adf_conformance.checks.validator",
    "adf_conformance.checks.migrator",
    "adf_conformance.checks.runtime",
    "adf_conformance.machines",
)
"""Modules and packages whose import registers checks."""

_KNOWN: dict[str, Check] = {}


@dataclass(frozen=True)
class Check:
    """One check.

    :ivar id: its name, `<profile>.<what>`
    :ivar run: does it
    :ivar generated: whether it draws scenarios for as long as its share of the time lasts
    :ivar needs: capabilities that it needs besides its profile
    :ivar weight: share of the time among the generated checks
    :ivar tells: what it does, in one sentence
    """

    id: str
    run: Callable[[Bench], None]
    generated: bool = False
    needs: frozenset[str] = frozenset()
    weight: float = 1.0

    @property
    def profile(self) -> str:
        """The profile that it belongs to."""
        return self.id.split(".", maxsplit=1)[0]

    @property
    def tells(self) -> str:
        """What it does, in one sentence."""
        return (self.run.__doc__ or "").strip().split("\n", maxsplit=1)[0]


def check(
    name: str, *, generated: bool = False, needs: str = "", weight: float = 1.0
) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Register a function as a check.

    :param needs: capabilities besides the profile, separated by spaces
    """

    def register(run: Callable[[Bench], None]) -> Callable[[Bench], None]:
        if name in _KNOWN:
            raise ValueError(f"two checks are called {name!r}")
        _KNOWN[name] = Check(name, run, generated, frozenset(needs.split()), weight)
        return run

    return register


def all_checks() -> dict[str, Check]:
    """Return every check by its name."""
    for home in HOMES:
        try:
            found = importlib.util.find_spec(home) is not None
        except ModuleNotFoundError:
            found = False
        if found:
            importlib.import_module(home)
    return dict(sorted(_KNOWN.items()))
