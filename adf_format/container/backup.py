"""Copies kept beside a file: `<file>.bak`, made whole or not at all, never over an older one (STO-013, STO-014)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

from .locate import beside

SUFFIX = ".bak"
_PIECE = 1 << 20


def make_backup(source: int, real: Path) -> Path:
    """Copy an open file to its backup name and make it durable; gives the name.

    :param source: descriptor of the main file, which nobody changes meanwhile and whose log is folded in. It must be
        closed after SQLite has closed the file: closing any descriptor drops the locks of the process on it
    :raises OSError: no room, no permission; nothing remains then
    """
    draft = _draft(real)
    draft.unlink(missing_ok=True)
    try:
        _copy(source, draft)
        return _publish(draft, real)
    finally:
        draft.unlink(missing_ok=True)


def sweep_draft(real: Path) -> None:
    """Remove what a killed process left of an unfinished backup; call it with the file locked."""
    with contextlib.suppress(OSError):
        _draft(real).unlink(missing_ok=True)


def backups(real: Path) -> list[Path]:
    """Return the backups of a file, the oldest first by their names: `.bak`, then `.bak.<epoch-ms>`."""
    start = real.name + SUFFIX
    found = [path for path in real.parent.glob(f"{_escaped(start)}*") if _stamp(path.name[len(start) :]) is not None]
    return sorted(found, key=lambda path: _stamp(path.name[len(start) :]) or 0)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex. Not for a file that this process has open with SQLite."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _draft(real: Path) -> Path:
    return real.with_name(f".{real.name}.bak-draft")


def _copy(source: int, draft: Path) -> None:
    mode = os.fstat(source).st_mode & 0o777
    target = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with contextlib.suppress(OSError):
            os.fchmod(target, mode)
        size = os.fstat(source).st_size
        done = 0
        while done < size:
            piece = os.pread(source, _PIECE, done)
            if not piece:
                break
            done += _write(target, piece)
        os.fsync(target)
    finally:
        os.close(target)


def _write(target: int, piece: bytes) -> int:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(target, rest) :]
    return len(piece)


def _publish(draft: Path, real: Path) -> Path:
    name = beside(real, SUFFIX)
    while True:
        try:
            os.link(draft, name)  # never overwrites
        except FileExistsError:
            name = beside(real, f"{SUFFIX}.{time.time_ns() // 1_000_000}")
            time.sleep(0.001)
            continue
        except OSError:
            if os.path.lexists(name):
                name = beside(real, f"{SUFFIX}.{time.time_ns() // 1_000_000}")
            draft.rename(name)  # no hard links here
        sync_folder(real.parent)
        return name


def _stamp(rest: str) -> int | None:
    if not rest:
        return 0
    return int(rest[1:]) if rest[0] == "." and rest[1:].isascii() and rest[1:].isdecimal() else None


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)
