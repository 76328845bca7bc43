"""`fs_delete`: delete a file of the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.ports import Event
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.inputs import inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Delete it; a snapshot goes with it into the audit where the configuration says so."""
    path = call.input["path"]
    if host.store.files.info(path) is None:
        raise Refused(f"there is no file {path[:200]!r}")
    await protections.demand_file(call, host, path, "delete")
    host.store.files.delete(path)
    host.emit(Event("file_change", {"path": path, "change": "deleted", "by_agent": True}, call.loop))
    return ToolResult(f"{path} is deleted")


TOOL = Tool(
    "fs_delete",
    "Delete a file of the agent for good.",
    inputs("path", path=text("Path of the file.", least=1)),
    run,
)
