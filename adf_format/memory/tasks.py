"""The task tracker: what was promised and must not be forgotten (MEM-050, MEM-053 to MEM-055)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from adf_format.errors import JsonTextError, UnreadableError, UsageError
from adf_format.jsontext import decode
from adf_format.memory import splice, writing
from adf_format.memory.guard import refuse_secrets
from adf_format.memory.paths import TASKS
from adf_format.memory.places import inside, make_folder
from adf_format.memory.placing import BOM, text_of
from adf_format.memory.zone import parse, stamp

STATUSES = ("pending", "in_progress", "blocked", "done")
PRIORITIES = ("critical", "high", "normal", "low")
OVERDUE_HOURS = 24
PRUNE_DAYS = 7
_OVERDUE = ("pending", "in_progress")

Task = dict[str, Any]
Now = Callable[[], datetime]


@dataclass(frozen=True)
class Tracker:
    """The tasks as they stand in the file, with everything that we do not know."""

    tasks: tuple[Task, ...]

    @classmethod
    def parse(cls, content: bytes | None) -> Tracker:
        """Read a tracker; no file is an empty one.

        :raises UnreadableError: it is none, and is left as it is (MEM-053)
        """
        if content is None:
            return cls(())
        try:
            value = decode(text_of(content, TASKS).removeprefix(BOM)).value
        except JsonTextError as exc:
            raise _broken(str(exc)) from exc
        tasks = value.get("tasks") if isinstance(value, dict) else None
        if not isinstance(tasks, list) or not all(isinstance(one, dict) for one in tasks):
            raise _broken("there is no list of tasks")
        return cls(tuple(tasks))

    def find(self, prefix: str) -> int:
        """Return the index of the task whose id is, or alone begins with, a text (MEM-054).

        :raises UsageError: none, or several
        """
        ids = [str(one.get("id")) for one in self.tasks]
        found = [index for index, name in enumerate(ids) if name == prefix]
        found = found or [index for index, name in enumerate(ids) if prefix and name.startswith(prefix)]
        if len(found) != 1:
            many = "several tasks" if found else "no task"
            named = f": {', '.join(ids[index] for index in found[:5])}" if found else ""
            raise UsageError(f"{many} with an id that begins with {prefix!a:.40}{named}")
        return found[0]

    def listed(self, *, done: bool = False) -> list[Task]:
        """Return the tasks, the most urgent and oldest first; done ones only if asked for."""
        shown = [one for one in self.tasks if done or one.get("status") != "done"]
        return sorted(shown, key=lambda one: (_rank(one.get("priority", "normal")), str(one.get("createdAt"))))

    def overdue(self, now: datetime, where: tzinfo) -> list[Task]:
        """Return the tasks that were begun or promised more than a day ago, and are not blocked."""
        limit = now - timedelta(hours=OVERDUE_HOURS)
        dated = ((one, parse(one.get("createdAt"), where)) for one in self.tasks if one.get("status") in _OVERDUE)
        return [one for one, created in dated if created is not None and created < limit]


def load(root: Path) -> Tracker:
    """Read the tracker of a workspace."""
    return Tracker.parse(writing.read(inside(root, TASKS)))


def add(root: Path, title: str, now: Now, *, priority: str = "normal", note: str | None = None) -> Task:
    """Add a task.

    :raises UsageError: no title on one line, or a secret
    """
    title = title.strip()
    if not title or any(char in title for char in "\r\n\0"):
        raise UsageError("a task needs a title on one line")
    refuse_secrets(f"{title}\n{note or ''}")
    made: Task = {}

    def change(text: str, tracker: Tracker) -> str:
        made.clear()
        made.update({"id": _new_id(tracker), "title": title, "status": "pending", "priority": priority})
        made.update({"createdAt": stamp(now())} | ({"note": note} if note else {}))
        return splice.append_item(text, splice.parse(text).members["tasks"], made)

    _change(root, now, change)
    return made


def set_status(root: Path, prefix: str, status: str, now: Now) -> Task:
    """Give a task a status; `done` is dated, and what is taken up again no longer is."""
    if status not in STATUSES:
        raise UsageError(f"{status!a:.40} is no status", hint=f"there are {', '.join(STATUSES)}")
    changed: list[Task] = []

    def change(text: str, tracker: Tracker) -> str:
        index = tracker.find(prefix)
        before = tracker.tasks[index]
        if before.get("status") != status:
            text = splice.set_member(text, _task(text, index), "status", status)
            if status == "done":
                text = splice.set_member(text, _task(text, index), "completedAt", stamp(now()))
            elif "completedAt" in before:
                text = splice.remove_member(text, _task(text, index), "completedAt")
        changed[:] = [Tracker.parse(text.encode()).tasks[index]]
        return text

    _change(root, now, change)
    return changed[0]


def prune(root: Path, now: Now, where: tzinfo) -> list[Task]:
    """Take out tasks that were done more than a week ago (MEM-054); returns them."""
    gone: list[Task] = []

    def change(text: str, tracker: Tracker) -> str:
        limit = now() - timedelta(days=PRUNE_DAYS)
        old = [
            index
            for index, one in enumerate(tracker.tasks)
            if one.get("status") == "done"
            and (done := parse(one.get("completedAt"), where)) is not None
            and done < limit
        ]
        gone[:] = [tracker.tasks[index] for index in old]
        for index in reversed(old):
            text = splice.remove_item(text, splice.parse(text).members["tasks"], index)
        return text

    _change(root, now, change)
    return gone


def _change(root: Path, now: Now, change: Callable[[str, Tracker], str]) -> None:
    def whole(content: bytes | None) -> bytes:
        before = (
            text_of(content, TASKS)
            if content is not None
            else json.dumps({"lastUpdated": None, "tasks": []}, indent=2) + "\n"
        )
        bom = BOM if before.startswith(BOM) else ""
        text = before.removeprefix(BOM)
        try:
            after = change(text, Tracker.parse(text.encode()))
            if after != text:
                after = splice.set_member(after, splice.parse(after), "lastUpdated", stamp(now()))
        except JsonTextError as exc:
            raise _broken(str(exc)) from exc
        return (bom + after).encode() if after != text or content is not None else b""

    with writing.locked(root):
        make_folder(root, "memory")
        place = inside(root, TASKS)
        if not place.exists() and whole(None) == b"":
            return
        writing.edit(place, whole)


def _task(text: str, index: int) -> splice.Node:
    return splice.parse(text).members["tasks"].items[index]


def _new_id(tracker: Tracker) -> str:
    taken = {str(one.get("id")) for one in tracker.tasks}
    while (made := uuid.uuid4().hex[:8]) in taken:
        pass
    return made


def _rank(priority: object) -> int:
    return PRIORITIES.index(priority) if priority in PRIORITIES else PRIORITIES.index("normal")


def _broken(reason: str) -> UnreadableError:
    return UnreadableError(f"the task tracker cannot be read: {reason}", place=TASKS, hint="it was left as it is")
