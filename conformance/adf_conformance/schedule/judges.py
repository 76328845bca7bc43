"""Judges: they watch a scene step by step and demand what must be so. A case names them, so a replay has them too."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from adf_conformance.schedule.outcome import Outcome, Step

if TYPE_CHECKING:
    from adf_conformance.schedule.scene import Scene


class Judge:
    """Watches one scene; a new one is made for every scene."""

    def before(self, scene: Scene, step: Step) -> None:
        """See a step that is about to be done.

        :raises Impossible: it makes no sense in the state that the scene is in (needed for shrinking: an `await` for
            a turn that nothing caused must be impossible, not a broken requirement)
        """

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """See what became of it, and demand what must be so now (`scene.demand`)."""

    def finish(self, scene: Scene) -> None:
        """See the end of the scene."""


_KNOWN: dict[str, Callable[[], Judge]] = {}
HOMES = ("adf_conformance.laws", "adf_conformance.machines")
"""Packages whose import registers judges."""


def judge(name: str) -> Callable[[type[Judge]], type[Judge]]:
    """Register a class of judges under the name by which cases ask for it."""

    def register(kind: type[Judge]) -> type[Judge]:
        _KNOWN[name] = kind
        return kind

    return register


def judge_names() -> list[str]:
    """Return the names of all judges."""
    _load()
    return sorted(_KNOWN)


def make(name: str) -> Judge:
    """Make a judge by its name.

    :raises KeyError: there is none
    """
    if name not in _KNOWN:
        _load()
    return _KNOWN[name]()


def _load() -> None:
    for home in HOMES:
        if importlib.util.find_spec(home) is not None:
            importlib.import_module(home)
