"""`sys_set_meta`: keep a value with the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import Refused
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.inputs import choice, inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

RESERVED = ("adf_", "runtime_", "context_baseline_tokens")


async def run(call: Call, host: Host) -> ToolResult:
    """Set it. The protection of a key is chosen when it is made and stays (STO-039)."""
    key, value, wished = call.input["key"], call.input["value"], call.input.get("protection")
    existing = host.store.meta.protection(key)
    if existing is None:
        if key.lower().startswith(RESERVED):
            raise Refused(f"keys that begin with {', '.join(RESERVED)} are the runtime's")
        host.store.meta.set(key, value, wished or "none")
        return ToolResult(f"{key} is kept")
    if wished not in {None, existing}:
        raise Refused(f"{key} is {existing}; its protection cannot be changed")
    await protections.demand_meta(call, host, key, value)
    host.store.meta.set(key, value)
    return ToolResult(f"{key} is kept")


TOOL = Tool(
    "sys_set_meta",
    "Keep a value with the agent under a key, such as your `status`.",
    inputs(
        "key",
        "value",
        key=text("The key.", least=1, most=200),
        value=text("The value.", most=100_000),
        protection=choice(
            "For a new key: `none`, `readonly` (never changed again), or `increment` (only to larger numbers).",
            "none", "readonly", "increment",
        ),
    ),
    run,
)  # fmt: skip
