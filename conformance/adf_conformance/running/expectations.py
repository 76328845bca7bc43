"""Expected failures: a TOML file beside the driver. An entry that has become wrong fails the run.

[[expect]]
id = "loops.kick-*"            # an id, or a glob
reason = "no kick turns yet"
issue = "https://example.org/issues/7"
message = "did not come"       # optional: must be part of the message
until = 2027-01-31             # optional: after this day the entry counts as stale
"""

from __future__ import annotations

import datetime as dt
import difflib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

LIMIT = 1 << 20  # bytes of a file of expectations


class NoExpectations(Exception):  # noqa: N818 - a state of a file
    """The file is no list of expected failures."""


@dataclass(frozen=True)
class Expectation:
    """One entry."""

    id: str
    reason: str
    issue: str = ""
    message: str = ""
    until: dt.date | None = None

    def means(self, requirement: str) -> bool:
        """Say whether it is about a requirement."""
        return fnmatchcase(requirement, self.id)

    def explains(self, message: str) -> bool:
        """Say whether it expects a failure with this message."""
        return self.message in message

    def expired(self, today: dt.date) -> bool:
        """Say whether its time is over."""
        return self.until is not None and today > self.until


def load_expectations(path: Path) -> tuple[Expectation, ...]:
    """Read a file of expected failures.

    :raises NoExpectations: it cannot be read, or says something that is no expectation
    """
    try:
        with path.open("rb") as file:
            told = tomllib.loads(file.read(LIMIT).decode("utf-8"))
        entries = told.get("expect", [])
        return tuple(_entry(path, entry) for entry in entries)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise NoExpectations(f"{path}: {error}") from None


def _entry(path: Path, entry: dict[str, Any]) -> Expectation:
    unknown = entry.keys() - Expectation.__dataclass_fields__.keys()
    texts = {key: value for key, value in entry.items() if key != "until"}
    until = entry.get("until")
    if unknown or not {"id", "reason"} <= entry.keys() or not all(isinstance(value, str) for value in texts.values()):
        raise NoExpectations(f"{path}: an entry has id and reason, perhaps issue, message, until: {entry}")
    if until is not None and type(until) is not dt.date:
        raise NoExpectations(f"{path}: {entry['id']}: until is a date, such as 2027-01-31")
    return Expectation(**texts, until=until)


def unmatched(expectations: Iterable[Expectation], ids: Sequence[str]) -> dict[str, str]:
    """Return the entries that mean no requirement at all, with the id that is nearest."""
    lost = [one.id for one in expectations if not any(one.means(requirement) for requirement in ids)]
    return {pattern: next(iter(difflib.get_close_matches(pattern, ids, 1, 0.4)), "") for pattern in lost}
