"""One consistent plain database from a file in use, written to an open descriptor.

Order matters. SHARED on the main file keeps a rollback-journal writer and the last closing WAL
connection away. A read mark of the `-shm` file keeps the WAL from being restarted. Under these a
checkpoint may still copy frames into the main file, and that is harmless: the main file is copied first
and the log is laid over it afterwards, so every page that a checkpoint may have half written is replaced.
If the log is restarted all the same (locks do not work everywhere), its header changes, and we begin anew.

Imports are few on purpose: they are most of the time the child process takes.
"""

from __future__ import annotations

import os
import sys
import time

from . import copying, journal, locks, wal
from .files import Files, stamp
from .problem import SnapshotError, from_os_error

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost more than the work
if TYPE_CHECKING:
    from typing import Any

MAGIC = b"SQLite format 3\0"
SUFFIXES = ("", "-wal", "-journal")


class Request:
    """What to copy.

    :ivar path: the main file, links resolved
    :ivar lock_timeout_s: how long to wait for one lock
    :ivar seconds: time left for all of it, or None
    :ivar max_bytes: largest main file plus log, or None
    :ivar parent: process that waits for the answer, or None when it is this one
    """

    def __init__(
        self,
        path: str,
        *,
        lock_timeout_s: float = 5.0,
        seconds: float | None = None,
        max_bytes: int | None = None,
        parent: int | None = None,
    ) -> None:
        self.path = path
        self.lock_timeout_s = lock_timeout_s
        self.max_bytes = max_bytes
        self._limit_s = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._parent = parent

    def alive(self) -> None:
        """Stop the work at its deadline or when nobody waits for it any more.

        :raises SnapshotError: `deadline`
        """
        if self._end is not None and time.monotonic() > self._end:
            raise SnapshotError("deadline", "the time limit was reached while copying")
        if self._parent is not None and os.getppid() != self._parent:
            raise SnapshotError("deadline", "the process that asked for the copy has gone")


def snapshot(request: Request, out: int) -> dict[str, Any]:
    """Make the copy and say what was seen; `OSError` becomes a `SnapshotError`."""
    try:
        with Files() as files:
            return _under_locks(request, files, out)
    except OSError as exc:
        raise from_os_error(exc) from exc


def _under_locks(request: Request, files: Files, out: int) -> dict[str, Any]:
    main = files.open(request.path)
    locks.until(lambda: locks.try_main(main), request.lock_timeout_s, "the file", request.alive)
    shm = files.open_if_there(request.path + "-shm")
    if shm is not None:
        mark = locks.WAL_READ_1
        locks.until(lambda: locks.try_shared(shm, mark), request.lock_timeout_s, "the log", request.alive)
    give_up = time.monotonic() + request.lock_timeout_s
    while True:
        with Files() as attempt:
            facts = _attempt(request, main, out, attempt)
        if facts is not None:
            return facts
        if time.monotonic() > give_up:
            raise SnapshotError("locked", "the write-ahead log is restarted faster than it can be read")


def _attempt(request: Request, main: int, out: int, files: Files) -> dict[str, Any] | None:
    """One pass; None when the log was restarted or replaced meanwhile."""
    log_fd = files.open_if_there(request.path + "-wal")
    before = _identity(log_fd)
    _check_size(request, main, log_fd)
    stamps = {suffix: stamp(request.path + suffix) for suffix in SUFFIXES}
    copying.copy_all(main, out, request.alive)
    page_size = page_size_of(os.pread(out, 100, 0))
    hot = _roll_back(request, main, out, files)
    log = wal.Log("none")
    if log_fd is not None and page_size:
        log = wal.read_log(log_fd, page_size, request.alive)
        _check_bytes(request, log.database_pages * page_size)
        wal.merge(log_fd, log, page_size, out, request.alive)
    _same_file(main, stamps[""])
    if _identity(files.open_if_there(request.path + "-wal")) != before:
        return None
    return {
        "frames": log.frames,
        "ignored": log.ignored,
        "ended": log.ended,
        "hot_journal": hot,
        "size": os.fstat(out).st_size,
        "stamps": stamps,
    }


def _roll_back(request: Request, main: int, out: int, files: Files) -> bool:
    """Roll back a hot journal in the copy: one that no living writer is still filling."""
    fd = files.open_if_there(request.path + "-journal")
    if fd is None or os.fstat(out).st_size == 0 or not journal.is_hot(fd) or locks.writer_active(main):
        return False
    page_size = page_size_of(os.pread(out, 100, 0))
    return journal.Playback(fd, out, request.alive).run(page_size or 4096)


def _check_size(request: Request, main: int, log: int | None) -> None:
    _check_bytes(request, os.fstat(main).st_size + (os.fstat(log).st_size if log is not None else 0))


def _check_bytes(request: Request, size: int) -> None:
    if request.max_bytes is not None and size > request.max_bytes:
        raise SnapshotError("limit", f"a private copy of {size} bytes would exceed {request.max_bytes} bytes")


def _same_file(main: int, seen: list[int] | None) -> None:
    facts = os.fstat(main)
    if seen is None or seen[:2] != [facts.st_dev, facts.st_ino]:
        raise SnapshotError("locked", "the file was replaced while it was copied")


def page_size_of(head: bytes) -> int:
    """The page size in bytes that a database header names; 0 when it is not a valid header."""
    size = int.from_bytes(head[16:18], "big")
    size = 65536 if size == 1 else size
    return size if head.startswith(MAGIC) and wal.is_page_size(size) else 0


def _identity(log: int | None) -> tuple[int, int, bytes] | None:
    """Inode and header of an open log: both stay the same until the log is restarted or replaced."""
    if log is None:
        return None
    facts = os.fstat(log)
    return facts.st_dev, facts.st_ino, os.pread(log, wal.HEADER_SIZE, 0)


def main(argv: list[str]) -> int:
    """Entry of the child process; the answer on stdout is a Python literal.

    :param argv: path in hex, descriptor of the copy, lock timeout, seconds, bytes, parent; `-` is none
    """
    path, out, timeout, seconds, most, parent = argv
    request = Request(
        os.fsdecode(bytes.fromhex(path)),
        lock_timeout_s=float(timeout),
        seconds=None if seconds == "-" else float(seconds),
        max_bytes=None if most == "-" else int(most),
        parent=int(parent),
    )
    answer: dict[str, Any]
    try:
        answer = snapshot(request, int(out))
    except SnapshotError as exc:
        answer = {"failure": exc.kind, "detail": exc.detail}
    sys.stdout.write(ascii(answer))
    return 0
