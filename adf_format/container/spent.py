"""A rollback journal that is over: SQLite wrote zeros over its head, and was killed before it could delete it.

It means nothing to any reader, but it lies beside the file for ever if nobody writes again. It may only go while
nobody else can have it, and only if our own connection does not have it open: one that was played back stays open in
locking mode EXCLUSIVE, and deleting that one would leave the next transaction without a way back. So it must be the
same before and after the lock was taken.
"""

from __future__ import annotations

import contextlib
import stat
from dataclasses import dataclass
from pathlib import Path

from .locate import beside


@dataclass(frozen=True)
class SpentJournal:
    """What was there, so that it can be told from what is there later.

    :ivar stamp: inode, time of the last change in ns, size in bytes
    """

    path: Path
    stamp: tuple[int, int, int]

    def remove_unchanged(self) -> None:
        """Delete it if it is still the same; call it with the file locked exclusively."""
        with contextlib.suppress(OSError):
            if _stamp(self.path) == self.stamp:
                self.path.unlink()


def spent_journal(real: Path) -> SpentJournal | None:
    """Return the journal beside a file if it is over; None if there is none, or one that may have to be played back."""
    path = beside(real, "-journal")
    try:
        found = _stamp(path)
        if found is None:
            return None
        with path.open("rb") as stream:
            head = stream.read(1)
    except OSError:
        return None
    return SpentJournal(path, found) if head in (b"", b"\0") else None  # what SQLite itself looks at


def _stamp(path: Path) -> tuple[int, int, int] | None:
    facts = path.lstat()
    return (facts.st_ino, facts.st_mtime_ns, facts.st_size) if stat.S_ISREG(facts.st_mode) else None
