"""One consistent plain database from a file in use, written to an open descriptor.

Order matters. SHARED on the main file keeps a rollback-journal writer and the last closing WAL
connection away. A read mark of the `-shm` file keeps the WAL from being restarted. Under these a
checkpoint may still copy frames into the main file, and that is harmless: the main file is copied first
and the log is laid over it afterwards, so every page that a checkpoint may have half written is replaced.
If the log is restarted all the same (locks do not work everywhere), its header changes, and we begin anew.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import copying, journal, locks, wal
from .problem import SnapshotError, from_os_error

MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True)
class Request:
    """What to copy: path, lock timeout and time left in seconds, largest copy in bytes."""

    path: Path
    lock_timeout_s: float
    seconds: float | None = None
    max_bytes: int | None = None
    parent: int | None = None


class Watch:
    """Stops the work at its deadline or when nobody waits for it any more."""

    def __init__(self, request: Request) -> None:
        self._end = None if request.seconds is None else time.monotonic() + request.seconds
        self._parent = request.parent

    def __call__(self) -> None:
        """Raise when it is time to stop.

        :raises SnapshotError: `deadline`
        """
        if self._end is not None and time.monotonic() > self._end:
            raise SnapshotError("deadline", "the time limit was reached while copying")
        if self._parent is not None and os.getppid() != self._parent:
            raise SnapshotError("deadline", "the process that asked for the copy has gone")


def snapshot(request: Request, out: int) -> dict[str, Any]:
    """Make the copy and say what was seen; `OSError` becomes a `SnapshotError`."""
    try:
        with ExitStack() as stack:
            return _locked_snapshot(request, out, stack)
    except OSError as exc:
        raise from_os_error(exc) from exc


def _locked_snapshot(request: Request, out: int, stack: ExitStack) -> dict[str, Any]:
    watch = Watch(request)
    main = _open(request.path, stack)
    locks.until(lambda: locks.try_main(main), request.lock_timeout_s, "the file")
    shm = _open_if_there(beside(request.path, "-shm"), stack)
    if shm is not None:
        locks.until(
            lambda: locks.try_shared(shm, locks.WAL_READ_1), request.lock_timeout_s, "the write-ahead log"
        )
    give_up = time.monotonic() + request.lock_timeout_s
    while True:
        with ExitStack() as attempt:
            facts = _attempt(request, main, out, attempt, watch)
        if facts is not None:
            return facts
        if time.monotonic() > give_up:
            raise SnapshotError("locked", "the write-ahead log is restarted faster than it can be read")


def _attempt(request: Request, main: int, out: int, stack: ExitStack, watch: Watch) -> dict[str, Any] | None:
    """One pass; None when the log was restarted or replaced meanwhile."""
    log_path = beside(request.path, "-wal")
    log_fd = _open_if_there(log_path, stack)
    before = _identity(log_fd)
    _check_size(request, main, log_fd)
    stamps = {name: stamp(beside(request.path, name)) for name in ("", "-wal", "-journal")}
    copying.copy_all(main, out, watch)
    head = os.pread(out, 100, 0)
    page_size = page_size_of(head)
    hot = _roll_back(request, main, out, page_size, stack, watch)
    log = wal.Log()
    if log_fd is not None and head.startswith(MAGIC) and page_size:
        log = wal.read_log(log_fd, page_size, watch)
        wal.merge(log_fd, log, page_size, out, watch)
    if stamps[""] is None or stamps[""][:2] != [os.fstat(main).st_dev, os.fstat(main).st_ino]:
        raise SnapshotError("locked", "the file was replaced while it was copied")
    if _identity(_open_if_there(log_path, stack)) != before:
        return None
    return {
        "frames": log.frames,
        "ignored": log.ignored,
        "ended": log.ended if log_fd is not None else "none",
        "hot_journal": hot,
        "stamps": stamps,
    }


def _roll_back(request: Request, main: int, out: int, page_size: int, stack: ExitStack, watch: Watch) -> bool:
    fd = _open_if_there(beside(request.path, "-journal"), stack)
    if fd is None or os.fstat(out).st_size == 0 or not journal.is_hot(fd) or locks.writer_active(main):
        return False
    journal.roll_back(fd, page_size or 4096, out, watch)
    return True


def _check_size(request: Request, main: int, log: int | None) -> None:
    size = os.fstat(main).st_size + (os.fstat(log).st_size if log is not None else 0)
    if request.max_bytes is not None and size > request.max_bytes:
        raise SnapshotError("limit", f"a private copy of {size} bytes would exceed {request.max_bytes} bytes")


def beside(path: Path, suffix: str) -> Path:
    """The path of a sidecar."""
    return path.with_name(path.name + suffix)


def stamp(path: Path) -> list[int] | None:
    """Device, inode, size in bytes and mtime in ns; None when there is no such file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns]


def page_size_of(head: bytes) -> int:
    """The page size in bytes that a database header names; 0 when it is not valid."""
    size = int.from_bytes(head[16:18], "big")
    size = 65536 if size == 1 else size
    return size if wal.is_page_size(size) else 0


def _identity(log: int | None) -> tuple[int, int, bytes] | None:
    """Inode and header of an open log: both stay the same until the log is restarted or replaced."""
    if log is None:
        return None
    facts = os.fstat(log)
    return facts.st_dev, facts.st_ino, os.pread(log, wal.HEADER_SIZE, 0)


def _open(path: Path, stack: ExitStack) -> int:
    # O_NONBLOCK: a fifo put in the place of the file must not hold us
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    stack.callback(os.close, fd)
    return fd


def _open_if_there(path: Path, stack: ExitStack) -> int | None:
    try:
        return _open(path, stack)
    except FileNotFoundError:
        return None


def main(argv: list[str]) -> int:
    """Entry of the child process: a JSON request in, a JSON answer on stdout."""
    asked = json.loads(argv[0])
    out = asked.pop("out")
    path = Path(os.fsdecode(bytes.fromhex(asked.pop("path"))))
    try:
        answer = snapshot(Request(path=path, **asked), out)
    except SnapshotError as exc:
        answer = {"failure": exc.kind, "detail": exc.detail}
    sys.stdout.write(json.dumps(answer))
    return 0
