"""Changing the files of a workspace: locked, atomic, and never over something that was not read (MEM-014, MEM-053).

Whoever is killed at any moment leaves the old file or the new one under the name, never a mixture. The lock is one on
the folder itself, so nothing is left in the workspace and the system lets go of it when a process dies. Programs that
know nothing of the lock (editors, agents) are met by looking again before the new file takes the place of the old.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adf_format.container.backup import sync_folder
from adf_format.container.create import publish
from adf_format.container.snapshot.problem import FULL
from adf_format.errors import AdfError, LimitError, LockedError, UnreadableError, UsageError

MAX_BYTES = 256 << 20  # of a file that is edited; a memory file of this size is none
WAIT_S = 10.0
_ATTEMPTS = 20
_PAUSE_S = 0.01
_DRAFT = ".adf-format-draft"

Edit = Callable[[bytes | None], bytes]


@dataclass(frozen=True)
class Written:
    """What an edit did.

    :ivar before: content before, None if there was no file
    :ivar after: content now
    """

    path: Path
    before: bytes | None
    after: bytes

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.before != self.after


@contextlib.contextmanager
def locked(root: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Keep all other writers of this toolkit out of a workspace.

    :param root: the folder of the workspace, which must exist
    :raises LockedError: another one holds it and did not let go in time
    :raises UnreadableError: the system has no such locks, or the folder cannot be opened
    """
    try:
        import fcntl
    except ImportError as exc:  # pragma: no cover - no such system in CI
        raise UnreadableError("a workspace can only be changed on systems with POSIX locks", root) from exc
    try:
        handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as exc:
        raise translate(exc, root) from exc
    try:
        patience = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as exc:
                if exc.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise translate(exc, root) from exc
            if time.monotonic() > patience:
                raise LockedError("another process is changing this workspace", root, hint="try again in a moment")
            time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(handle)  # the lock goes with it


def edit(path: Path, change: Edit) -> Written:
    """Replace the content of a file by what `change` makes of it; call it with the workspace locked.

    `change` gets the content, None if there is no file, and may run again if somebody who ignores the lock wrote in
    between. If it returns the same bytes nothing is written. The mode stays; a symbolic link stays one.

    :raises UnreadableError: not a regular file, too large, no room, or others never stop writing
    """
    target = path.resolve() if path.is_symlink() else path
    sweep(target.parent)
    for _ in range(_ATTEMPTS):
        before, seen = _read(target)
        after = change(before)
        if after == before:
            return Written(path, before, after)
        if _replace(target, after, seen):
            return Written(path, before, after)
    raise LockedError("somebody else keeps changing this file", path, hint="try again in a moment")


def create(path: Path, content: bytes, *, mode: int = 0o644) -> bool:
    """Make a new file, whole or not at all; return False and touch nothing if the name is taken (MEM-062)."""
    if os.path.lexists(path):
        return False
    try:
        draft = _draft(path, content, None, mode)
        try:
            publish(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except UsageError:
        return False
    except OSError as exc:
        raise translate(exc, path) from exc
    return True


def put(path: Path, content: bytes, *, mode: int, mtime_ns: int, replace: bool = False) -> None:
    """Write a file as it was elsewhere: content, mode and time of change, all or nothing (MEM-184).

    :param replace: take the place of an existing file; else a taken name is refused
    :raises UsageError: the name is taken
    :raises UnreadableError: the system refused
    """
    try:
        draft = _draft(path, content, mode)
        try:
            os.utime(draft, ns=(mtime_ns, mtime_ns))
            if replace:
                draft.replace(path)
                sync_folder(path.parent)
            else:
                publish(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as exc:
        raise translate(exc, path) from exc


def read(path: Path) -> bytes | None:
    """Return the content of a regular file, None if there is none.

    :raises UnreadableError: something else is there, or it cannot be read
    """
    return _read(path)[0]


def sweep(folder: Path) -> None:
    """Remove what killed processes left of unfinished writes in a folder; call it with the workspace locked."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - names, and no pattern that a file name could break
            if is_draft(name):
                (folder / name).unlink(missing_ok=True)


def is_draft(name: str) -> bool:
    """Whether a file name is one of an unfinished write."""
    return name.startswith(".") and name.endswith(_DRAFT)


def translate(exc: OSError, path: Path) -> AdfError:
    """Say what the system refused in the words of this package."""
    if exc.errno in FULL:
        return LimitError("no room left on the disk", path, hint="free some space and run it again")
    if isinstance(exc, PermissionError) or exc.errno == errno.EROFS:
        return UnreadableError("permission denied", path, hint="check the permissions of the file and its folder")
    return UnreadableError(exc.strerror or str(exc), path)


Stamp = tuple[int, int, int, int]


def _read(path: Path) -> tuple[bytes | None, Stamp | None]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None, None
    except OSError as exc:
        raise translate(exc, path) from exc
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableError("this is not a regular file", path)
        if facts.st_size > MAX_BYTES:
            raise LimitError(f"a file of {facts.st_size:,} bytes is not edited (at most {MAX_BYTES:,})", path)
        with os.fdopen(os.dup(handle), "rb") as stream:
            return stream.read(MAX_BYTES + 1), _stamp(facts)
    except OSError as exc:
        raise translate(exc, path) from exc
    finally:
        os.close(handle)


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_ino, facts.st_dev, facts.st_size, facts.st_mtime_ns


def _replace(path: Path, content: bytes, seen: Stamp | None) -> bool:
    """Give the file its new content unless it is no longer the one that was read."""
    if seen is None:
        return create(path, content)
    try:
        facts = path.stat()
        draft = _draft(path, content, stat.S_IMODE(facts.st_mode))
        try:
            with contextlib.suppress(OSError):
                os.chown(draft, facts.st_uid, facts.st_gid)
            if _stamp(path.stat()) != seen:
                return False
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(path.parent)
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise translate(exc, path) from exc
    return True


def _draft(path: Path, content: bytes, exact: int | None, mode: int = 0o600) -> Path:
    """Write a file beside its place and make it durable; `exact` is a mode regardless of the umask."""
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}{_DRAFT}")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            if exact is not None:
                os.fchmod(stream.fileno(), exact)
            os.fsync(stream.fileno())
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft
