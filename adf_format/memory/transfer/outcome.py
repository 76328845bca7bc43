"""What a transfer was asked for, and what it did or would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

OnConflict = Literal["fail", "keep", "rename", "replace"]
ON_CONFLICT: tuple[OnConflict, ...] = ("fail", "keep", "rename", "replace")
Action = Literal["add", "same", "update", "replace", "keep", "rename", "conflict", "drift", "insert", "gone"]
WRITES: frozenset[Action] = frozenset({"add", "update", "replace", "rename", "insert"})
Suspect = tuple[int, int, str]  # line and column from 1, kind
Scan = Callable[[str, bytes], Iterable[Suspect]]


@dataclass(frozen=True)
class Options:
    """How to transfer.

    :ivar now: an aware time in the zone of the workspace; :ivar zone: its name
    :ivar on_conflict: what happens where something else is in the place already (MEM-188)
    :ivar derive: make readable pages or text, besides the byte-identical copies (MEM-183)
    :ivar always: also add a line on the focus to `## Always` of the mind
    :ivar dailies: also bring log entries to the notes of their days (MEM-186)
    :ivar soul: also bring `soul.md`
    :ivar citations: also write the messages that are cited (MEM-187)
    :ivar allow_secrets: carry what looks like a secret
    :ivar scan: finds what looks like a secret in a file
    """

    now: datetime
    zone: str
    on_conflict: OnConflict = "fail"
    derive: bool = True
    always: bool = False
    dailies: bool = False
    soul: bool = False
    citations: bool = False
    allow_secrets: bool = False
    scan: Scan = lambda _path, _content: ()


@dataclass(frozen=True)
class Step:
    """What happens to one file.

    :ivar path: of the workspace for an original, else of the agent
    :ivar target: where it goes to, in the other form
    """

    action: Action
    path: str
    target: str
    size: int = 0
    note: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the step as JSON."""
        return {"action": self.action, "path": self.path, "target": self.target, "bytes": self.size, "note": self.note}


@dataclass(frozen=True)
class Secret:
    """A place that looks like a secret; the value is never shown (MEM-086)."""

    path: str
    line: int
    column: int
    kind: str


@dataclass(frozen=True)
class Outcome:
    """What was done, or would be.

    :ivar backup: the copy of the file, or of what was replaced
    """

    agent: Path
    workspace: Path
    dry_run: bool
    steps: tuple[Step, ...]
    secrets: tuple[Secret, ...] = ()
    secrets_allowed: bool = False
    backup: Path | None = None

    @property
    def conflicts(self) -> tuple[Step, ...]:
        """The steps that stop the whole transfer."""
        return tuple(step for step in self.steps if step.action == "conflict")

    @property
    def blocked(self) -> bool:
        """Whether nothing was done, because of conflicts or secrets."""
        return bool(self.conflicts) or (bool(self.secrets) and not self.secrets_allowed)

    @property
    def changes(self) -> bool:
        """Whether anything is written at all."""
        return any(step.action in WRITES for step in self.steps)

    def counts(self) -> dict[str, int]:
        """Return how many files each action concerns."""
        return dict(Counter(step.action for step in self.steps))

    def document(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {
            "agent": str(self.agent),
            "workspace": str(self.workspace),
            "dry_run": self.dry_run,
            "blocked": self.blocked,
            "steps": [step.document() for step in self.steps],
            "secrets": [vars(one) for one in self.secrets],
            "secrets_allowed": self.secrets_allowed,
            "backup": str(self.backup) if self.backup else None,
        }


def suspects(options: Options, files: Iterable[tuple[str, bytes]]) -> tuple[Secret, ...]:
    """Look for secrets in some files (MEM-082)."""
    return tuple(Secret(path, *one) for path, content in files for one in options.scan(path, content))
