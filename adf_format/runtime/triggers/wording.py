"""What a woken loop reads: the text of the user row that begins its turn (LOOP-245), in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adf_format.runtime.triggers.coalescing import Dispatch
from adf_format.runtime.triggers.model import Event, Kind

PREFIX: dict[Kind, str] = {
    "on_startup": "[Startup]",
    "on_inbox": "[Inbox notification]",
    "on_outbox": "[Outbox notification]",
    "on_file_change": "[File change]",
    "on_chat": "[Chat]",
    "on_timer": "[Timer]",
    "on_tool_call": "[Tool call]",
    "on_logs": "[Log]",
}


def text_of(dispatch: Dispatch) -> str:
    """Return the text of a dispatch: one line per event, messages of the owner word for word."""
    lines = [told(event) for event in dispatch.events]
    if dispatch.earlier:
        lines.insert(0, f"{PREFIX[dispatch.target.kind]} {dispatch.earlier} earlier events are not shown")
    return "\n".join(lines)


def told(event: Event) -> str:
    """Return what is said of one event."""
    return event.text if event.whole else f"{PREFIX[event.kind]} {event.text}"


def timer(identity: int, payload: str | None) -> str:
    """Say which timer has fired, with its payload."""
    return f"timer {identity} fired: {payload}" if payload else f"timer {identity} fired"


def received(row: Mapping[str, Any]) -> str:
    """Say that a message has come, without its content: that is read with a tool, as what somebody else wrote."""
    subject = f", subject {_short(row['subject'])}" if row.get("subject") else ""
    return f"new message {row['id']} from {_short(row['from'])}{subject}"


def sent(row: Mapping[str, Any]) -> str:
    """Say that a message has left."""
    return f"message {row['id']} to {_short(row['to'])} was sent"


def file_change(path: str, what: str) -> str:
    """Say that a file was written or deleted (`what`)."""
    return f"{_short(path)} was {what}"


def tool_call(loop: str, tool: str, *, failed: bool) -> str:
    """Say that a tool was called."""
    return f"{loop} called {_short(tool)}" + (", which failed" if failed else "")


def log(level: str, origin: str | None, event: str | None, message: str) -> str:
    """Say what was logged."""
    place = "/".join(part for part in (origin, event) if part)
    return f"{level} {place}: {_short(message, 500)}" if place else f"{level}: {_short(message, 500)}"


def _short(text: object, most: int = 200) -> str:
    """Keep one line of it: what others wrote must not look like another event."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[:most]}…"
