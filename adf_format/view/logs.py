"""The log of the runtime, newest last; what matters is also woven into the transcripts."""

from __future__ import annotations

from adf_format.view.context import View
from adf_format.view.html import Child, Safe, el, html
from adf_format.view.pieces import code, details, first_line, icon, notice, table
from adf_format.view.tables import Row, newest, number, shown
from adf_format.view.words import counted, time
from adf_format.view.woven import Thread

ENTRIES = 300
_COLUMNS = ("id", "level", "origin", "event", "target", "message", "data", "created_at", "loop")
_EVENTS = ("loop_", "compaction", "state", "narration", "timer", "trigger", "session_")


def section(view: View) -> Safe:
    """Return the newest entries."""
    rows, total = newest(view.file, "adf_logs", _COLUMNS, by="created_at", limit=ENTRIES)
    if not rows:
        return notice("The log is empty.")
    rest = (
        notice(f"{counted(total - len(rows), 'earlier entry', 'earlier entries')} not shown.")
        if total > len(rows)
        else None
    )
    return html(rest, table(("Time", "Level", "Event", "Message"), [_entry(row) for row in rows], "Log"))


def _entry(row: Row) -> tuple[Child, ...]:
    level = shown(row.get("level"))[:12]
    where = ", ".join(
        part[:60] for part in (shown(row.get("origin")), shown(row.get("loop")), shown(row.get("target"))) if part
    )
    event = html(el("code", shown(row.get("event"))[:80]), el("div", where, class_="sub") if where else None)
    data = shown(row.get("data"))
    more = details("data", code(data, 4000), class_="quiet") if data else None
    return (
        time(number(row.get("created_at")), "%Y-%m-%d %H:%M:%S"),
        _level(level),
        event,
        html(shown(row.get("message"))[:4000], more),
    )


def _level(level: str) -> Safe:
    css = {"warn": "warning", "error": "error", "debug": "debug"}.get(level, "info")
    return el("span", level or "?", class_=f"level {css}")


def threads(view: View, loop: str) -> list[Thread]:
    """Return the entries worth knowing for somebody who reads a transcript: warnings, errors, and what befell loops."""
    if not view.file.has("adf_logs"):
        return []
    found = []
    for row in newest(view.file, "adf_logs", _COLUMNS, by="created_at", limit=ENTRIES)[0]:
        when, event, level = number(row.get("created_at")), shown(row.get("event")), shown(row.get("level"))
        if when is None or view.options.side(when) != 0 or (shown(row.get("loop")) or "main") != loop:
            continue
        if level in ("warn", "error") or event.startswith(_EVENTS):
            found.append(Thread(when, _line(row, level)))
    return found


def _line(row: Row, level: str) -> Safe:
    words = [el("b", shown(row.get("event"))[:80] or "log"), " ", first_line(shown(row.get("message")), 200)]
    mark = icon("alert" if level in ("warn", "error") else "info")
    line = el("div", mark, _level(level), words, class_="line")
    failed = level == "error" or None
    return el("li", el("div", line, class_="body"), class_="row k-log", data_kind="system", data_failed=failed)
