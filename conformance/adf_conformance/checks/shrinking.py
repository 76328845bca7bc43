"""Make a failing schedule smaller: it is plain data, so parts of it are left out and it is tried again.

Hypothesis shrinks by drawing again, thousands of times; here every trial is a run of the driver, and time is short.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from adf_conformance.schedule.case import Case
from adf_conformance.schedule.outcome import Step

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, deadline: float) -> Case:
    """Return the smallest case found in time that still fails.

    :param deadline: on the clock `time.monotonic`
    """
    smaller = replace(case, steps=copy.deepcopy(case.steps))
    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        for candidate in _candidates(smaller.steps):
            if time.monotonic() >= deadline:
                break
            trial = replace(smaller, steps=candidate)
            if fails(trial):
                smaller, changed = trial, True
                break
    return smaller


def _candidates(steps: list[Step]) -> Iterator[list[Step]]:
    """Yield smaller schedules, the boldest first."""
    size = len(steps) // 2
    while size >= 1:
        for start in range(0, len(steps), size):
            yield steps[:start] + steps[start + size :]
        size //= 2
    for place, step in enumerate(steps):
        for smaller in _smaller_values(step):
            yield [*steps[:place], smaller, *steps[place + 1 :]]


def _smaller_values(value: Any) -> Iterator[Any]:
    """Yield values of the same kind with one list inside made shorter, halves first."""
    if isinstance(value, list):
        size = len(value)
        while size >= 1:
            for start in range(0, len(value), size):
                yield value[:start] + value[start + size :]
            size //= 2
        for place, item in enumerate(value):
            yield from ([*value[:place], smaller, *value[place + 1 :]] for smaller in _smaller_values(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: smaller} for smaller in _smaller_values(item))
