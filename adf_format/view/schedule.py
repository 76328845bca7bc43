"""What is due, and what waits for somebody: timers, tasks, approvals."""

from __future__ import annotations

from typing import Any

from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.html import Child, Safe, el, html
from adf_format.view.pieces import code, details, first_line, icon, notice, pairs, shape, table, written
from adf_format.view.tables import Row, newest, number, parsed, shown
from adf_format.view.words import counted, duration, moment, time
from adf_format.view.woven import Thread

TIMERS = 200
TASKS = 500
_TIMER = (
    "id",
    "schedule_json",
    "next_wake_at",
    "payload",
    "scope",
    "lambda",
    "run_count",
    "last_fired_at",
    "locked",
    "expired",
    "loop",
)
_TASK = (
    "id",
    "tool",
    "args",
    "status",
    "result",
    "error",
    "created_at",
    "completed_at",
    "origin",
    "requires_authorization",
    "approval_meta",
    "loop",
)
_WAITING = frozenset({"pending", "pending_approval", "running"})


def timers(view: View) -> Safe:
    """Return the timers, those due first on top."""
    rows, total = newest(view.file, "adf_timers", _TIMER, by="next_wake_at", limit=TIMERS)
    if not rows:
        return notice("No timers.")
    head = ("Timer", "When", "Next", "Wakes", "Runs")
    rest = notice(f"{counted(total - len(rows), 'more timer')} not shown.") if total > len(rows) else None
    return html(table(head, [_timer(row) for row in rows], "Timers", ends=frozenset({4})), rest)


def _timer(row: Row) -> tuple[Child, ...]:
    loop = shown(row.get("loop")) or "main"
    look = identity(loop)
    marks = [el("span", word, class_="tag") for word in ("locked", "expired") if row.get(word)]
    name = el("span", f"#{shown(row.get('id'))}", id=f"timer-{shown(row.get('id'))[:20]}")
    what = first_line(shown(row.get("payload")) or shown(row.get("lambda")), 80)
    wakes = el("span", shape(look.shape), loop, class_=f"who {look.css}")
    lambda_ = el("code", first_line(shown(row["lambda"]), 60)) if row.get("lambda") else None
    system = parsed(row.get("scope")) == ["system"]
    target = html("system", " ", lambda_) if system else html(wakes, " ", lambda_)
    when = html(schedule_words(parsed(row.get("schedule_json"))), el("div", what, class_="sub") if what else None)
    next_wake = number(row.get("next_wake_at"))
    return html(name, marks), when, time(next_wake), target, shown(row.get("run_count"))


def schedule_words(schedule: Any) -> str:
    """Return a schedule in words."""
    if not isinstance(schedule, dict):
        return "a schedule that cannot be read"
    match schedule.get("mode"):
        case "interval":
            every = number(schedule.get("every_ms"))
            return f"every {duration(every)}" if every is not None else "at an interval"
        case "cron":
            return f"cron {first_line(written(schedule.get('cron')), 60)}"
        case "once":
            return f"once, {moment(number(schedule.get('at')))}"
    return first_line(written(schedule), 80)


def tasks(view: View) -> tuple[list[Row], int]:
    """Return the newest tasks, and how many there are."""
    return newest(view.file, "adf_tasks", _TASK, by="created_at", limit=TASKS)


def task_list(view: View) -> Safe:
    """Return tasks, those that wait for somebody first."""
    rows, total = tasks(view)
    if not rows:
        return notice("No tasks.")
    rows = sorted(
        rows, key=lambda row: (shown(row.get("status")) not in _WAITING, -(number(row.get("created_at")) or 0))
    )
    rest = notice(f"{counted(total - len(rows), 'older task')} not shown.") if total > len(rows) else None
    return html(el("ul", [el("li", task_card(row)) for row in rows], class_="tasks"), rest)


def task_card(row: Row) -> Safe:
    """Return one task: what was asked for, by whom, and what became of it."""
    status = shown(row.get("status"))[:40] or "no status"
    tool = el("b", shown(row.get("tool"))[:80], class_="name")
    args = parsed(row.get("args"))
    hint = (
        next((first_line(one, 80) for one in args.values() if isinstance(one, str)), "")
        if isinstance(args, dict)
        else ""
    )
    waits = status == "pending_approval"
    head = html(
        icon("hand" if waits else "task"),
        el("span", "waits for approval" if waits else status, class_=f"tag s-{_css(status)}"),
        tool,
        el("span", hint, class_="arg"),
        time(number(row.get("created_at"))),
    )
    return details(head, _task_body(row, args), class_=f"chip task{' waits' if waits else ''}")


def _css(status: str) -> str:
    known = ("pending", "pending_approval", "running", "completed", "failed", "denied", "cancelled")
    return status if status in known else "other"


def _task_body(row: Row, args: Any) -> Safe:
    asked = pairs(args) if isinstance(args, dict) and args else code(shown(row.get("args")))
    parts = [html(el("div", "Asked for", class_="lab"), asked)]
    for key, words in (("result", "Result"), ("error", "Error"), ("approval_meta", "Approval"), ("origin", "Asked by")):
        if row.get(key):
            parts.append(html(el("div", words, class_="lab"), code(shown(row[key]))))
    done = number(row.get("completed_at"))
    if done is not None:
        parts.append(el("div", f"Done {moment(done, seconds=True)}", class_="lab"))
    return el("div", parts, class_="io")


def threads(view: View, loop: str) -> list[Thread]:
    """Return the tasks of a loop as something to weave into its transcript; without a loop they are main's."""
    found = []
    for row in tasks(view)[0]:
        when = number(row.get("created_at"))
        if when is not None and (shown(row.get("loop")) or "main") == loop and view.options.side(when) == 0:
            found.append(
                Thread(when, el("li", el("div", task_card(row), class_="body"), class_="row k-task", data_kind="task"))
            )
    return found
