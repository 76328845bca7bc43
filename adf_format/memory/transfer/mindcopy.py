"""Copies of a mind in a workspace, byte for byte and with what their rows say, and their way back (MEM-186)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adf_format.creation import seeds
from adf_format.errors import JsonTextError, UnreadableError
from adf_format.files import FileRow
from adf_format.files.extract import unwritable
from adf_format.jsontext import decode
from adf_format.memory import writing
from adf_format.memory.transfer.tree import COPIES

FORMAT = "adf-mind-copy/1"
MANIFEST = f"{COPIES}/manifest.json"
CITATIONS = f"{COPIES}/citations.jsonl"
PROTECTIONS = ("none", "no_delete", "read_only")
_SEEDED = {"mind.md": seeds.MIND.encode(), "mind/log.md": seeds.MIND_LOG.encode()}
Metadata = dict[str, str]


@dataclass(frozen=True)
class Copy:
    """One file of a mind, as it was.

    :ivar path: of its row; :ivar sha256: of its content then
    :ivar metadata: `mime_type`, `protection`, `created_at`, `updated_at`; `authorized` is never restored
    """

    path: str
    sha256: str
    metadata: Metadata


def is_copied(path: str) -> bool:
    """Whether a path is one that a copy of a mind may hold."""
    return (path in ("mind.md", "soul.md") or path.startswith(("mind/", "imported/"))) and unwritable(path) is None


def encoded(rows: Iterable[tuple[FileRow, bytes]], exported_at: str) -> bytes:
    """Return the manifest of some copies."""
    files = [
        {
            "path": row.path,
            "mime_type": row.mime_type,
            "protection": row.protection,
            "authorized": row.authorized,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for row, content in rows
    ]
    document = {"format": FORMAT, "exportedAt": exported_at, "files": files}
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def is_there(root: Path) -> bool:
    """Whether a workspace holds copies of a mind."""
    return (root / MANIFEST).is_file()


def read(root: Path) -> list[tuple[Copy, bytes]]:
    """Return the copies of a mind in a workspace, with what they hold now; those that were removed are not there.

    :raises UnreadableError: the manifest cannot be used
    """
    content = writing.read(root / MANIFEST)
    if content is None:
        return []
    try:
        value = decode(content).value
        if value["format"] != FORMAT:
            raise ValueError("an unknown format")
        copies = [_copy(one) for one in value["files"]]
    except (JsonTextError, KeyError, TypeError, ValueError) as exc:
        raise UnreadableError(f"the manifest cannot be used: {str(exc)[:200]}", root / MANIFEST) from exc
    held = ((one, writing.read(root / COPIES / one.path)) for one in copies)
    return [(one, content) for one, content in held if content is not None]


def texts(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the copies as paths of the workspace, to be looked through."""
    for one, content in read(root):
        yield f"{COPIES}/{one.path}", content


def is_seed(path: str, stored: bytes) -> bool:
    """Whether a row holds nothing but what a new agent starts with."""
    blank = not stored.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    return path in _SEEDED and (blank or stored == _SEEDED[path])


def _copy(one: Any) -> Copy:
    path, metadata = one["path"], {}
    if not isinstance(path, str) or not is_copied(path):
        raise ValueError(f"{path!a:.80} is no file of a mind")
    for name, allowed in _ALLOWED.items():
        value = one.get(name)
        if isinstance(value, str) and allowed(value):
            metadata[name] = value
    return Copy(path, str(one["sha256"]), metadata)


_ALLOWED: dict[str, Callable[[str], bool]] = {
    "mime_type": lambda value: len(value) < 200,
    "protection": lambda value: value in PROTECTIONS,
    "created_at": lambda value: len(value) < 40,
    "updated_at": lambda value: len(value) < 40,
}


def files_of(content: bytes) -> object:
    """Return what a manifest says of the files, without when it was written; None if it cannot be read."""
    try:
        value = decode(content).value
    except JsonTextError:
        return None
    return value.get("files") if isinstance(value, dict) else None
