"""What a run saw: how often each requirement's "when" occurred, and each time that it was broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


class Violation(Exception):  # noqa: N818 - a finding about somebody else's program, not an error of ours
    """A requirement is broken.

    :ivar requirement: id of the requirement
    :ivar details: what a reader needs to see, as JSON values (rows before and after, requests, …)
    """

    def __init__(self, requirement: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{requirement}: {message}")
        self.requirement, self.message = requirement, message
        self.details = dict(details or {})


class Ledger:
    """Evidence about requirements, kept by those who judge.

    :ivar exercised: how often the "when" of each requirement occurred
    :ivar muted: requirements whose violations are counted and do not end the case, since they are known already
    :ivar repeated: how often a muted requirement was broken again
    """

    def __init__(self, muted: Iterable[str] = ()) -> None:
        self.exercised: Counter[str] = Counter()
        self.muted = set(muted)
        self.repeated: Counter[str] = Counter()

    def saw(self, requirement: str, times: int = 1) -> None:
        """Note that the "when" of a requirement occurred."""
        self.exercised[requirement] += times

    def demand(self, requirement: str, kept: object, message: str, details: Mapping[str, Any] | None = None) -> None:
        """Note that the "when" occurred, and demand that the requirement was kept.

        :param kept: whether it was, as a truth value
        :raises Violation: it was not
        """
        self.saw(requirement)
        if kept:
            return
        if requirement in self.muted:
            self.repeated[requirement] += 1
            return
        raise Violation(requirement, message, details)
