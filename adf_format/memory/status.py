"""How a memory is: files and their ages, what waits, what a session would load (MEM-101 to MEM-103).

Nothing is written, no lock is taken, and of most files only what the folder says is read: contents are read of what a
session loads, of the tracker and the state, and of notes that may have changed since the last distillation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from adf_format.errors import AdfError
from adf_format.memory.distill import state
from adf_format.memory.distill.due import DEFAULTS, Thresholds, due
from adf_format.memory.folder import Folder, Known, Workspace
from adf_format.memory.pack import Request, build
from adf_format.memory.paths import ACTIVE, TASKS
from adf_format.memory.tasks import STATUSES, Tracker
from adf_format.memory.zone import stamp

STALE_DAYS = 3
CHANNEL_STALE_HOURS = 24


def status(files: Workspace, root: str, now: datetime, limits: Thresholds = DEFAULTS) -> dict[str, Any]:
    """Return the state of a workspace as a document (MEM-101).

    :param now: an aware time in the zone of the workspace
    """
    where = now.tzinfo or UTC
    known = list(files.files())
    last, problem = state.last(files, where)
    found = due(state.candidates(files, last, now), last, now, limits)
    recognised = bool(known) and (not isinstance(files, Folder) or files.recognised)
    return {
        "root": root,
        "kind": "adaptive" if recognised else "none",
        "timezone": str(where),
        "now": now.isoformat(timespec="seconds"),
        "files": [_file(one, where) for one in known if one.role != "other"],
        "notes": _notes(known, found.unprocessed),
        "distillation": {
            **found.document(),
            "lastConsolidatedAt": stamp(last.at) if last.at else None,
            "note": problem,
        },
        "activeContext": _active(known, now),
        "tasks": _tasks(files, now, where),
        "channels": _channels(known, now),
        "lastMemoryWrite": _latest(known, where),
        "sessionPack": pack_of(files, now),
        "other": [one.path for one in known if one.role == "other"],
    }


def pack_of(files: Workspace, now: datetime) -> dict[str, Any]:
    """Return what the start of a main session would load, and what a shared one would not see (MEM-078)."""
    pack = build(files, Request(now, "main"))
    shared = build(files, Request(now, "shared"))
    return {
        "chars": len(pack.text),
        "estTokens": pack.tokens,
        "tokens": "a quarter of the characters",
        "truncated": [part.path for part in pack.parts if part.truncated],
        "missing": list(pack.missing),
        "files": [{"path": part.path, "chars": part.chars, "estTokens": part.tokens} for part in pack.parts],
        "shared": {"sees": [part.path for part in shared.parts], "chars": len(shared.text)},
    }


def _file(one: Known, where: tzinfo) -> dict[str, Any]:
    """Return a file as the folder tells of it; characters are those that its bytes could be at most."""
    changed = None if one.mtime_ns is None else datetime.fromtimestamp(one.mtime_ns // 1_000_000_000, where).isoformat()
    return {
        "path": one.path,
        "role": one.role,
        "bytes": one.size,
        "estTokens": -(-one.size // 4),
        "lastChange": changed,
        "changeSource": "mtime" if changed else None,
    }


def _notes(known: Iterable[Known], waiting: Iterable[Any]) -> dict[str, Any]:
    days = sorted(one.day for one in known if one.day is not None)
    return {
        "count": len(days),
        "first": days[0].isoformat() if days else None,
        "last": days[-1].isoformat() if days else None,
        "unprocessed": [one.note.path for one in waiting],
        "lateEdits": [one.note.path for one in waiting if one.why == "late-edit"],
    }


def _active(known: Iterable[Known], now: datetime) -> dict[str, Any]:
    """Return how old the active context is; it is stale only if there is a newer note (MEM-024)."""
    listed = list(known)
    one = next((one for one in listed if one.path == ACTIVE), None)
    changed = _changed(one, now.tzinfo or UTC) if one else None
    if one is None or changed is None:
        return {"ageHours": None, "stale": None, "empty": None if one is None else one.size == 0}
    newer = any(note.day is not None and (note.mtime_ns or 0) > (one.mtime_ns or 0) for note in listed)
    hours = (now.astimezone(UTC) - changed.astimezone(UTC)) / timedelta(hours=1)
    return {"ageHours": round(hours, 1), "stale": hours > STALE_DAYS * 24 and newer, "empty": one.size == 0}


def _tasks(files: Workspace, now: datetime, where: tzinfo) -> dict[str, Any]:
    try:
        tracker = Tracker.parse(files.read(TASKS))
    except AdfError as exc:
        return {"counts": {}, "overdue": [], "error": str(exc)}
    counts = Counter(str(one.get("status")) for one in tracker.tasks)
    shown = {name: counts.pop(name, 0) for name in STATUSES} | dict(sorted(counts.items()))
    overdue = [{"id": one.get("id"), "title": one.get("title")} for one in tracker.overdue(now, where)]
    return {"counts": shown, "overdue": overdue, "error": None}


def _channels(known: Iterable[Known], now: datetime) -> list[dict[str, Any]]:
    found = []
    for one in known:
        if one.role == "channel":
            changed = _changed(one, now.tzinfo or UTC)
            hours = None if changed is None else (now.astimezone(UTC) - changed.astimezone(UTC)) / timedelta(hours=1)
            stale = hours is not None and hours > CHANNEL_STALE_HOURS
            found.append({"path": one.path, "ageHours": None if hours is None else round(hours, 1), "stale": stale})
    return found


def _latest(known: Iterable[Known], where: tzinfo) -> dict[str, str] | None:
    """Return the last write to memory."""
    dated = [one for one in known if one.mtime_ns is not None and one.role != "other"]
    newest = max(dated, key=lambda one: one.mtime_ns or 0, default=None)
    changed = _changed(newest, where) if newest else None
    return {"path": newest.path, "at": changed.isoformat(timespec="seconds")} if newest and changed else None


def _changed(one: Known, where: tzinfo) -> datetime | None:
    return datetime.fromtimestamp(one.mtime_ns / 1e9, where) if one.mtime_ns is not None else None


def lines(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a person is shown, as name and value."""
    notes, distillation, pack = document["notes"], document["distillation"], document["sessionPack"]
    yield "memory", f"{document['kind']}, in {document['root']} ({document['timezone']})"
    last = document["lastMemoryWrite"]
    yield "last write", f"{last['path']} at {last['at']}" if last else "none known"
    span = f", {notes['first']} to {notes['last']}" if notes["count"] else ""
    yield "daily notes", f"{notes['count']}{span}; {len(notes['unprocessed'])} unprocessed"
    yield "distillation", f"{'DUE' if distillation['due'] else 'not due'}: {distillation['reason']}"
    if distillation["overdue"]:
        yield "", "overdue: `adf-format memory distill plan` gathers what waits"
    for path in notes["lateEdits"]:
        yield "", f"edited after it was distilled: {path}"
    if distillation["note"]:
        yield "", f"state: {distillation['note']}"
    active = document["activeContext"]
    age = "not there" if active["ageHours"] is None else f"{active['ageHours']:,.0f} hours old"
    yield "active context", f"{age}{', STALE' if active['stale'] else ''}{', empty' if active['empty'] else ''}"
    tasks = document["tasks"]
    counted = ", ".join(f"{count} {name}" for name, count in tasks["counts"].items() if count) or "none"
    yield "tasks", tasks["error"] or counted
    for one in tasks["overdue"]:
        yield "", f"overdue: {one['title']} ({one['id']})"
    stale = sum(one["stale"] for one in document["channels"])
    yield "channels", f"{len(document['channels'])}, {stale} not updated for a day" if document["channels"] else "none"
    yield "session start", f"{pack['chars']:,} characters, about {pack['estTokens']:,} tokens ({pack['tokens']})"
    for one in pack["files"]:
        cut = ", TRUNCATED" if one["path"] in pack["truncated"] else ""
        yield "", f"{one['path']}: {one['chars']:,} characters, about {one['estTokens']:,} tokens{cut}"
    for path in pack["missing"]:
        yield "", f"{path}: not there"
    if document["other"]:
        yield "other files", f"{len(document['other'])}, left alone"
