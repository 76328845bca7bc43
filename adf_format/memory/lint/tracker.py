"""The task tracker and the state of distillation (MEM-050 to MEM-055, MEM-100)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.memory.lint.document import Document, Report
from adf_format.memory.lint.examples import CONTEXT, note, task, tasks, workspace
from adf_format.memory.paths import ACTIVE
from adf_format.memory.paths import STATE as STATE_FILE
from adf_format.memory.placing import BOM
from adf_format.validation.rule import Rule, Severity, rule

if TYPE_CHECKING:
    from adf_format.memory.distill.due import Due

OLD_DAYS = 7
_TEXTS = ("id", "title", "status", "createdAt")

SCHEMA = rule(
    "ADF916",
    "tasks-schema",
    Severity.ERROR,
    what="The task tracker has the shape that all hosts agree on.",
    why="A host that cannot read it shows no task at all, or writes a new one over it.",
    source=("MEM-050", "MEM-053"),
    fires=tasks(task(status="completed")),
    silent=tasks(task(more=', "garden": true')),
)
TWICE = rule(
    "ADF917",
    "tasks-duplicate-id",
    Severity.ERROR,
    what="Each task has an id of its own.",
    why="Closing one closes the other.",
    source=("MEM-050",),
    fires=tasks(task("a1"), task("a1")),
    silent=tasks(task("a1"), task("a2")),
)
OLD = rule(
    "ADF918",
    "tasks-old",
    Severity.WARNING,
    what=f"No task is open for more than {OLD_DAYS} days.",
    why="It was forgotten, or is blocked and does not say so.",
    source=("MEM-054",),
    fires=tasks(task(created="2026-03-30T08:00:00Z")),
    silent=tasks(task(status="blocked", created="2026-03-30T08:00:00Z")),
    fix="do it, give it the status blocked, or close it",
)
UNDATED = rule(
    "ADF919",
    "tasks-done-undated",
    Severity.WARNING,
    what="A task that is done says when.",
    why="Nothing knows when it may be cleared away.",
    source=("MEM-050",),
    fires=tasks(task(status="done")),
    silent=tasks(task(status="done", more=', "completedAt": "2026-04-10T09:00:00Z"')),
)
NAIVE = rule(
    "ADF920",
    "time-naive",
    Severity.WARNING,
    what="Times in the tracker and the state of distillation have an offset.",
    why="Without one nobody knows which moment is meant, and hosts in two zones disagree by hours.",
    source=("MEM-055",),
    fires=tasks(task(created="2026-04-10T08:00:00")),
    silent=tasks(task(created="2026-04-10T17:00:00+09:00")),
    fix="add the offset of the zone in which it was written",
)
STATE = rule(
    "ADF921",
    "state-invalid",
    Severity.ERROR,
    what="The state of distillation says when the last one was, or null.",
    why="With a time to come nothing is ever distilled again.",
    source=("MEM-051",),
    fires=workspace((STATE_FILE, '{"lastConsolidatedAt": "2027-01-01T00:00:00Z"}')),
    silent=workspace((STATE_FILE, '{"lastConsolidatedAt": null}')),
)
OVERDUE = rule(
    "ADF922",
    "distill-overdue",
    Severity.WARNING,
    what="Notes do not wait for days to be distilled.",
    why="What was learned is not yet in the long-term memory, and fades with the notes.",
    source=("MEM-100",),
    fires=workspace(
        (STATE_FILE, '{"lastConsolidatedAt": "2026-04-05T08:00:00Z"}'),
        *(note("## Learned\n\n- a thing\n", f"2026-04-{day:02}") for day in (7, 8, 9, 10)),
    ),
    silent=workspace((STATE_FILE, '{"lastConsolidatedAt": "2026-04-05T08:00:00Z"}')),
    fix="run `adf-format memory distill plan`",
)
ONLY_THERE = rule(
    "ADF925",
    "task-in-context-only",
    Severity.INFO,
    what="What is promised in the active context is a task as well.",
    why="The active context is rewritten; a promise that stands there alone is lost with it.",
    source=("MEM 4 L25",),
    fires=workspace((ACTIVE, CONTEXT.replace("Progress\n", "Progress\n\n- I will water the beds later\n"))),
    silent=workspace(
        (ACTIVE, CONTEXT.replace("Progress\n", "Progress\n\n- I will water the beds later\n")),
        *tasks(task().replace("water", "Water the beds")).files,
    ),
    fix="add it with `adf-format memory task add`",
)
RULES = (SCHEMA, TWICE, OLD, UNDATED, NAIVE, STATE, OVERDUE, ONLY_THERE)
PROMISES = ("will ", "todo", "to do", "later", "remember to", "need to")


def check_tracker(document: Document, now: datetime, where: tzinfo) -> list[dict[str, Any]]:
    """Look at the tracker; returns the tasks that can be read."""
    value = _decoded(document, SCHEMA)
    if value is None:
        return []
    listed = value.get("tasks") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        document.report(SCHEMA, "there is no list `tasks`")
        return []
    if "lastUpdated" not in value:
        document.report(SCHEMA, "the key lastUpdated is missing")
    _check_time(document, value.get("lastUpdated") or None, "/lastUpdated", where)
    seen: dict[str, int] = {}
    for index, one in enumerate(listed):
        pointer = f"/tasks/{index}"
        if not isinstance(one, dict):
            document.report(SCHEMA, "a task is no object", pointer=pointer)
            continue
        _check_task(document, one, pointer, now, where)
        first = seen.setdefault(str(one.get("id")), index)
        if first != index:
            document.report(TWICE, f"task {first} has the same id", pointer=f"{pointer}/id")
    return [one for one in listed if isinstance(one, dict)]


def _check_task(document: Document, one: dict[str, Any], pointer: str, now: datetime, where: tzinfo) -> None:
    from adf_format.memory.tasks import STATUSES  # it knows how trackers are changed, which no check needs

    for key in _TEXTS:
        if not isinstance(one.get(key), str) or not one[key]:
            document.report(SCHEMA, f"{key} is missing or no text", pointer=pointer)
    status = one.get("status")
    if isinstance(status, str) and status not in STATUSES:
        document.report(SCHEMA, f"{status[:40]!a} is none of {', '.join(STATUSES)}", pointer=f"{pointer}/status")
    created = _check_time(document, one.get("createdAt"), f"{pointer}/createdAt", where)
    if created is not None and status in ("pending", "in_progress") and now - created > timedelta(days=OLD_DAYS):
        document.report(OLD, f"open for {(now - created).days} days", pointer=pointer)
    done = _check_time(document, one.get("completedAt"), f"{pointer}/completedAt", where)
    if status == "done" and one.get("completedAt") is None:
        document.report(UNDATED, "done, but no completedAt", pointer=pointer)
    if done is not None and created is not None and done < created:
        document.report(SCHEMA, "completed before it was created", pointer=f"{pointer}/completedAt")


def _check_time(document: Document, text: object, pointer: str, where: tzinfo) -> datetime | None:
    """Check a time that may be absent, and return it as an instant."""
    from adf_format.memory.zone import parse

    if text is None:
        return None
    moment = parse(text, where)
    if moment is None:
        document.report(SCHEMA, f"{str(text)[:40]!a} is no time", pointer=pointer)
    elif isinstance(text, str) and datetime.fromisoformat(text).tzinfo is None:
        document.report(NAIVE, "a time without an offset", pointer=pointer)
    return moment


def check_state(document: Document, now: datetime, where: tzinfo) -> None:
    """Look at the state of distillation."""
    from adf_format.memory.zone import parse

    value = _decoded(document, STATE)
    if value is None:
        return
    if not isinstance(value, dict) or "lastConsolidatedAt" not in value:
        document.report(STATE, "the key lastConsolidatedAt is missing")
        return
    text = value["lastConsolidatedAt"]
    moment = parse(text, where)
    if text is None:
        return
    if moment is None:
        document.report(STATE, f"{str(text)[:40]!a} is no time", pointer="/lastConsolidatedAt")
    elif moment > now + timedelta(minutes=5):
        document.report(STATE, "the last distillation is in the future", pointer="/lastConsolidatedAt")
    elif isinstance(text, str) and datetime.fromisoformat(text).tzinfo is None:
        document.report(NAIVE, "a time without an offset", pointer="/lastConsolidatedAt")


def check_due(document: Document | None, due: Due, report: Report) -> None:
    """Say when a distillation is long overdue."""
    if due.overdue:
        text = f"{due.hours or 0:.0f} hours since the last one, {len(due.unprocessed)} notes wait"
        if document is not None:
            document.report(OVERDUE, text)
        else:
            report(OVERDUE, text, file=STATE_FILE)


def check_promises(context: Document, listed: Sequence[dict[str, Any]]) -> None:
    """Look for promises in the active context that no task stands for."""
    titles = [set(_words(str(one.get("title", "")))) for one in listed]
    for heading in context.outline.headings:
        if heading.title.casefold() not in ("in progress", "blocked / waiting"):
            continue
        for number, text in context.bullets(context.section(heading)):
            if any(sign in text.casefold() for sign in PROMISES):
                words = set(_words(text))
                if not any(len(words & title) >= max(1, len(title) // 2) for title in titles if title):
                    context.report(ONLY_THERE, "a promise without a task", number)


def _words(text: str) -> Iterator[str]:
    return (word for word in text.casefold().replace("*", " ").split() if len(word) > 3)


def _decoded(document: Document, broken: Rule) -> Any:
    try:
        value = decode(document.text.removeprefix(BOM)).value
    except JsonTextError as error:
        document.report(broken, f"not JSON: {error.message}")
        return None
    if value is None:
        document.report(broken, "it holds null")
    return value
