"""`fs_read`: read a file of the agent."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from adf_format.config.access import section
from adf_format.loops import Refused
from adf_format.runtime.tools.inputs import inputs, text, whole
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

CHARS_PER_TOKEN = 3
DEFAULT_TOKENS = 30_000


async def run(call: Call, host: Host) -> ToolResult:
    """Give lines of a text, or the bytes of anything else as base64."""
    path = call.input["path"]
    content = host.store.files.read(path)
    if content is None:
        raise Refused(f"there is no file {path[:200]!r}; fs_list shows what there is")
    limit = section(host.config, "limits").get("max_file_read_tokens")
    most = (limit if isinstance(limit, int) and limit > 0 else DEFAULT_TOKENS) * CHARS_PER_TOKEN
    try:
        lines = content.decode("utf-8").splitlines(keepends=True)
    except UnicodeDecodeError:
        return ToolResult(_binary(content, most))
    first, last = call.input.get("start_line", 1), call.input.get("end_line", len(lines))
    return ToolResult(_cut("".join(lines[first - 1 : last]), most))


def _binary(content: bytes, most: int) -> str:
    encoded = base64.b64encode(content).decode()
    if len(encoded) > most:
        raise Refused(f"the file holds {len(content)} bytes that are no text, too many to be read")
    return f"base64:{encoded}"


def _cut(content: str, most: int) -> str:
    if len(content) <= most:
        return content
    note = f"[cut: {most} of {len(content)} characters are shown; go on with start_line and end_line]"
    return f"{content[:most]}\n{note}"


TOOL = Tool(
    "fs_read",
    "Read a file of the agent: text as it is, anything else as `base64:…`.",
    inputs(
        "path",
        path=text("Path of the file, such as `mind/page.md`.", least=1),
        start_line=whole("First line to read, counted from 1.", 1),
        end_line=whole("Last line to read.", 1),
    ),
    run,
)
