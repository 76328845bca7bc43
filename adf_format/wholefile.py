"""A text file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from adf_format.errors import UnreadableError

_NEW_MODE = 0o666  # less the umask, as for any new file


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Write a file beside its place and give it its name when all is written; an old one is replaced, its mode kept.

    Until then it has no name where the system can do that (`O_TMPFILE`), so that a process that is killed leaves
    nothing; elsewhere a hidden file beside the place may be left.

    :raises UnreadableError: it cannot be written; the message names `path`
    """
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        descriptor, named = _open(partial, target)
    except OSError as exc:
        raise _refused(exc, path) from exc
    try:
        # closing writes what is left, and may fail as well
        with _naming(path), os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
            stream.flush()
            if not named:
                _name(descriptor, partial)
        with _naming(path):
            partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _open(partial: Path, target: Path) -> tuple[int, bool]:
    """Open the file to be; also say whether it has a name already."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    nameless = getattr(os, "O_TMPFILE", None)
    if nameless is not None and Path("/proc/self/fd").is_dir():
        with contextlib.suppress(OSError):
            return _moded(os.open(target.parent, nameless | os.O_WRONLY, _NEW_MODE), mode), False
    return _moded(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _NEW_MODE), mode), True


def _name(descriptor: int, partial: Path) -> None:
    folder = os.open(partial.parent, os.O_RDONLY)  # Python follows the link to the file only when given a folder
    try:
        os.link(f"/proc/self/fd/{descriptor}", partial.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _moded(descriptor: int, mode: int | None) -> int:
    if mode is not None:
        os.fchmod(descriptor, mode)
    return descriptor


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        if exc.filename is not None and str(path) not in str(exc.filename):
            raise  # another file
        raise _refused(exc, path) from exc


def _refused(exc: OSError, path: Path) -> UnreadableError:
    return UnreadableError(f"cannot be written: {exc.strerror or exc}", path)
