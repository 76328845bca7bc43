"""Copying a file through descriptors, in pieces, without passing it through Python's memory."""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost more than the work
if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 16 << 20  # bytes between two calls of `alive`
_BUFFER = 1 << 20
_UNSUPPORTED = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}


def copy_all(source: int, out: int, alive: Callable[[], None]) -> int:
    """Copy a whole file to the start of another one; gives the number of bytes.

    :raises OSError: as the system says, for example ENOSPC
    """
    os.ftruncate(out, 0)
    done, piece = 0, _by_kernel if hasattr(os, "copy_file_range") else _by_hand
    while True:
        alive()
        try:
            count = piece(source, out, done)
        except OSError as exc:
            if piece is _by_hand or exc.errno not in _UNSUPPORTED:
                raise
            piece = _by_hand
            continue
        if count == 0:
            if piece is not _by_hand and done == 0:  # some file systems answer 0 for files they cannot copy
                piece = _by_hand
                continue
            return done
        done += count


def _by_kernel(source: int, out: int, offset: int) -> int:
    return os.copy_file_range(source, out, _PIECE, offset, offset)


def _by_hand(source: int, out: int, offset: int) -> int:
    data = os.pread(source, _BUFFER, offset)
    written = 0
    while written < len(data):
        written += os.pwrite(out, data[written:], offset + written)
    return len(data)
