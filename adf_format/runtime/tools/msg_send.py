"""`msg_send`: send a message to somebody outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime.messages.send import send
from adf_format.runtime.tools.inputs import given, inputs, listed, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Put it into the outbox, from which a transport takes it."""
    extra = given(call.input, "subject", "parent_id", "thread_id", "attachments", "meta")
    row = await send(host, call.loop, to=call.input["to"], content=call.input["content"], **extra)
    return ToolResult(f"message {row} to {call.input['to'][:200]} is in the outbox")


TOOL = Tool(
    "msg_send",
    "Send a message to another agent or a channel.",
    inputs(
        "to",
        "content",
        to=text("Recipient: a DID, or an address of a channel such as `telegram:5`.", least=1, most=1000),
        content=text("The text."),
        subject=text("Subject line.", most=1000),
        parent_id=text("Id of the message that it answers.", least=1, most=200),
        thread_id=text("Conversation; that of the answered message when left out.", least=1, most=200),
        attachments=listed("Paths of your files to attach.", {"type": "string", "minLength": 1}, most=20),
        meta={"type": "object", "description": "Keys of your own that travel with the message."},
    ),
    run,
)
