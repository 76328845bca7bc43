"""Files of an agent written to a folder: nothing outside it, and nothing over what is there.

Every folder on the way is opened relative to the one before and without following links, so neither a path in the
file nor a link in the folder, nor one that is put there meanwhile, leads anywhere else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adf_format.errors import UnreadableError
from adf_format.files.paths import LONGEST_PART, escapes
from adf_format.files.table import FileRow

Outcome = Literal["written", "same", "refused"]
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_READ = 1 << 20


@dataclass(frozen=True)
class Extracted:
    """What became of one file.

    :ivar outcome: `written`, `same` (it is there already, byte for byte), or `refused`
    :ivar reason: why it was refused
    """

    row: FileRow
    outcome: Outcome
    reason: str | None = None


def extract(files: Iterable[FileRow], content: Callable[[FileRow], bytes], folder: Path) -> Iterator[Extracted]:
    """Write files below a folder, which is made if it is not there; yields what became of each.

    :param content: gives the bytes of a file
    :raises UnreadableError: the folder cannot be made or written
    """
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as exc:
        raise UnreadableError(exc.strerror or str(exc), folder) from exc
    try:
        for row in files:
            reason = unwritable(row.path)
            yield Extracted(row, "refused", reason) if reason else _extract(row, content, root, folder)
    finally:
        os.close(root)


def unwritable(path: str | None) -> str | None:
    """Return why a path cannot be written below a folder, or None."""
    if path is None:
        return "its path is no text"
    if why := escapes(path):
        return f"its path {why}"
    parts = path.split("/")
    if any(part in ("", ".") for part in parts):
        return "its path has an empty part"
    if any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"its path has a part of more than {LONGEST_PART} bytes"
    return None


def _extract(row: FileRow, content: Callable[[FileRow], bytes], root: int, folder: Path) -> Extracted:
    *way, name = (row.path or "").split("/")
    try:
        with _inside(root, way) as place:
            data = content(row)
            if _write(place, name, data):
                return Extracted(row, "written")
            if _is_same(place, name, data):
                return Extracted(row, "same")
            return Extracted(row, "refused", "something else is there already")
    except (NotADirectoryError, FileExistsError):
        return Extracted(row, "refused", "a file is in the place of a folder")
    except OSError as exc:
        if exc.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR, errno.EILSEQ, errno.EINVAL):
            return Extracted(row, "refused", (exc.strerror or str(exc)).lower())
        raise UnreadableError(exc.strerror or str(exc), folder, place=row.path) from exc


@contextlib.contextmanager
def _inside(root: int, way: list[str]) -> Iterator[int]:
    place = os.dup(root)
    try:
        for part in way:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=place)
            deeper = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = deeper
        yield place
    finally:
        os.close(place)


def _write(place: int, name: str, data: bytes) -> bool:
    """Make a file, whole or not at all; False if the name is taken."""
    if _is_taken(place, name):
        return False
    draft = f".{os.urandom(6).hex()}.adf-format-draft"
    try:
        with os.fdopen(os.open(draft, _NEW, 0o644, dir_fd=place), "wb") as stream:
            stream.write(data)
        try:
            os.link(draft, name, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=False)  # never overwrites
        except FileExistsError:
            return False
        except OSError as exc:
            if exc.errno not in _NO_LINKS:
                raise
            os.close(os.open(name, _NEW, 0o644, dir_fd=place))  # no hard links here: claim the name
            os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
        return True
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=place)


def _is_taken(place: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _is_same(place: int, name: str, data: bytes) -> bool:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size != len(data):
            return False
        return all(stream.read(_READ) == data[at : at + _READ] for at in range(0, len(data), _READ))
