"""A file with everything that lies beside it: byte identity of all of it at one moment."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

SIDECARS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Family:
    """What the folder of a file holds under names that begin with the file's own.

    :ivar members: SHA-256 by name, directories as an empty text
    """

    members: dict[str, str]

    @classmethod
    def of(cls, path: Path) -> Family:
        """Look at a file and what lies beside it, without opening it as a database."""
        members = {}
        for member in sorted(path.parent.glob(path.name + "*")):
            members[member.name] = "" if member.is_dir() else hashlib.sha256(member.read_bytes()).hexdigest()
        return cls(members)

    def changes(self, later: Family) -> list[str]:
        """Say in words what is different later; empty if not one byte is."""
        told = [f"{name} appeared" for name in later.members if name not in self.members]
        told += [f"{name} is gone" for name in self.members if name not in later.members]
        common = self.members.keys() & later.members.keys()
        return told + [f"{name} changed" for name in sorted(common) if self.members[name] != later.members[name]]

    def sidecars(self, path: Path) -> list[str]:
        """Return the names of files of SQLite beside the file."""
        return [path.name + ending for ending in SIDECARS if path.name + ending in self.members]
