"""A judge who sees to it that a request leaves a file as it is."""

from __future__ import annotations

from adf_conformance.observe import Family
from adf_conformance.schedule import Judge, Outcome, Scene, Step


class UntouchedJudge(Judge):
    """Compares every byte of a file and of what lies beside it before and after certain requests.

    :ivar methods: the requests
    :ivar law: the requirement that forbids changes
    """

    methods: frozenset[str] = frozenset()
    law = ""

    def __init__(self) -> None:
        self._family: Family | None = None

    def concerns(self, step: Step) -> bool:
        """Say whether a step is one of the requests."""
        return bool(step["do"] == "call" and step["method"] in self.methods)

    def before(self, scene: Scene, step: Step) -> None:
        """Remember every byte."""
        if self.concerns(step):
            self._family = Family.of(scene.path(step["params"]["path"]))

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:  # noqa: ARG002 - of the base
        """Demand that nothing changed."""
        if self.concerns(step) and self._family is not None:
            changes = self._family.changes(Family.of(scene.path(step["params"]["path"])))
            scene.demand(self.law, not changes, f"{step['method']}: {'; '.join(changes)}")


def plan_of(scene: Scene, file: str) -> dict[str, object]:
    """Return the plan from which a file of the scene was made; empty if it was not."""
    made = (moment.step for moment in reversed(scene.history) if moment.step["do"] == "make")
    return next((step["plan"] for step in made if step.get("file", "agent.adf") == file), {})
