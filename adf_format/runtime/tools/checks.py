"""What stands between a model and a tool: one door, the same for every tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from adf_format import loops
from adf_format.config import tools as declarations
from adf_format.runtime.host import Host
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult, failed
from adf_format.runtime.tools.registry import callable_tools
from adf_format.schemas.checker import Checker

UNEXPECTED = "{tool} failed: an internal error; nothing more can be said here"


async def run(call: Call, host: Host) -> ToolResult:
    """Run a call if it may run: the tool is there and enabled for this loop, the input keeps its schema, and the owner
    approves where the agent's declaration is restricted. Never raises but for cancellation."""
    effective = host.effective(call.loop)
    allowed = {tool.name: tool for tool in callable_tools(effective, main=call.loop == loops.MAIN)}
    tool = allowed.get(call.name)
    if tool is None:
        return failed(f"there is no tool `{call.name:.80}` for this loop; available: {', '.join(allowed) or 'none'}")
    problem = _problem(tool, call.input)
    if problem:
        return failed(f"invalid input for {call.name}: {problem}")
    if declarations.restriction(host.config)(call.name):
        return await _approved(tool, call, host)
    return await _tried(tool, call, host)


async def _approved(tool: Tool, call: Call, host: Host) -> ToolResult:
    """Run a restricted tool after the owner's word; a loop has nobody to ask, so it is answered at once (LOOP-056)."""
    denied = failed(f"{call.name} needs the owner's approval, which was not given")
    if call.loop != loops.MAIN:
        return denied
    task = await protections.ask(call, host, {"reason": "restricted"}, "restricted")
    if task is None:
        return denied
    try:
        result = await _tried(tool, call, host)
    except BaseException:
        host.store.tasks.end(task, "cancelled", error="the turn was stopped")
        raise
    if result.is_error:
        host.store.tasks.end(task, "failed", error=result.content)
    else:
        host.store.tasks.end(task, "completed", result=result.content)
    return result


async def _tried(tool: Tool, call: Call, host: Host) -> ToolResult:
    try:
        return await tool.run(call, host)
    except loops.Refused as refusal:
        return failed(str(refusal))
    except Exception as error:  # noqa: BLE001 - a fault of a tool must not end the turn, nor show its inside
        host.log("error", "tool_failed", f"{call.name}: {type(error).__name__}: {error}", origin="tool", loop=call.loop)
        return failed(UNEXPECTED.format(tool=call.name))


def _problem(tool: Tool, given: object) -> str | None:
    if not isinstance(given, Mapping):
        return "it is not an object"
    unknown = set(given) - set(tool.input_schema.get("properties", given))
    if unknown and tool.input_schema.get("additionalProperties") is False:
        known = ", ".join(tool.input_schema["properties"]) or "none"
        return f"unknown key {min(unknown)[:60]!r}; known are: {known}"
    checker = _checker(tool.name)
    if checker.is_valid(dict(given)):
        return None
    found = next(checker.problems(dict(given)), None)
    return f"{found.pointer or '/'}: {found.message}" if found else "it does not keep the schema of the tool"


@cache
def _checker(name: str) -> Checker:
    from adf_format.runtime.tools.registry import registry

    return Checker(registry()[name].input_schema)
