"""Finding the file and its sidecars without opening anything that could block."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adf_format.errors import MissingFileError, UnreadableError

from .snapshot import journal, wal
from .snapshot.files import stamp
from .snapshot.main import SUFFIXES

Stamps = dict[str, list[int] | None]

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_OTHER_LIBRARIES = frozenset({"_sqlite3", "pysqlite3", "sqlcipher3", "pysqlcipher3"})
_DESCRIPTORS = Path("/dev/fd")


@dataclass(frozen=True)
class Place:
    """A regular file: `given` by the caller, `real` behind links, `size` in bytes, `stamps` of its parts."""

    given: Path
    real: Path
    size: int
    stamps: Stamps


def locate(path: str | Path) -> Place:
    """Resolve a path as SQLite does: sidecars lie beside the target of a link.

    :raises MissingFileError: nothing there, or not a regular file
    :raises UnreadableError: no permission, or a loop of links
    """
    given = Path(path)
    try:
        real = Path(os.path.realpath(given, strict=True))
        facts = real.stat()
    except (OSError, ValueError) as exc:
        raise _not_found(given, exc) from exc
    if not stat.S_ISREG(facts.st_mode):
        kind = next((name for test, name in _KINDS if test(facts.st_mode)), "not a file")
        raise MissingFileError(f"this is {kind}, not a regular file", given)
    return Place(given, real, facts.st_size, take_stamps(real))


def _not_found(given: Path, exc: OSError | ValueError) -> UnreadableError:
    number = exc.errno if isinstance(exc, OSError) else None
    if number in {errno.ENOENT, errno.ENOTDIR}:
        if given.is_symlink():
            return MissingFileError("the symbolic link points to nothing", given)
        return MissingFileError("no such file", given)
    if number == errno.ELOOP:
        return MissingFileError("the symbolic links form a loop", given)
    if number in {errno.EACCES, errno.EPERM}:
        return UnreadableError("permission denied", given)
    return MissingFileError(f"not a usable path: {exc}", Path(repr(str(given))) if number is None else given)


def take_stamps(real: Path) -> Stamps:
    """The state of the main file, its log and its journal, by suffix."""
    return {suffix: stamp(f"{real}{suffix}") for suffix in SUFFIXES}


def beside(path: Path, suffix: str) -> Path:
    """The path of a sidecar."""
    return path.with_name(path.name + suffix)


def needs_copy(place: Place) -> bool:
    """Whether the main file alone may not be the whole truth.

    That is so with frames in a log, with a journal to roll back, and with a log and its shared memory
    present even when the log is empty: then somebody may be writing right now. Last, when another copy of
    SQLite in this process has the file open: closing ours would drop its POSIX locks.
    """
    log = place.stamps["-wal"]
    if log is not None and (log[2] > wal.HEADER_SIZE or beside(place.real, "-shm").exists()):
        return True
    return _journal_has_magic(place) or is_open_elsewhere(place)


def _journal_has_magic(place: Place) -> bool:
    found = place.stamps["-journal"]
    if found is None or found[2] == 0:
        return False
    path = beside(place.real, "-journal")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as stream:  # SQLite never locks a journal: no lock is lost by closing it
            return stream.read(len(journal.MAGIC)) == journal.MAGIC
    except OSError:
        return False


def is_open_elsewhere(place: Place) -> bool:
    """Whether another copy of SQLite in this process has the file open."""
    if _OTHER_LIBRARIES.isdisjoint(sys.modules):
        return False
    main = place.stamps[""]
    try:
        return main is not None and any(found == main[:2] for found in _open_inodes())
    except OSError:  # no list of descriptors to look at: a copy is safe
        return True


def _open_inodes() -> Iterator[list[int]]:
    for entry in _DESCRIPTORS.iterdir():
        try:
            facts = os.fstat(int(entry.name))
        except OSError:  # the descriptor of the listing itself
            continue
        yield [facts.st_dev, facts.st_ino]
