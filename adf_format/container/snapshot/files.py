"""Descriptors that are closed together, and facts about paths."""

from __future__ import annotations

import os
import stat

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in the place of a file must not hold us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Files:
    """Opens files for reading and closes all of them at the end of the block."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def __enter__(self) -> Files:  # noqa: PYI034 - Self would mean importing typing
        return self

    def __exit__(self, *_exc: object) -> None:
        for fd in self._open:
            os.close(fd)

    def open(self, path: str) -> int:
        """A descriptor of an existing file.

        :raises OSError: as the system says
        """
        fd = os.open(path, _FLAGS)
        self._open.append(fd)
        return fd

    def open_if_there(self, path: str) -> int | None:
        """A descriptor, or None when there is no such file or it is not a regular one."""
        try:
            fd = self.open(path)
        except FileNotFoundError:
            return None
        return fd if stat.S_ISREG(os.fstat(fd).st_mode) else None


def stamp(path: str) -> list[int] | None:
    """Device, inode, size in bytes and mtime in ns; None when there is no such file."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib is not imported in the child process
    except OSError:
        return None
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns]
