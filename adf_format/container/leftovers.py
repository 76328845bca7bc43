"""Private folders for copies, and sweeping those of processes that were killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"adf-format-(\d+)-\w+")


@contextlib.contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """A folder only this user may enter, locked while in use, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"adf-format-{os.getpid()}-", dir=parent))
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Lock a folder until its owner ends, however it ends; False when somebody else has it.

    Process ids mean nothing to a sweeper in another container that shares the folder; locks do.
    """
    if fcntl is None:
        yield True
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
            return
        yield False
    finally:
        os.close(fd)


def sweep(parent: Path) -> list[str]:
    """Remove private folders of this user whose process is gone; gives their names."""
    swept = []
    if fcntl is None:
        return swept
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _is_orphan(entry) and _remove(Path(entry.path)):
                    swept.append(entry.name)
    return swept


def _is_orphan(entry: os.DirEntry[str]) -> bool:
    match = _NAME.fullmatch(entry.name)
    if match is None:
        return False
    facts = entry.stat(follow_symlinks=False)
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not _alive(int(match[1]))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _remove(folder: Path) -> bool:
    with _held(folder) as ours:
        if ours:
            shutil.rmtree(folder, ignore_errors=True)
        return ours
