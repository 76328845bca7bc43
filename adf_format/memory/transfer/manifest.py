"""The record of an import, kept beside the originals inside the `.adf` (MEM-182)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adf_format.errors import JsonTextError, UnreadableError
from adf_format.jsontext import decode
from adf_format.memory.transfer.tree import FOLDER, Link, Original, is_carried

PREFIX = "imported/adaptive-memory/"
PATH = PREFIX + "manifest.json"
FORMAT = "adaptive-memory-bundle/1"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_INTEGER = re.compile(r"-?[0-9]{1,24}")
_MODE = re.compile(r"0?[0-7]{3}")


@dataclass(frozen=True)
class Derived:
    """A page that was made from originals.

    :ivar path: its row; :ivar sources: paths of the workspace; :ivar sha256: of the page as it was made
    """

    path: str
    sources: tuple[str, ...]
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What was imported.

    :ivar rows: paths of rows by path of the workspace, where they are not the usual ones (`--on-conflict rename`)
    :ivar allowed_secrets: whether the import was told to carry what looks like a secret (MEM-189)
    """

    imported_at: str
    timezone: str
    files: tuple[Original, ...]
    links: tuple[Link, ...]
    empty: tuple[str, ...]
    derived: tuple[Derived, ...]
    rows: Mapping[str, str]
    allowed_secrets: bool = False

    def row(self, path: str) -> str:
        """Return the path of the row that holds an original."""
        return self.rows.get(path, PREFIX + path)

    def same_as(self, other: Manifest) -> bool:
        """Whether both record the same, be it at another time."""
        return (self.files, self.links, self.empty, self.derived, dict(self.rows), self.allowed_secrets) == (
            (other.files, other.links, other.empty, other.derived, dict(other.rows), other.allowed_secrets)
        )

    def encoded(self) -> bytes:
        """Return the document; times in nanoseconds are texts, since JavaScript would round them."""
        document = {
            "format": FORMAT,
            "importedAt": self.imported_at,
            "timezone": self.timezone,
            "files": [self._file(one) for one in self.files],
            "links": [{"path": one.path, "target": one.target} for one in self.links],
            "emptyDirs": list(self.empty),
            "derived": [{"path": one.path, "from": list(one.sources), "sha256": one.sha256} for one in self.derived],
            "allowedSecrets": self.allowed_secrets,
        }
        return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()

    def _file(self, one: Original) -> dict[str, Any]:
        entry = {
            "path": one.path,
            "sha256": one.sha256,
            "bytes": one.size,
            "mtimeNs": str(one.mtime_ns),
            "mode": f"{one.mode:04o}",
            "encoding": one.encoding,
        }
        return entry | ({"row": self.rows[one.path]} if one.path in self.rows else {})


def parse(content: bytes) -> Manifest:
    """Read a manifest, whoever wrote it: no path in it leads out of a workspace.

    :raises UnreadableError: not a manifest of this format, or one that asks for what it must not
    """
    try:
        return _manifest(decode(content).value)
    except (JsonTextError, KeyError, TypeError, ValueError, AttributeError) as exc:
        reason = exc.message if isinstance(exc, JsonTextError) else f"{type(exc).__name__}: {exc}"
        raise UnreadableError(f"the manifest cannot be used: {reason[:200]}", place=PATH) from exc


def _manifest(value: Any) -> Manifest:
    if value["format"] != FORMAT:
        raise ValueError(f"format {str(value['format'])[:60]!a}, known is {FORMAT}")
    files = tuple(map(_original, value["files"]))
    return Manifest(
        _text(value["importedAt"]),
        _text(value["timezone"]),
        files,
        tuple(Link(_carried(one["path"]), _text(one["target"])) for one in value.get("links", [])),
        tuple(one if one == FOLDER else _carried(one) for one in value.get("emptyDirs", [])),
        tuple(map(_derived, value.get("derived", []))),
        {one["path"]: _stored(one["row"]) for one in value["files"] if "row" in one},
        value.get("allowedSecrets") is True,
    )


def _original(one: Any) -> Original:
    mtime, mode = str(one["mtimeNs"]), str(one["mode"])
    if not _INTEGER.fullmatch(mtime) or not _MODE.fullmatch(mode) or not isinstance(one["bytes"], int):
        raise ValueError(f"a time, mode or size that is none: {mtime[:30]!a}, {mode[:30]!a}")
    path = _carried(one["path"])
    return Original(path, _digest(one["sha256"]), one["bytes"], int(mtime), int(mode, 8), _text(one["encoding"]))


def _derived(one: Any) -> Derived:
    return Derived(_text(one["path"]), tuple(map(_text, one["from"])), _digest(one["sha256"]))


def _carried(path: Any) -> str:
    if not is_carried(_text(path)):
        raise ValueError(f"{path[:80]!a} is no path of a workspace")
    return str(path)


def _stored(path: Any) -> str:
    if not _text(path).startswith(PREFIX):
        raise ValueError(f"{path[:80]!a} is no place of an original")
    return str(path)


def _digest(value: Any) -> str:
    if not _SHA256.fullmatch(_text(value)):
        raise ValueError("a sha256 that is none")
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value
