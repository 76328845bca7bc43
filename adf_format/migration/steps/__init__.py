"""The steps, each a value: from which version to which, by which rules, what it rewrites, and how."""

from __future__ import annotations

from adf_format.errors import UsageError
from adf_format.migration.steps.ancient import STEPS as ANCIENT
from adf_format.migration.steps.audit import STEPS as AUDIT
from adf_format.migration.steps.early import STEPS as EARLY
from adf_format.migration.steps.late import STEPS as LATE
from adf_format.migration.steps.model import Step

STEPS: tuple[Step, ...] = (*ANCIENT, *EARLY, *AUDIT, *LATE)
FIRST = STEPS[0].source
LAST = STEPS[-1].target

__all__ = ["FIRST", "LAST", "STEPS", "Step", "path"]


def path(source: int, target: int) -> tuple[Step, ...]:
    """Return the steps from one version to another, in order.

    :raises UsageError: the target is not reachable
    """
    if not FIRST <= target <= LAST:
        raise UsageError(f"there is no storage version {target} to migrate to", hint=f"known are {FIRST} to {LAST}")
    return tuple(step for step in STEPS if source <= step.source and step.target <= target)
