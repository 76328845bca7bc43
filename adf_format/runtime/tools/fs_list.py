"""`fs_list`: list the files of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime.tools.inputs import answer, inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """List paths with sizes and protections."""
    prefix = call.input.get("prefix", "")
    found = [file for file in host.store.files.every() if file.path.startswith(prefix)]
    return answer(
        [
            {"path": file.path, "size": file.size, "mime_type": file.mime_type, "protection": file.protection}
            | {"updated_at": file.updated_at}
            for file in found
        ]
    )


TOOL = Tool(
    "fs_list",
    "List the files of the agent: path, size in bytes, media type, protection, time of the last change.",
    inputs(prefix=text("Only files whose path begins with this, such as `mind/`.")),
    run,
)
