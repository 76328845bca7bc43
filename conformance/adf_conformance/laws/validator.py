"""What a validator must say: a file is as valid as its plan."""

from __future__ import annotations

from typing import Any

from adf_conformance.laws.untouched import UntouchedJudge, plan_of
from adf_conformance.schedule import Outcome, Scene, Step, judge


@judge("validator")
class ValidatorJudge(UntouchedJudge):
    """Compares verdicts with the plans from which the files were made."""

    methods = frozenset({"file/validate"})
    law = "validator.no-trace"

    def __init__(self) -> None:
        super().__init__()
        self._verdicts: dict[str, bool] = {}

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """Judge a verdict. An error instead of one counts as "not valid": some files cannot be read at all."""
        super().after(scene, step, outcome)
        if not self.concerns(step) or outcome.code == -32601:
            return
        file = step["params"]["path"]
        plan: dict[str, Any] = dict(plan_of(scene, file))
        if not plan:
            return
        valid = not outcome.refused and outcome.value["valid"]
        if file in self._verdicts:
            message = f"says {valid}, and said {self._verdicts[file]} of the same file before"
            scene.demand("validator.repeatable", valid == self._verdicts[file], message)
        self._verdicts[file] = valid
        said = outcome.message if outcome.refused else _errors(outcome.value["findings"])
        for law in laws_of(plan):
            right = not plan.get("fault")
            scene.demand(law, valid == right, _message(plan, said, right=right), findings=outcome.value)
        if plan.get("fault") and not outcome.refused and not valid:
            scene.demand(
                "validator.findings-agree", outcome.value["findings"], "says that it is not valid, and not why"
            )


def laws_of(plan: dict[str, Any]) -> list[str]:
    """Return the requirements that a verdict on the file of a plan is about."""
    if plan.get("fault"):
        return [f"validator.rejects-{plan['fault']}"]
    if plan.get("odd"):
        return [f"validator.accepts-{name}" for name in plan["odd"]]
    laws = ["validator.accepts-worked" if plan.get("worked") else "validator.accepts-fresh"]
    if any(entry.get("ord") is not None for entry in plan.get("entries", ())):
        laws.append("validator.accepts-compacted")
    if len({entry.get("loop", "main") for entry in plan.get("entries", ())}) > 1:
        laws.append("validator.accepts-loops")
    return laws


def _message(plan: dict[str, Any], said: str, *, right: bool) -> str:
    what = plan.get("fault") or ", ".join(plan.get("odd", ())) or "plain"
    told = "rejects" if right else "accepts"
    return f"{told} a file of version {plan['version']} ({what}){': ' + said if said else ''}"


def _errors(findings: list[dict[str, Any]]) -> str:
    told = [f"{one.get('rule', '')} {one.get('message', '')}".strip() for one in findings]
    return "; ".join(told[:3])[:500]
