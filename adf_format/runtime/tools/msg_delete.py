"""`msg_delete`: delete messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.store.messages import FILTERS, Box
from adf_format.runtime.tools.inputs import choice, inputs, listed, text, whole
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Delete what is chosen. No audit row: messages were archived when they came and went (AUD-037)."""
    box: Box = call.input.get("box", "inbox")
    wanted = {key: value for key, value in call.input.items() if key != "box"}
    for key, value in wanted.items():
        if key not in FILTERS[box]:
            raise Refused(f"messages of the {box} cannot be chosen by {key}")
        if not value:
            raise Refused(f"{key} is empty")
    if not wanted:  # an empty filter would mean all of them (AUD-038)
        raise Refused(f"say which messages: give at least one of {', '.join(FILTERS[box])}")
    count = host.store.messages.delete(box, wanted)
    return ToolResult(f"{count} messages are deleted from the {box}")


TOOL = Tool(
    "msg_delete",
    "Delete messages of the inbox or the outbox. All given conditions must fit; at least one is needed.",
    inputs(
        box=choice("`inbox` (the default) or `outbox`.", "inbox", "outbox"),
        ids=listed("Ids of the messages.", {"type": "string", "minLength": 1}, most=500),
        status=text("Only with this status."),
        **{"from": text("Inbox: only from this sender.")},
        source=text("Inbox: only by this way.", most=100),
        thread_id=text("Only of this conversation."),
        before=whole("Only older ones: epoch milliseconds.", 0),
    ),
    run,
)
