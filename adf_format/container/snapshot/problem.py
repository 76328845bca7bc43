"""The one exception with which a snapshot fails."""

from __future__ import annotations

import errno

FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC, errno.EFBIG}
_MISSING = {errno.ENOENT, errno.ENOTDIR}
_DENIED = {errno.EACCES, errno.EPERM}


class SnapshotError(Exception):
    """A snapshot cannot be made.

    :ivar kind: `locked`, `full`, `limit`, `deadline`, `missing`, `denied`, `damaged` or `io`
    :ivar detail: one clause for a person
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def from_os_error(exc: OSError) -> SnapshotError:
    """The kind of an operating system error."""
    text = exc.strerror or str(exc)
    for kind, numbers in (("full", FULL), ("missing", _MISSING), ("denied", _DENIED)):
        if exc.errno in numbers:
            return SnapshotError(kind, text)
    return SnapshotError("io", text)
