"""`msg_list`: list messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format.loops import Refused
from adf_format.runtime.store.messages import FILTERS, Box
from adf_format.runtime.tools.inputs import answer, choice, given, inputs, text, whole
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

PREVIEW = 160
_SHOWN = ("id", "from", "to", "subject", "thread_id", "parent_id", "status", "source", "received_at", "created_at")


async def run(call: Call, host: Host) -> ToolResult:
    """List them newest first, with the beginning of their text."""
    box: Box = call.input.get("box", "inbox")
    wanted = given(call.input, "status", "from", "to", "source", "before", "thread_id")
    for key in wanted:
        if key not in FILTERS[box]:
            raise Refused(f"messages of the {box} cannot be chosen by {key}")
    offset = call.input.get("offset", 0)
    rows, total = host.store.messages.find(box, wanted, limit=call.input.get("limit", 20), offset=offset)
    return answer({"total": total, "offset": offset, "messages": [_line(row) for row in rows]})


def _line(row: dict[str, Any]) -> dict[str, Any]:
    content = str(row["content"])
    preview = content if len(content) <= PREVIEW else f"{content[:PREVIEW]}…"
    return {key: row[key] for key in _SHOWN if row.get(key) is not None} | {"preview": preview}


TOOL = Tool(
    "msg_list",
    "List messages of the inbox or the outbox, newest first. `msg_read` gives the whole of one.",
    inputs(
        box=choice("`inbox` (the default) or `outbox`.", "inbox", "outbox"),
        status=text("Only with this status: unread, read, archived; pending, delivered, failed.", least=1),
        **{"from": text("Inbox: only from this sender.", least=1)},
        to=text("Outbox: only to this recipient.", least=1),
        source=text("Inbox: only by this way: mesh, user, or a channel.", least=1),
        thread_id=text("Only of this conversation.", least=1),
        before=whole("Only older ones: epoch milliseconds.", 1),
        limit=whole("How many, 20 when left out.", 1, 200),
        offset=whole("How many to pass over.", 0),
    ),
    run,
)
