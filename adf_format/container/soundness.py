"""Whether SQLite finds anything wrong with a file that was not wrong before."""

from __future__ import annotations

from pathlib import Path

from adf_format.errors import VerificationError

from .integrity import check_integrity
from .reader import Container, open_readonly

_AGAINST_CONSTRAINTS = ("NULL value in", "CHECK constraint failed in")


def demand_sound(fresh: Container, old: Path | None) -> None:
    """Demand that SQLite finds nothing wrong; values against a constraint that were there before are no news.

    :raises VerificationError: it does
    """
    found, broken = _complaints(fresh)
    if not (found or broken):
        return
    known: frozenset[str] = frozenset()
    if old is not None:
        with open_readonly(old) as container:
            before, broken_before = _complaints(container)
            known = before | broken_before
    new = sorted((found | broken) - known)
    harmful = [one for one in found & known if not one.startswith(_AGAINST_CONSTRAINTS)]
    if harmful:
        raise VerificationError(f"the file was damaged before: {harmful[0]}", fresh.source.path)
    if new:
        raise VerificationError(f"SQLite finds damage: {'; '.join(new[:3])}", fresh.source.path)


def _complaints(container: Container) -> tuple[frozenset[str], frozenset[str]]:
    broken = container.connection.execute("PRAGMA foreign_key_check")
    return frozenset(check_integrity(container).findings), frozenset(f"a reference to nothing: {row}" for row in broken)
