"""The way back: the backup takes the place of the migrated file, which is put aside and not lost.

A changeset of SQLite's session extension could not do this: it records rows and no DDL, so a dropped column or an
added table would stay. The backup is the old file itself, byte for byte.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from adf_format.container import Container, check_integrity, open_for_change, open_readonly, stored_version
from adf_format.container import backup as backups
from adf_format.container.locate import beside, locate
from adf_format.errors import AdfError, DamagedError, MissingFileError, NotAnAdfError, UsageError, VerificationError
from adf_format.jsontext import decode


@dataclass(frozen=True)
class Undone:
    """What became of a file.

    :ivar version: its version now, :ivar was: the one it had
    :ivar backup: the backup that took its place; :ivar others: backups that are still there
    :ivar aside: where the migrated file is now
    :ivar sha256: of the file as it is now
    """

    file: Path
    version: int | None
    was: int | None
    backup: Path
    others: tuple[Path, ...]
    aside: Path
    sha256: str


def undo(path: str | Path, *, backup: str | Path | None = None, sha256: str | None = None) -> Undone:
    """Bring back the file from before a migration.

    :param backup: the backup to take; the newest one beside the file when left out
    :param sha256: what its bytes must hash to, as a receipt says
    :raises MissingFileError: there is no backup
    :raises VerificationError: the backup is not what the receipt says, or damaged
    :raises UsageError: the backup is of another agent, or not of an older version
    :raises LockedError: the file is in use
    """
    place = locate(path)
    real, found = place.real, backups.backups(place.real)
    chosen = Path(backup) if backup is not None else (found[-1] if found else None)
    if chosen is None or not chosen.is_file():
        raise MissingFileError(f"there is no backup {chosen.name if chosen else ''}".rstrip(), place.given)
    version, agent = _examine(chosen, sha256)
    digest = sha256 or backups.sha256_of(chosen)
    was = _release(real, place.given, version, agent)
    aside = _put_aside(real)
    chosen.replace(real)
    backups.sync_folder(real.parent)
    if backups.sha256_of(real) != digest:
        raise VerificationError("the file that came back is not the backup", place.given)
    others = tuple(one for one in found if one != chosen)
    return Undone(place.given, version, was, chosen, others, aside, digest)


def _examine(chosen: Path, sha256: str | None) -> tuple[int | None, str | None]:
    """Look at a backup before anything is moved."""
    if sha256 is not None and backups.sha256_of(chosen) != sha256:
        raise VerificationError("the backup is not the file that the receipt speaks of", chosen)
    with open_readonly(chosen) as container:
        findings = check_integrity(container, most=1).findings
        if findings:
            raise VerificationError(f"the backup is damaged: {findings[0]}", chosen)
        return stored_version(container.connection), _agent(container)


def _agent(container: Container) -> str | None:
    try:
        text = container.connection.execute("SELECT config_json FROM adf_config WHERE id = 1").get
        value = decode(text).value if isinstance(text, str) else None
    except (AdfError, ValueError):
        return None
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _release(real: Path, given: Path, version: int | None, agent: str | None) -> int | None:
    """Make sure that nobody uses the file, and fold its log in; a damaged one is put aside as it is."""
    try:
        with open_readonly(real) as container:
            was, other = stored_version(container.connection), _agent(container)
        if agent is not None and other is not None and agent != other:
            raise UsageError("the backup is of another agent", given)
        if was is not None and version is not None and version >= was:
            raise UsageError(f"the backup has version {version}, the file {was}: there is nothing to undo", given)
        with open_for_change(real, backup=False, newest=None, integrity=False):
            pass
    except (DamagedError, NotAnAdfError):
        return None
    return was


def _put_aside(real: Path) -> Path:
    """Give the file a second name, so that its own can be taken over in one go."""
    name = beside(real, ".undone")
    while os.path.lexists(name):
        name = beside(real, f".undone.{time.time_ns() // 1_000_000}")
    for suffix in ("-wal", "-journal"):  # only beside a damaged file; they belong to it
        if beside(real, suffix).exists():
            beside(real, suffix).rename(beside(name, suffix))
    try:
        os.link(real, name)
    except OSError:
        real.rename(name)
    return name
