"""A private copy that outlives nothing.

The copy is built in a file without a name, by a child process: closing a descriptor of a database file
drops every POSIX lock this process holds on it, and the caller may have a connection of its own. SQLite
needs a name to open a file, so the copy has one for an instant, in a folder only we may enter.
"""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from . import leftovers
from .model import Limits
from .snapshot import main as snapshot
from .snapshot.problem import SnapshotError, from_os_error

_Opened = TypeVar("_Opened")
_BOOT = (
    "import sys; sys.path.append(sys.argv.pop(1)); from snapshot.main import main; raise SystemExit(main(sys.argv[1:]))"
)
_HOME = str(Path(__file__).parent)
_COPY = "copy.adf"
_GRACE_S = 2.0  # the child keeps the deadline itself; this is for one that hangs


def open_copy(
    real: Path, limits: Limits, seconds: float | None, opener: Callable[[Path], _Opened]
) -> tuple[_Opened, dict[str, Any]]:
    """Copy a database consistently, open the copy and take its name away.

    :param seconds: time left for copying, None for no limit
    :param opener: called once with the path of the copy, which is gone afterwards
    :raises SnapshotError: see its kinds
    """
    if not hasattr(os, "pread"):
        raise SnapshotError("io", "a file in use can only be read on systems with POSIX files")
    try:
        folder = Path(tempfile.gettempdir())
        leftovers.sweep(folder)
        with _nameless_or_named(folder) as (fd, name):
            facts = _run(real, limits, seconds, fd)
            if name is not None:
                return opener(name), facts
            with leftovers.private_folder(folder) as room:
                return opener(_give_name(fd, room / _COPY)), facts
    except OSError as exc:
        raise from_os_error(exc) from exc


@contextlib.contextmanager
def _nameless_or_named(folder: Path) -> Iterator[tuple[int, Path | None]]:
    """An open file without a name or, where the system has no such thing, one in a private folder."""
    with contextlib.ExitStack() as stack:
        name = None
        try:
            fd = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except (AttributeError, OSError):
            name = stack.enter_context(leftovers.private_folder(folder)) / _COPY
            fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        stack.callback(os.close, fd)
        yield fd, name


def _give_name(fd: int, name: Path) -> Path:
    """Link a nameless file, or copy it where that is not possible."""
    try:
        # A directory descriptor makes Python call linkat() with AT_SYMLINK_FOLLOW; the path is absolute
        os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=fd, follow_symlinks=True)
    except OSError:
        with name.open("xb") as target, os.fdopen(os.dup(fd), "rb") as source:
            source.seek(0)
            shutil.copyfileobj(source, target, 1 << 20)
    return name


def _run(real: Path, limits: Limits, seconds: float | None, out: int) -> dict[str, Any]:
    if not sys.executable or getattr(sys, "frozen", False):
        # No interpreter to start: accept that locks of this process on the file are lost
        request = snapshot.Request(
            str(real), lock_timeout_s=limits.lock_timeout_s, seconds=seconds, max_bytes=limits.max_copy_bytes
        )
        return snapshot.snapshot(request, out)
    numbers = (out, limits.lock_timeout_s, seconds, limits.max_copy_bytes, os.getpid())
    arguments = [os.fsencode(real).hex(), *("-" if number is None else str(number) for number in numbers)]
    patience = None if seconds is None else seconds + _GRACE_S
    answer = _call_child(arguments, out, patience)
    if "failure" in answer:
        raise SnapshotError(answer["failure"], answer["detail"])
    return answer


def _call_child(arguments: list[str], out: int, patience: float | None) -> dict[str, Any]:
    flags = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own script
            [sys.executable, *flags, "-c", _BOOT, _HOME, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=(out,),
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise SnapshotError("deadline", "the time limit was reached while copying") from exc
    except OSError as exc:
        raise SnapshotError("io", f"{sys.executable} cannot be started for copying: {exc.strerror}") from exc
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise SnapshotError("io", f"the copying process ended with {done.returncode}: {last[0]}")
    answer: dict[str, Any] = ast.literal_eval(done.stdout.decode())
    return answer
