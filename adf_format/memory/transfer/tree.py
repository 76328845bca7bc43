"""The files of a workspace as they are carried: bytes, time of change, mode (MEM-181, MEM-184).

Carried is what a workspace claims: `MEMORY.md` and everything below `memory/`. A name that an agent could not hold or
that could not be brought back stops the whole carriage; nothing is left out in silence.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adf_format.errors import LimitError, UnreadableError
from adf_format.files import escapes, folded, parents
from adf_format.files.extract import unwritable
from adf_format.memory.writing import MAX_BYTES, is_draft, translate

TOP = "MEMORY.md"
FOLDER = "memory"
COPIES = "memory/adf_mind"  # copies of a mind (MEM-186) that go back to where they came from


@dataclass(frozen=True)
class Original:
    """One file of a workspace.

    :ivar path: below the root, with `/`
    :ivar mtime_ns: time of change; :ivar mode: permission bits
    :ivar encoding: `utf-8`, or `binary` for bytes that are not
    """

    path: str
    sha256: str
    size: int
    mtime_ns: int
    mode: int
    encoding: str


@dataclass(frozen=True)
class Link:
    """A symbolic link that stays inside the workspace."""

    path: str
    target: str


@dataclass(frozen=True)
class Tree:
    """What a workspace holds, in the order of the paths.

    :ivar empty: folders without anything in them
    """

    root: Path
    originals: tuple[Original, ...]
    links: tuple[Link, ...]
    empty: tuple[str, ...]

    def content(self, original: Original) -> bytes:
        """Read a file again.

        :raises UnreadableError: it is no longer what was seen
        """
        content = _content(self.root / original.path)
        if hashlib.sha256(content).hexdigest() != original.sha256:
            raise UnreadableError("the file changed meanwhile", self.root / original.path, hint="run it again")
        return content


def read(root: Path) -> Tree:
    """Look at all files of a workspace; call it with the workspace locked.

    :raises UnreadableError: something that cannot be carried, or that the system refuses
    """
    originals: list[Original] = []
    links: list[Link] = []
    empty: list[str] = []
    for path, entry in _walk(root):
        if entry is None:
            empty.append(path)
        elif stat.S_ISLNK(entry):
            links.append(_link(root, path))
        elif stat.S_ISREG(entry):
            originals.append(_original(root, path))
        else:
            raise UnreadableError("neither a file nor a folder: it cannot be carried", root / path)
    refuse_collisions(root, [*(one.path for one in originals), *(one.path for one in links), *empty])
    return Tree(root, tuple(originals), tuple(links), tuple(empty))


def refuse_collisions(root: Path, paths: Iterable[str]) -> None:
    """Refuse names that are one file on a system without regard to case and Unicode form (MEM-189).

    :raises UnreadableError: two paths collide, or one is a file and the folder of another
    """
    seen: dict[str, str] = {}
    for path in sorted(paths):
        for part in (*parents(path), path):
            other = seen.setdefault(folded(part), part)
            if other != part:
                said = f"{other!a} and {part!a} are one name on many systems"
                raise UnreadableError(said, root, hint="rename one of them")


def is_carried(path: str) -> bool:
    """Whether a path is one that a workspace claims."""
    return (path == TOP or path.startswith(f"{FOLDER}/")) and unwritable(path) is None


def _walk(root: Path) -> Iterator[tuple[str, int | None]]:
    """Yield `(path, type)`; the type of a folder without anything in it is None."""
    if os.path.lexists(root / TOP):
        yield TOP, (root / TOP).lstat().st_mode
    if (root / FOLDER).is_symlink():
        raise UnreadableError("this folder is a link: what is in it cannot be carried", root / FOLDER)
    if (root / FOLDER).is_dir():
        yield from _below(root, FOLDER)


def _below(root: Path, folder: str) -> Iterator[tuple[str, int | None]]:
    try:
        with os.scandir(root / folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        found = [entry for entry in found if not is_draft(entry.name)]
        if not found:
            yield folder, None
        for entry in found:
            path = f"{folder}/{entry.name}"
            _demand_name(root, path)
            if path == COPIES and os.path.lexists(root / COPIES / "manifest.json"):
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from _below(root, path)
            else:
                yield path, mode
    except OSError as exc:
        raise translate(exc, root / folder) from exc


def _demand_name(root: Path, path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UnreadableError("a name that is not UTF-8 cannot be carried", root / path, hint="rename it") from None
    if why := escapes(path):
        raise UnreadableError(f"a name that {why} cannot be carried", root / path, hint="rename it")


def _link(root: Path, path: str) -> Link:
    target = os.readlink(root / path)  # noqa: PTH115 - the text, as it is
    if leaves(path, target):
        raise UnreadableError("a link that leaves the workspace is not followed", root / path, hint="MEM-006")
    return Link(path, target)


def leaves(path: str, target: str) -> bool:
    """Whether a link at a path leads out of the workspace (MEM-006)."""
    if not target or "\0" in target or target.startswith("/"):
        return True
    depth = path.count("/")
    for part in target.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return True
    return False


def _original(root: Path, path: str) -> Original:
    facts = (root / path).lstat()
    content = _content(root / path)
    after = (root / path).lstat()
    if (facts.st_mtime_ns, facts.st_size, facts.st_ino) != (after.st_mtime_ns, after.st_size, after.st_ino):
        raise UnreadableError("the file changed while it was read", root / path, hint="run it again")
    digest = hashlib.sha256(content).hexdigest()
    return Original(path, digest, len(content), facts.st_mtime_ns, stat.S_IMODE(facts.st_mode), encoding_of(content))


def encoding_of(content: bytes) -> str:
    """Return `utf-8` or `binary`."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return "binary"
    return "utf-8"


def _content(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as exc:
        raise translate(exc, path) from exc
    if len(content) > MAX_BYTES:
        raise LimitError(f"a file of more than {MAX_BYTES:,} bytes is not carried", path)
    return content
