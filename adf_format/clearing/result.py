"""What a clear did, or would do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cleared:
    """One thing that was cleared.

    :ivar what: `loop`, `mind`, `document` or `inbox`
    :ivar name: name of the loop, path of the file, or the table
    :ivar entries: rows deleted; 1 for a file that was emptied, 0 if there was nothing
    :ivar size_bytes: bytes of the file that was emptied; length of the archived text in UTF-16 units; else None
    :ivar archived: whether a snapshot was written, or would be
    :ivar audit_id: id of the snapshot
    :ivar start_seq: lowest seq deleted; :ivar end_seq: highest one; None for anything but a transcript
    :ivar reason: why nothing is archived, or why there is nothing
    """

    what: str
    name: str
    entries: int
    archived: bool = False
    audit_id: int | None = None
    start_seq: int | None = None
    end_seq: int | None = None
    size_bytes: int | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    :ivar dry_run: whether nothing was written
    :ivar backup: the copy from before, if one was made
    """

    path: Path
    version: int
    dry_run: bool
    cleared: tuple[Cleared, ...]
    backup: Path | None = None

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to clear."""
        return not any(one.entries for one in self.cleared)

    def kept(self, backup: Path | None) -> Outcome:
        """Return it with the name of the backup."""
        return replace(self, backup=backup)
