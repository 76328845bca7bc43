"""The files of a workspace, in a folder or imported into an `.adf` (MEM-001 to MEM-006)."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from adf_format.errors import UsageError
from adf_format.memory import writing
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.paths import ACTIVE, CHANNELS, MEMORY, STATE, TASKS
from adf_format.memory.places import inside
from adf_format.memory.zone import day_of

Role = Literal["long_term", "active_context", "daily", "channel", "tasks", "state", "other"]
_ROLES: dict[str, Role] = {MEMORY: "long_term", ACTIVE: "active_context", TASKS: "tasks", STATE: "state"}


class Known(NamedTuple):
    """A file that is there.

    :ivar day: of a daily note
    :ivar mtime_ns: time of change, None if that is not known
    """

    path: str
    role: Role
    size: int
    mtime_ns: int | None = None
    day: date | None = None


class Workspace(Protocol):
    """A workspace, wherever it is kept."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        ...

    def identity(self, path: str) -> Hashable:
        """Return what is the same for two names of one file, None if there is no file."""
        ...

    def files(self) -> Sequence[Known]:
        """Return all files that are claimed, sorted by path."""
        ...

    def daily(self, day: str) -> Sequence[str]:
        """Return the notes of a day, the plain one first."""
        ...

    def channel(self, name: str) -> str:
        """Return the path of a channel's file."""
        ...


class _Shared:
    """What follows from the list of files."""

    def files(self) -> Sequence[Known]:
        raise NotImplementedError

    def daily(self, day: str) -> Sequence[str]:
        """Return the notes of a day, the plain one first, then variants (D10, MEM-073)."""
        found = [one.path for one in self.files() if one.role == "daily" and one.path[7:17] == day]
        return sorted(found, key=lambda path: (len(path) != len("memory/2026-04-01.md"), path))

    def channel(self, name: str) -> str:
        """Return the path of a channel's file (MEM-042)."""
        return f"{CHANNELS}/{channel_file(name)}"


class Folder(_Shared):
    """A workspace in a folder; the list of files is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: tuple[Known, ...] | None = None

    @property
    def recognised(self) -> bool:
        """Whether there is a workspace (MEM-004)."""
        core = (MEMORY, ACTIVE)
        there = (self.root / "memory").is_dir()
        return there and (
            any((self.root / one).is_file() for one in core) or any(one.role == "daily" for one in self.files())
        )

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none.

        :raises UnreadableError: it leads out of the workspace, or cannot be read
        """
        return writing.read(inside(self.root, path))

    def identity(self, path: str) -> Hashable:
        """Return device and inode, which all names of a file share; None if there is no file."""
        try:
            facts = (self.root / path).stat()
        except OSError:
            return None
        return facts.st_dev, facts.st_ino

    def files(self) -> Sequence[Known]:
        """Return what is below `memory/`, and `MEMORY.md`; unfinished writes of ours are none."""
        if self._files is None:
            self._files = tuple(sorted(self._found()))
        return self._files

    def _found(self) -> Iterator[Known]:
        try:
            facts = (self.root / MEMORY).stat()
        except OSError:
            pass
        else:
            yield Known(MEMORY, "long_term", facts.st_size, facts.st_mtime_ns)
        yield from self._below("memory")

    def _below(self, folder: str) -> Iterator[Known]:
        try:
            with os.scandir(self.root / folder) as found:
                entries = list(found)
        except OSError:
            return
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from self._below(path)
            elif not writing.is_draft(entry.name):
                facts = entry.stat(follow_symlinks=False)
                yield _known(path, facts.st_size, facts.st_mtime_ns)


class Imported(_Shared):
    """A workspace that was imported into an `.adf` (MEM-181).

    :param times: of change of the originals, by path, in nanoseconds
    """

    def __init__(self, files: AgentFiles, prefix: str, times: Mapping[str, int] | None = None) -> None:
        self._agent, self._prefix, self._times = files, prefix, times or {}

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        return self._agent.read(self._prefix + path)

    def identity(self, path: str) -> Hashable:
        """Return the content: a row has one name, and equal bytes are one secret."""
        content = self.read(path)
        return content or None

    def files(self) -> Sequence[Known]:
        """Return the originals."""
        rows = ((path, self._agent.row(path)) for path in self._agent.paths(self._prefix))
        found = ((path.removeprefix(self._prefix), row.size) for path, row in rows if row is not None)
        return tuple(_known(path, size, self._times.get(path)) for path, size in found if path != "manifest.json")


def role_of(path: str) -> Role:
    """Return what a file of a workspace is."""
    return _known(path, 0, None).role


def channel_file(name: str) -> str:
    """Return the file name of a channel (MEM-042).

    :raises UsageError: nothing is left of the name
    """
    stem = re.sub(r"[^\w-]", "-", name.strip().removeprefix("#").strip()).lower()
    if not stem.strip("-") or len(stem.encode()) > 200:
        raise UsageError(f"{name!a:.80} is no name of a channel")
    return f"{stem}.md"


def _known(path: str, size: int, mtime_ns: int | None) -> Known:
    folder, _, name = path.rpartition("/")
    if folder == "memory" and name.endswith(".md") and (day := day_of(name[:-3])) is not None:
        return Known(path, "daily", size, mtime_ns, day)
    if folder == CHANNELS and name.endswith(".md") and name != "README.md":
        return Known(path, "channel", size, mtime_ns)
    return Known(path, _ROLES.get(path, "other"), size, mtime_ns)
