"""Making a new `.adf`: complete under its name, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from adf_format.errors import MissingFileError, UnreadableError, UsageError

from .backup import sync_folder
from .failures import translate_writing
from .locate import beside

_SIDECARS = ("-wal", "-shm", "-journal")
_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON"  # STO-003


def create(path: str | Path, build: Callable[[apsw.Connection], None]) -> None:
    """Build a database in the same folder and give it its name when it is complete; never overwrite.

    :param build: fills the database; what it raises is passed on and nothing remains
    :raises UsageError: the path exists already
    :raises MissingFileError: there is no such folder
    :raises UnreadableError: the system or SQLite refused
    """
    target = Path(path)
    refuse_existing(target)
    try:
        draft = _new_draft(target)
        try:
            _fill(draft, build)
            publish(draft, target)
        finally:
            _remove(draft)
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise MissingFileError(f"no file can be made there: {exc.strerror}", target) from exc
    except (OSError, apsw.Error) as exc:
        raise translate_writing(exc, target) from exc


def refuse_existing(target: Path) -> None:
    """Refuse to write over a file, or beside sidecars that SQLite would take for those of the new one.

    :raises UsageError, UnreadableError: something is there
    """
    if os.path.lexists(target):
        raise UsageError("the file exists already", target, hint="choose another name")
    for suffix in _SIDECARS:
        # SQLite would take a stale log beside the new file for its own
        if os.path.lexists(beside(target, suffix)):
            raise UnreadableError(f"a leftover {target.name}{suffix} lies at this place", target)


def _new_draft(target: Path) -> Path:
    draft = target.with_name(f".{target.name}.{os.urandom(6).hex()}.draft")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))  # the mode SQLite itself uses
    return draft


def _fill(draft: Path, build: Callable[[apsw.Connection], None]) -> None:
    connection = apsw.Connection(draft.absolute().as_uri(), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
    try:
        connection.execute(_PRAGMAS).fetchall()  # a statement after one that gives rows runs only when asked
        build(connection)
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()


def publish(draft: Path, target: Path) -> None:
    """Give a complete file its name, durably, and never over another one.

    :raises UsageError: the name is taken
    """
    with draft.open("rb") as stream:
        os.fsync(stream.fileno())
    try:
        os.link(draft, target)  # the one way that is atomic and never overwrites
    except FileExistsError:
        raise UsageError("the file exists already", target, hint="choose another name") from None
    except OSError:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # no hard links here: claim the name
        draft.replace(target)
    sync_folder(target.parent)


def _remove(draft: Path) -> None:
    for suffix in ("", *_SIDECARS):
        beside(draft, suffix).unlink(missing_ok=True)
