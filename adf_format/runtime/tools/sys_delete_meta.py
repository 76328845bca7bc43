"""`sys_delete_meta`: forget a value kept with the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.inputs import inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Delete the key, if it is not protected."""
    key = call.input["key"]
    if host.store.meta.protection(key) is None:
        raise Refused(f"there is no key {key[:200]!r}")
    await protections.demand_meta(call, host, key, None)
    host.store.meta.delete(key)
    return ToolResult(f"{key} is forgotten")


TOOL = Tool(
    "sys_delete_meta",
    "Forget a value that is kept with the agent.",
    inputs("key", key=text("The key.", least=1, most=200)),
    run,
)
