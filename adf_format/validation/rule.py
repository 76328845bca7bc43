"""What a rule is, and the registry of all rules.

A rule is data: id, severity, what and why, its source, and two examples that can be run: one makes it fire, the
other keeps it silent. The same examples are printed by `adf-format rules`, built into `fixtures/invalid`, and
tested.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Literal

from adf_format.errors import UsageError

FAMILIES = {
    "ADF1": "container: can the file be opened and read",
    "ADF2": "schema: tables, columns, indexes",
    "ADF3": "rows and the JSON in them",
    "ADF4": "configuration of the agent and its loops",
    "ADF5": "audit snapshots",
    "ADF6": "transcripts: order, loops, tool calls",
    "ADF7": "references between files, timers, messages, tasks, identity",
    "ADF8": "security and hostile content",
    "ADF9": "memory: the mind of an agent, and workspaces",
}
SHOWN = 200  # characters of a file in an example
_HERE = "adf_format.validation.rules"
_ROOMS = ("container", "structure", "rows", "config", "audit", "transcript", "references", "hostile")
MODULES = (
    *(f"{_HERE}.{name}" for name in _ROOMS),
    "adf_format.memory.lint",  # above this room, so it is known by name alone
)


class Severity(IntEnum):
    """How bad: ERROR breaks a MUST, WARNING is what real runtimes tolerate, INFO is the rest."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @classmethod
    def of(cls, text: str) -> Severity:
        """Parse `error`, `warning` or `info`.

        :raises UsageError: anything else
        """
        try:
            return cls[text.upper()]
        except KeyError:
            raise UsageError(f"{text!r} is not a severity", hint="error, warning or info") from None

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Example:
    """A change to a sample file.

    :ivar sql: statements run on the sample; the connection also knows `brotli(text[, quality])` and `utf16_length`
    :ivar on: storage version of the sample
    :ivar base: `rich` (every table has rows) or `fresh`
    :ivar patch: `(offset, hex)` bytes overwritten afterwards; a negative offset counts from the end
    :ivar truncate: bytes kept, if the file is cut afterwards
    :ivar append: hex bytes appended afterwards
    :ivar log: statements whose effect stays in the write-ahead log, as if the writer had then crashed
    :ivar log_cut: bytes cut off the end of that log
    :ivar beside: `(suffix, hex)`: files put beside the file, named like it with the suffix added
    :ivar content: the whole file instead of a sample, as text
    :ivar files: a workspace of memory files instead of an agent, as `(path, text)`
    """

    sql: str = ""
    on: int = 32
    base: Literal["fresh", "rich"] = "rich"
    patch: tuple[tuple[int, str], ...] = ()
    truncate: int | None = None
    append: str = ""
    log: str = ""
    log_cut: int = 0
    beside: tuple[tuple[str, str], ...] = ()
    content: str | None = None
    files: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        parts = [self.sql.strip()] if self.sql.strip() else []
        parts += [f"-- at byte {offset} write {hexed}" for offset, hexed in self.patch]
        if self.truncate is not None:
            parts.append(f"-- cut the file after {self.truncate} bytes")
        if self.append:
            parts.append(f"-- append {len(self.append) // 2} bytes")
        if self.log:
            parts += ["-- left in the write-ahead log:", self.log.strip()]
        if self.log_cut:
            parts.append(f"-- cut {self.log_cut} bytes off the end of the log")
        parts += [f"-- beside the file, {suffix}: {len(hexed) // 2} bytes" for suffix, hexed in self.beside]
        if self.content is not None:
            parts.append(f"-- the file holds only the text {self.content!r}")
        parts += [f"{path}: {_shortened(text)}" for path, text in self.files]
        return "\n".join(parts) or "-- the sample as it is"


def _shortened(text: str) -> str:
    more = f" and {len(text) - SHOWN:,} characters more" if len(text) > SHOWN else ""
    return f"{text[:SHOWN]!r}{more}"


@dataclass(frozen=True)
class Rule:
    """One rule.

    :ivar id: `ADF` and three digits; never reused
    :ivar name: short name in words joined by `-`; as stable as the id
    :ivar what: what the rule demands, one sentence
    :ivar why: what goes wrong otherwise
    :ivar source: fact-sheet rules and seed sections it comes from
    :ivar since: first storage version it applies to
    :ivar until: last storage version it applies to, None for all
    :ivar fix: what to do about it, or None if nothing is known
    """

    id: str
    name: str
    severity: Severity
    what: str
    why: str
    source: tuple[str, ...]
    fires: Example
    silent: Example
    since: int = 1
    until: int | None = None
    fix: str | None = None

    @property
    def family(self) -> str:
        """The four characters of its family, `ADF3`."""
        return self.id[:4]

    def applies(self, version: int) -> bool:
        """Whether the rule applies to a storage version."""
        return self.since <= version and (self.until is None or version <= self.until)


_RULES: dict[str, Rule] = {}


def rule(
    rule_id: str,
    name: str,
    severity: Severity,
    *,
    what: str,
    why: str,
    source: tuple[str, ...],
    fires: Example | str,
    silent: Example | str,
    since: int = 1,
    until: int | None = None,
    fix: str | None = None,
) -> Rule:
    """Declare a rule; examples may be given as SQL text on the rich sample of the latest version."""
    made = Rule(rule_id, name, severity, what, why, source, _example(fires), _example(silent), since, until, fix)
    if rule_id in _RULES or any(made.name == other.name for other in _RULES.values()):
        raise AssertionError(f"{rule_id} {name} is declared twice")
    _RULES[rule_id] = made
    return made


def _example(example: Example | str) -> Example:
    return example if isinstance(example, Example) else Example(example)


@cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by id, in order of the ids."""
    for module in MODULES:
        importlib.import_module(module)
    return dict(sorted(_RULES.items()))


def select(patterns: tuple[str, ...]) -> frozenset[str]:
    """Return the ids that some patterns name: an id, a prefix (`ADF5`, `ADF5xx`), a rule's name, or `ALL`.

    :raises UsageError: a pattern that names no rule
    """
    return frozenset(rule_id for pattern in patterns for rule_id in _named(pattern))


def _named(pattern: str) -> list[str]:
    rules = all_rules()
    prefix = pattern.upper().rstrip("X")
    if pattern.upper() == "ALL":
        return list(rules)
    found = [key for key, one in rules.items() if key.startswith(prefix) or one.name == pattern.lower()]
    if not found or not prefix.startswith("ADF"):
        found = [key for key, one in rules.items() if one.name == pattern.lower()]
    if not found:
        raise UsageError(f"no rule {pattern!r}", hint="`adf-format rules` lists them")
    return found
