"""Orient and gather: what a distillation has to work with (MEM-095, MEM-096)."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from adf_format.errors import JsonTextError, UnreadableError, UsageError
from adf_format.jsontext import decode
from adf_format.memory import writing
from adf_format.memory.distill import state
from adf_format.memory.distill.due import Recorded, Unprocessed, unprocessed
from adf_format.memory.folder import Folder
from adf_format.memory.guard import suspects
from adf_format.memory.paths import MEMORY
from adf_format.memory.places import inside, make_folder
from adf_format.memory.placing import outline
from adf_format.memory.zone import stamp

WARN_CHARS, MAX_CHARS = 10_000, 12_000  # MEM-034
HISTORY = "memory/.history"
INSTRUCTIONS = tuple(
    """\
Keep: new systems and tools, lessons (from mistakes above all), decisions that last and their reasons, changed \
preferences and ways of working, facts about the environment that will not change soon.
Leave out: routine success, steps of debugging, what code comments say, values that change by the hour, common \
knowledge, and every secret.
Put each into the section of its subject in MEMORY.md; a date is no subject.
Take out of MEMORY.md what is no longer relevant, what newer entries replace, and detail that a summary can carry.
""".splitlines()
)


@dataclass(frozen=True)
class Plan:
    """What was gathered, at one instant.

    :ivar at: the gather instant G; :ivar memory_sha256: of `MEMORY.md` then, None if there was none
    :ivar notes: states of the gathered notes by path
    """

    id: str
    at: datetime
    memory_sha256: str | None
    notes: dict[str, Recorded]
    waiting: tuple[Unprocessed, ...] = field(default=(), repr=False)

    def encoded(self) -> bytes:
        """Return what is kept of a plan until its commit."""
        states = {path: {"sha256": one.sha256, "bytes": one.size} for path, one in self.notes.items()}
        document = {"id": self.id, "gatheredAt": self.at.isoformat(), "memory": self.memory_sha256, "notes": states}
        return (json.dumps(document, indent=2) + "\n").encode()


def gather(root: Path, now: datetime, *, everything: bool = False) -> tuple[Plan, dict[str, Any]]:
    """Gather the unprocessed notes; returns the plan, and the document for whoever distils.

    :param now: an aware time in the zone of the workspace
    :param everything: gather all notes up to today, as for a first time
    :raises UnreadableError: there is no workspace, or a file cannot be read
    """
    files = state.workspace(Folder(root))
    last, _ = state.last(files, now.tzinfo or now.astimezone().tzinfo)  # type: ignore[arg-type]
    known = type(last)() if everything else last
    waiting = tuple(unprocessed(state.candidates(files, known, now), known, now))
    memory = files.read(MEMORY)
    digest = hashlib.sha256(memory).hexdigest() if memory is not None else None
    noted = {one.note.path: Recorded(one.note.sha256, one.note.size) for one in waiting}
    plan = Plan(uuid.uuid4().hex[:12], now, digest, noted, waiting)
    return plan, _document(files, plan, memory or b"")


def save(root: Path, plan: Plan) -> None:
    """Keep a plan, and `MEMORY.md` as it is, until the commit."""
    with writing.locked(root):
        make_folder(root, HISTORY)
        writing.sweep(root / HISTORY)
        memory = writing.read(inside(root, MEMORY))
        if memory is not None:
            writing.create(inside(root, f"{HISTORY}/plan-{plan.id}.md"), memory)
        writing.create(inside(root, f"{HISTORY}/plan-{plan.id}.json"), plan.encoded())


def load(root: Path, name: str, where: tzinfo) -> Plan:
    """Return a plan that was kept.

    :raises UsageError: there is none of this name
    :raises UnreadableError: it cannot be read
    """
    if not name.isalnum():
        raise UsageError(f"{name!a:.40} is no plan", hint="`adf-format memory distill plan` names it")
    path = f"{HISTORY}/plan-{name}.json"
    content = writing.read(inside(root, path))
    if content is None:
        raise UsageError(f"there is no plan {name}", hint="`adf-format memory distill plan` makes one")
    try:
        value = decode(content).value
        noted = {str(path): Recorded(str(one["sha256"]), int(one["bytes"])) for path, one in value["notes"].items()}
        at = datetime.fromisoformat(value["gatheredAt"]).astimezone(where)
        memory = value["memory"]
    except (JsonTextError, KeyError, TypeError, ValueError, AttributeError) as exc:
        raise UnreadableError(f"the plan cannot be read: {exc}", root / path) from exc
    return Plan(name, at, memory if isinstance(memory, str) else None, noted)


def _document(files: Folder, plan: Plan, memory: bytes) -> dict[str, Any]:
    text = memory.decode("utf-8", "replace")
    found = [(path, one) for path in (MEMORY, *plan.notes) for one in suspects(path, files.read(path) or b"")]
    return {
        "id": plan.id,
        "gatheredAt": stamp(plan.at),
        "timezone": str(plan.at.tzinfo),
        "instructions": list(INSTRUCTIONS),
        "memory": {
            "path": MEMORY,
            "sha256": plan.memory_sha256,
            "chars": len(text),
            "lines": len(text.splitlines()),
            "sections": _sections(text),
        },
        "budget": {"warnChars": WARN_CHARS, "maxChars": MAX_CHARS, "left": WARN_CHARS - len(text)},
        "notes": [
            {
                "path": one.note.path,
                "day": one.note.day.isoformat(),
                "why": one.why,
                "sha256": one.note.sha256,
                "bytes": one.note.size,
                "sections": _sections((files.read(one.note.path) or b"").decode("utf-8", "replace")),
            }
            for one in plan.waiting
        ],
        "secrets": [
            {"path": path, "line": line, "column": column, "kind": kind} for path, (line, column, kind) in found
        ],
    }


def _sections(text: str) -> list[dict[str, str]]:
    """Return the text by its headings of the second level; what stands before them has the title ``."""
    seen = outline(text)
    tops = [one for one in seen.headings if one.level == 2]
    start = "".join(seen.lines[: tops[0].line] if tops else seen.lines)
    parts = [("", start), *((one.title, "".join(seen.body(one))) for one in tops)]
    return [
        {"title": title, "text": body.strip("\ufeff\r\n")}
        for title, body in parts
        if title or body.strip("\ufeff \t\r\n")
    ]
