"""From what SQLite or the system says to one clear line of ours."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from adf_format.errors import (
    AdfError,
    DamagedError,
    LimitError,
    LockedError,
    MissingFileError,
    UnreadableError,
)

from .snapshot.problem import FULL, SnapshotError, from_os_error

_RETRY = "try again when no other process is writing to it"
_ROOM = "free some space or point TMPDIR to a larger folder"
_UNREAD = "cannot be read: "
_NO_ROOM = "free some space and run it again; if there is space, a table has run out of ids"

_Verdict = tuple[type[AdfError], str, str | None]
_SQLITE: tuple[tuple[type[Exception], _Verdict], ...] = (
    (apsw.BusyError, (LockedError, "the file is locked by another process", _RETRY)),
    (apsw.LockedError, (LockedError, "the file is locked by another connection", _RETRY)),
    (apsw.NotADBError, (DamagedError, "not a SQLite database", None)),
    (apsw.FullError, (LimitError, "no space left for temporary data", _ROOM)),
    (apsw.TooBigError, (LimitError, "a value, row or statement is larger than the limit allows", None)),
    (apsw.InterruptError, (LimitError, "the work was interrupted", None)),
    (apsw.NoMemError, (LimitError, "out of memory", None)),
    (apsw.PermissionsError, (UnreadableError, "permission denied", None)),
    (apsw.CantOpenError, (UnreadableError, "the file cannot be opened", "check that you may read it")),
    (apsw.ReadOnlyError, (UnreadableError, "the file may only be read", None)),
    (apsw.AuthError, (UnreadableError, "the schema asks for something that files of others may not do", None)),
    (UnicodeDecodeError, (DamagedError, "a text is not valid Unicode", None)),
    (MemoryError, (LimitError, "out of memory", None)),
)
_SNAPSHOT: dict[str, _Verdict] = {
    "locked": (LockedError, "", _RETRY),
    "full": (LimitError, "no room for a private copy: ", _ROOM),
    "limit": (LimitError, "", "raise the limit or close the program that has the file open"),
    "deadline": (LimitError, "", None),
    "missing": (MissingFileError, "the file went away while it was read: ", None),
    "denied": (UnreadableError, "permission denied while copying: ", None),
    "damaged": (DamagedError, "", None),
    "io": (UnreadableError, _UNREAD, None),
}


def translate(exc: BaseException, path: Path | None, place: str | None = None) -> AdfError:
    """Our error for what apsw or the system raised; one of ours is given back as it is.

    :param place: table, rowid or pragma that was being read
    """
    if isinstance(exc, AdfError):
        return exc
    if isinstance(exc, OSError):
        exc = from_os_error(exc)
    if isinstance(exc, SnapshotError):
        kind, start, hint = _SNAPSHOT[exc.kind]
        return kind(f"{start}{exc.detail}", path, place, hint)
    kind, message, hint = _judge(exc, path)
    return kind(message, path, place, hint)


def translate_writing(exc: BaseException, path: Path, place: str | None = None) -> AdfError:
    """As `translate`, in the words for a file that is being written."""
    exc = _first(exc)
    error = translate(exc, path, place)
    if isinstance(exc, apsw.FullError) or (isinstance(exc, OSError) and exc.errno in FULL):
        error.message, error.hint = "no room left on the disk", _NO_ROOM
    elif isinstance(exc, (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, PermissionError)):
        error.message, error.hint = "the file may not be changed", "check the permissions of the file and its folder"
    elif error.message.startswith(_UNREAD):
        error.message = f"cannot be written: {error.message.removeprefix(_UNREAD)}"
    return error


def _first(exc: BaseException) -> BaseException:
    """What made a transaction fail, not that it could not be rolled back after that: SQLite had done so already."""
    earlier = exc.__context__
    return earlier if "cannot rollback" in str(exc) and isinstance(earlier, apsw.Error) else exc


def _judge(exc: BaseException, path: Path | None) -> _Verdict:
    if isinstance(exc, apsw.CorruptError):
        return DamagedError, f"damaged: {_one_line(exc)}", "restore it from a backup"
    if isinstance(exc, apsw.IOError) and getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ:
        return DamagedError, "damaged: the file ends too early", "restore it from a backup"
    if isinstance(exc, apsw.CantOpenError) and path is not None and not os.access(path, os.R_OK):
        return UnreadableError, "permission denied", None
    for source, verdict in _SQLITE:
        if isinstance(exc, source):
            return verdict
    return UnreadableError, f"{_UNREAD}{_one_line(exc)}", None


def _one_line(exc: BaseException) -> str:
    return " ".join(str(exc).split()) or type(exc).__name__
