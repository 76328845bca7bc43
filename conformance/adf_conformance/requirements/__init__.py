"""The requirements of the format, by revision of its specification.

A revision is a folder with one YAML file per profile. What a requirement demands is frozen once the revision is
released: `lock.json` holds a digest of each, and a test compares. Only its checks may change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

SPEC = "0.7.4"
LEVELS = ("MUST", "SHOULD", "MAY", "advisory")
PROFILES = ("reader", "validator", "migrator", "core", "loops", "memory")
HOME = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Requirement:
    """One requirement.

    :ivar id: `<profile>.<slug>`
    :ivar level: MUST, SHOULD, MAY, or advisory where only code of the reference implementation says so
    :ivar source: sections of the seeds (`MM`, `IL`) and rules of the fact sheets (`STO-032`, `LOOP-171`)
    :ivar text: the requirement in one sentence
    :ivar when: what has to happen for it to say anything
    :ivar checks: names of the checks that cover it, or globs
    :ivar needs: capability that the driver must claim besides the profile
    :ivar untestable: why a black box can't be tested for it; then it has no checks
    """

    id: str
    level: str
    source: tuple[str, ...]
    text: str
    when: str
    checks: tuple[str, ...] = ()
    needs: str = ""
    untestable: str = ""

    @property
    def profile(self) -> str:
        """The profile that it belongs to."""
        return self.id.split(".", maxsplit=1)[0]

    @property
    def digest(self) -> str:
        """SHA-256 of what it demands, which is frozen."""
        demanded = [self.id, self.level, list(self.source), self.text, self.when, self.needs]
        return hashlib.sha256(json.dumps(demanded, ensure_ascii=False).encode()).hexdigest()

    def covered_by(self, check: str) -> bool:
        """Say whether a check covers it."""
        return any(fnmatchcase(check, pattern) for pattern in self.checks)

    def matches(self, pattern: str) -> bool:
        """Say whether an id, a glob, a source (`STO-032`) or the beginning of one (`LOOP`) means it."""
        if fnmatchcase(self.id, pattern) or any(fnmatchcase(check, pattern) for check in self.checks):
            return True
        return any(source == pattern or source.startswith((pattern + "-", pattern + " ")) for source in self.source)


@dataclass(frozen=True)
class Selection:
    """Which requirements a run is about.

    :ivar profiles: all if empty
    :ivar patterns: all if empty; see `Requirement.matches`
    :ivar level: the weakest level whose failures count
    """

    profiles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    level: str = "MUST"

    def of(self, requirements: Iterable[Requirement]) -> list[Requirement]:
        """Return the requirements that are selected."""
        chosen = [one for one in requirements if not self.profiles or one.profile in self.profiles]
        return [one for one in chosen if not self.patterns or any(map(one.matches, self.patterns))]

    def counts(self, requirement: Requirement) -> bool:
        """Say whether a failure of the requirement fails the run."""
        return LEVELS.index(requirement.level) <= LEVELS.index(self.level)


@cache
def load(spec: str = SPEC) -> dict[str, Requirement]:
    """Return the requirements of a revision by id, in the order of the profiles.

    :raises ValueError: a file is not as it should be
    """
    found: dict[str, Requirement] = {}
    for profile in PROFILES:
        for entry in _read(HOME / spec / f"{profile}.yaml"):
            requirement = _requirement(entry)
            if requirement.id in found or requirement.profile != profile:
                raise ValueError(f"{profile}.yaml: {requirement.id!r} is there twice, or in the wrong file")
            found[requirement.id] = requirement
    return found


def _read(path: Path) -> Sequence[dict[str, Any]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries: Sequence[dict[str, Any]] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    return entries


def _requirement(entry: dict[str, Any]) -> Requirement:
    texts = {key: str(entry[key]) for key in ("id", "level", "text", "when")}
    optional = {key: str(entry[key]) for key in ("needs", "untestable") if key in entry}
    lists = {key: tuple(map(str, entry.get(key, ()))) for key in ("source", "checks")}
    unknown = entry.keys() - {*texts, "needs", "untestable", "source", "checks"}
    if unknown or texts["level"] not in LEVELS or bool(lists["checks"]) is bool(optional.get("untestable")):
        raise ValueError(f"{texts['id']}: unknown keys {sorted(unknown)}, an unknown level, or checks and a reason")
    return Requirement(**texts, **optional, **lists)  # type: ignore[arg-type]


def locked(spec: str = SPEC) -> dict[str, str]:
    """Return the frozen digests by id."""
    found: dict[str, str] = json.loads((HOME / spec / "lock.json").read_text(encoding="utf-8"))
    return found


def covered_by(check: str, spec: str = SPEC) -> list[Requirement]:
    """Return the requirements that a check covers."""
    return [one for one in load(spec).values() if one.covered_by(check)]
