"""The file that says when a distillation ran last (MEM-051, MEM-052, MEM-091)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from adf_format.errors import JsonTextError, UnreadableError
from adf_format.jsontext import REFUSED, decode, loads
from adf_format.memory import splice
from adf_format.memory.distill.due import Last, Note, Recorded
from adf_format.memory.folder import Folder, Known, Workspace
from adf_format.memory.paths import OLD_STATE, STATE
from adf_format.memory.placing import BOM, outline, text_of
from adf_format.memory.zone import parse, stamp

ROUNDING_S = 2  # of clocks and file systems
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def last(files: Workspace, where: tzinfo) -> tuple[Last, str | None]:
    """Return the last distillation, and what is wrong or odd about the file that tells of it.

    The name that the first revision used is read if the file of today is not there (D4).
    """
    content, note = files.read(STATE), None
    if content is None and (content := files.read(OLD_STATE)) is not None:
        note = f"read from {OLD_STATE}, the name of old versions"
    if content is None:
        return Last(), None
    try:
        value = _decoded(content.removeprefix(b"\xef\xbb\xbf"))
    except JsonTextError as exc:
        return Last(), f"not readable: {exc.message}"
    at = value.get("lastConsolidatedAt") if isinstance(value, dict) else None
    moment = parse(at, where)
    if moment is None and at is not None:
        note = f"lastConsolidatedAt is no time: {str(at)[:40]!a}"
    recorded = value.get("notes") if isinstance(value, dict) else None
    return Last(moment, _States(recorded)), note


def notes(files: Workspace) -> list[Note]:
    """Return the facts on all daily notes; reads each of them."""
    return [one for known in files.files() if (one := note_of(files, known)) is not None]


def candidates(files: Workspace, known: Last, now: datetime) -> list[Note]:
    """Return the facts on those notes that may wait: what a date and a record settle is not read."""
    day = known.at.astimezone(now.tzinfo).date() if known.at else None
    since = (known.at.timestamp() - ROUNDING_S) * 1e9 if known.at else 0.0
    waiting = (
        one
        for one in files.files()
        if one.day is not None and (day is None or one.day >= day or _may_differ(one, known.notes, since))
    )
    return [note for one in waiting if (note := note_of(files, one)) is not None]


def _may_differ(one: Known, states: Mapping[str, Recorded], since: float) -> bool:
    """Whether an old note may be a late edit: other size, or changed since the last distillation."""
    recorded = states.get(one.path[len("memory/") : -len(".md")])
    if recorded is None:
        return False
    return one.mtime_ns is None or one.size != recorded.size or one.mtime_ns >= since


def note_of(files: Workspace, one: Known) -> Note | None:
    """Return the facts on a daily note, None for anything else."""
    content = files.read(one.path) if one.role == "daily" and one.day is not None else None
    if content is None or one.day is None:
        return None
    changed = datetime.fromtimestamp((one.mtime_ns or 0) / 1e9, UTC)
    return Note(one.path, one.day, hashlib.sha256(content).hexdigest(), len(content), changed, is_empty(content))


def is_empty(content: bytes) -> bool:
    """Whether a note has no text besides headings, blank lines and comments (MEM-015)."""
    text = _COMMENT.sub("", content.decode("utf-8", "replace"))
    seen = outline(text)
    titles = {one.line for one in seen.headings}
    return not any(line.strip(BOM + " \t\r\n") for number, line in enumerate(seen.lines) if number not in titles)


def encoded(content: bytes | None, at: datetime, gathered: Iterable[tuple[str, Recorded]]) -> bytes:
    """Return the state with a new time and the states of notes; everything else in it stays (MEM-053).

    :raises UnreadableError: what is there cannot be read, and is left as it is
    """
    text = text_of(content, STATE).removeprefix(BOM) if content is not None else "{}\n"
    try:
        value = decode(text).value
        if not isinstance(value, dict):
            raise JsonTextError("no object")
        known = value.get("notes")
        states: dict[str, Any] = {
            **(known if isinstance(known, dict) else {}),
            **{key: {"sha256": one.sha256, "bytes": one.size} for key, one in gathered},
        }
        if content is None:
            return (json.dumps({"lastConsolidatedAt": stamp(at), "notes": states}, indent=2) + "\n").encode()
        text = splice.set_member(text, splice.parse(text), "lastConsolidatedAt", stamp(at))
        return splice.set_member(text, splice.parse(text), "notes", states).encode()
    except JsonTextError as exc:
        hint = "it was left as it is; mend it by hand"
        raise UnreadableError(f"the state of the distillation cannot be read: {exc}", place=STATE, hint=hint) from exc


def _decoded(content: bytes) -> Any:
    """Decode a state; nothing in it depends on what only the careful way keeps."""
    try:
        return loads(content)
    except REFUSED:
        return decode(content).value


class _States(Mapping[str, Recorded]):
    """The recorded states of notes; most are never asked for, so each is looked at when it is."""

    def __init__(self, value: object) -> None:
        self._value = value if isinstance(value, dict) else {}

    def __getitem__(self, name: str) -> Recorded:
        one = self._value[name]
        if not isinstance(one, dict) or not isinstance(one.get("sha256"), str):
            raise KeyError(name)
        size = one.get("bytes")
        return Recorded(one["sha256"], size if isinstance(size, int) else -1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)


def workspace(folder: Folder) -> Folder:
    """Return a workspace that was recognised.

    :raises UnreadableError: it is none
    """
    if not folder.recognised:
        raise UnreadableError(
            "there is no memory in this folder", folder.root, hint="`adf-format memory init` makes one"
        )
    return folder
