"""`sys_get_meta`: read values kept with the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.tools.inputs import answer, inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Give one value, or all keys with their protections."""
    key = call.input.get("key")
    if key is None:
        rows = host.store.connection.execute("SELECT key, protection FROM adf_meta ORDER BY key").fetchall()
        return answer([{"key": name, "protection": protection} for name, protection in rows])
    value = host.store.meta.get(key)
    if value is None:
        raise Refused(f"there is no key {key[:200]!r}")
    return ToolResult(value)


TOOL = Tool(
    "sys_get_meta",
    "Read a value that is kept with the agent under a key, or list the keys.",
    inputs(key=text("The key; all keys are listed when left out.", least=1, most=200)),
    run,
)
