"""Files that a user names as settings: read as a whole, but only so far."""

from __future__ import annotations

import errno
import os
from pathlib import Path

MAX_BYTES = 256 << 20  # a baseline of many thousands of files; a device such as /dev/zero never ends


def read_small(path: Path) -> str:
    """Return the text of a file; a pipe does as well.

    :raises OSError: it cannot be read, or is larger than `MAX_BYTES`
    :raises UnicodeDecodeError: it is not UTF-8
    """
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data.decode("utf-8")
