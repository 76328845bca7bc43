"""Paths of an agent's files: where they would lead outside, and where two are one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$)", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*]')
LONGEST_PART = 255


def escapes(path: str) -> str | None:
    """Return why a path leads outside the folder that it is joined to, or None."""
    if path.startswith("/"):
        return "is absolute"
    if "\0" in path:
        return "holds NUL"
    if "\\" in path:
        return "holds a backslash, which separates folders on Windows"
    if path[1:2] == ":":
        return "begins with a drive"
    if ".." in path.split("/"):
        return "climbs out of its folder by `..`"
    return None


def unportable(path: str) -> str | None:
    """Return why a path cannot be had on every file system, or None."""
    return next((why for part in path.split("/") if (why := _unportable_part(part))), None)


def _unportable_part(part: str) -> str | None:
    if part in ("", "."):
        return "has an empty part"
    if len(part.encode("utf-8", "replace")) > LONGEST_PART:
        return f"has a part of more than {LONGEST_PART} bytes"
    if part != ".." and part[-1] in " .":
        return "has a part that ends with a space or a dot"
    if found := _FORBIDDEN.search(part):
        return f"holds {found[0]}, which Windows does not allow"
    if RESERVED.fullmatch(part.partition(".")[0]):
        return "has a part that names a device on Windows"
    return None


def folded(path: str) -> str:
    """Return what two paths share that a file system without regard to case and Unicode form takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def parents(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, the outermost first."""
    end = path.find("/", 1)
    while end != -1:
        yield path[:end]
        end = path.find("/", end + 1)
