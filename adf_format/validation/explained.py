"""Violations of a schema, as many of them as are worth explaining."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from adf_format.schemas import Checker, Problem
from adf_format.validation.context import Context

EXPLAINED = 2000
"""Violations explained of one value; each takes 0.1 to 0.5 ms, and a hostile value has a million."""


def explained(context: Context, check: Checker, value: Any, what: str, limit: int = EXPLAINED) -> Iterator[Problem]:
    """Yield the violations of a value; if there are more than the limit, the rest is listed as not checked.

    :param what: the value in words, for `not_checked`
    """
    problems = check.problems(value)
    yield from itertools.islice(problems, limit)
    if next(problems, None) is not None:
        context.not_checked(what, f"only the first {limit:,} violations are explained")
