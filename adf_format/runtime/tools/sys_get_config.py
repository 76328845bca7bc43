"""`sys_get_config`: read the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.settings import paths
from adf_format.runtime.tools.inputs import answer, inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Give the value at a path; an inner loop sees the configuration under which it runs."""
    try:
        return answer(paths.get(host.effective(call.loop), call.input.get("path", "")))
    except paths.PathError as error:
        raise Refused(str(error)) from error


TOOL = Tool(
    "sys_get_config",
    "Read your configuration, or one part of it.",
    inputs(path=text("Dot path such as `model.temperature` or `tools.fs_read`; everything when left out.", most=500)),
    run,
)
