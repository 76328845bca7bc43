"""SQLite's POSIX locks, taken in shared mode only.

Byte offsets are those of SQLite's unix VFS. Closing any descriptor of a file drops all POSIX locks of
the *process* on it, therefore this runs in a process that has no SQLite connection of its own.
"""

from __future__ import annotations

import time

from .problem import SnapshotError

try:
    import fcntl
except ImportError:  # Windows: no POSIX locks; the WAL header comparison alone guards consistency there
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost more than the work
if TYPE_CHECKING:
    from collections.abc import Callable

PENDING = 0x40000000
RESERVED = PENDING + 1
SHARED_FIRST = PENDING + 2
SHARED_SIZE = 510
WAL_READ_1 = 124  # in the -shm file; while it is held shared, nobody can restart or truncate the WAL

_PAUSE_S = 0.005


def try_shared(fd: int, start: int, length: int = 1) -> bool:
    """Take a shared lock without waiting; False when another process holds it exclusively."""
    if fcntl is None:
        return True
    try:
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB, length, start)
    except BlockingIOError:
        return False
    except PermissionError:  # EACCES is the other spelling of "would block"
        return False
    return True


def release(fd: int, start: int, length: int = 1) -> None:
    """Give one lock back."""
    if fcntl is not None:
        fcntl.lockf(fd, fcntl.LOCK_UN, length, start)


def until(attempt: Callable[[], bool], timeout_s: float, what: str, alive: Callable[[], None]) -> None:
    """Repeat an attempt until it succeeds.

    :param alive: may raise to stop the waiting
    :raises SnapshotError: `locked` after `timeout_s` seconds (STO-008)
    """
    give_up = time.monotonic() + timeout_s
    while not attempt():
        alive()
        if time.monotonic() >= give_up:
            raise SnapshotError("locked", f"{what} stayed locked by another process for {timeout_s:g} s")
        time.sleep(_PAUSE_S)


def try_main(fd: int) -> bool:
    """SQLite's way to a SHARED lock: probe PENDING, so that a waiting writer is not starved."""
    if not try_shared(fd, PENDING):
        return False
    try:
        return try_shared(fd, SHARED_FIRST, SHARED_SIZE)
    finally:
        release(fd, PENDING)


def writer_active(fd: int) -> bool:
    """Whether another process holds RESERVED, so that its rollback journal is live and not hot."""
    if not try_shared(fd, RESERVED):
        return True
    release(fd, RESERVED)
    return False
