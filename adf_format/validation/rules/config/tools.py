"""Tool declarations, MCP servers, compute targets, and names that must be unique."""

from __future__ import annotations

from typing import Any

from adf_format.config.access import entries, section
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule

from .reporting import drop, put, report

UNIQUE = {
    "tools": "name",
    "ws_connections": "id",
    "stream_bindings": "id",
    "umbilical_taps": "name",
    "providers": "id",
}
RENAMED = {"container_exec": "compute_exec", "msg_list_agents": "agent_discover"}
PUSHED = {
    "name": "mcp_github_push",
    "enabled": False,
    "visible": False,
    "restricted": True,
    "mcp_tool_status": "changed",
}

COMPUTE_TARGET = rule(
    "ADF448",
    "compute-default-not-allowed",
    Severity.ERROR,
    what="`compute.default_target` is one of `compute.allowed_targets`.",
    why="Every command that names no target would be refused.",
    source=("CFG X18",),
    fires=put(("$.compute", {"enabled": True, "allowed_targets": ["isolated"], "default_target": "host"})),
    silent=put(("$.compute", {"enabled": True, "default_target": "host"})),
    fix="add it to `allowed_targets`, or choose an allowed one",
)
CHANGED_TOOL = rule(
    "ADF449",
    "changed-mcp-tool-usable",
    Severity.ERROR,
    what="A tool of status `changed` is disabled and restricted.",
    why="A server has changed what the tool is; the owner has not looked at it yet.",
    source=("CFG X19",),
    fires=put(("$.tools[#]", PUSHED | {"enabled": True})),
    silent=put(("$.tools[#]", PUSHED)),
    fix="set `enabled` to false and `restricted` to true until the owner has looked at it",
)
DUPLICATE = rule(
    "ADF450",
    "config-duplicate-name",
    Severity.WARNING,
    what="Names of tools and taps, and ids of connections, bindings and providers, are unique in their list.",
    why="A runtime keeps the first entry (of tools, `restricted` and `locked` from any); the other is dead text.",
    source=("CFG X20", "LOOP-036"),
    fires=put(("$.tools[#]", {"name": "fs_read", "enabled": False, "visible": False})),
    silent=put(("$.tools[#]", {"name": "fs_read2", "enabled": False, "visible": False})),
    fix="remove the entry that is not in effect, the later one",
)
NOT_VISIBLE = rule(
    "ADF465",
    "tool-visible-missing",
    Severity.WARNING,
    what="A tool declaration says whether the tool is `visible`.",
    why="The specification takes a missing key for false, the reference runtime for the value of `enabled`.",
    source=("CFG K7",),
    fires=drop("$.tools[0].visible"),
    silent=drop("$.tools[0].restricted"),
    fix="write `visible` out",
)
SERVER_NAME = rule(
    "ADF468",
    "mcp-server-name",
    Severity.WARNING,
    what="The name of an MCP server is unique, not empty, and has no `_`.",
    why="Tools are called `mcp_<server>_<tool>`: a runtime that splits at `_` loses the server's `restricted`.",
    source=("CFG K28", "LOOP-038"),
    fires=put(("$.mcp.servers[0].name", "git_hub")),
    silent=put(("$.mcp.servers[0].name", "git-hub")),
)
OLD_NAME = rule(
    "ADF475",
    "tool-renamed",
    Severity.WARNING,
    what="No tool is declared under a name that it no longer has.",
    why="The declaration has no effect; the tool runs under its new name with default rights.",
    source=("CFG 2.1",),
    fires=put(("$.tools[#]", {"name": "container_exec", "enabled": False, "visible": False})),
    silent=put(("$.tools[#]", {"name": "container_run", "enabled": False, "visible": False})),
    fix="rename it: container_exec is compute_exec, msg_list_agents is agent_discover",
)
RULES = (COMPUTE_TARGET, CHANGED_TOOL, DUPLICATE, NOT_VISIBLE, SERVER_NAME, OLD_NAME)


def check(context: Context) -> None:
    """Look at the tools, then at the lists whose entries have a name."""
    config = context.config
    for index, tool in entries(config, "tools"):
        if "visible" not in tool:
            report(context, NOT_VISIBLE, "a tool without visible", "tools", index)
        if "mcp_tool_status" in tool:
            _check_changed(context, tool, index)
    for key, name in UNIQUE.items():
        _check_unique(context, config, key, name)
    _check_servers(context, section(config, "mcp"))
    _check_targets(context, section(config, "compute"))


def _check_changed(context: Context, tool: dict[str, Any], index: int) -> None:
    if tool["mcp_tool_status"] != "changed":
        return
    if tool.get("enabled"):
        report(context, CHANGED_TOOL, "a changed tool is enabled", "tools", index, "enabled")
    if tool.get("restricted") is not True:
        report(context, CHANGED_TOOL, "a changed tool is not restricted", "tools", index)


def _check_unique(context: Context, config: dict[str, Any], key: str, name: str) -> None:
    seen: set[str] = set()
    for index, entry in entries(config, key):
        value = entry.get(name)
        if not isinstance(value, str):
            continue
        if value in seen:
            report(context, DUPLICATE, f"{brief(value)} stands twice in {key}", key, index, name)
        elif key == "tools" and value in RENAMED:
            report(context, OLD_NAME, f"{value} is called {RENAMED[value]} today", key, index, name)
        seen.add(value)


def _check_servers(context: Context, mcp: dict[str, Any]) -> None:
    """Find repeated servers; the form of the name is found by the schema (see `shape`)."""
    seen: set[str] = set()
    for index, server in entries(mcp, "servers"):
        name = server.get("name")
        if isinstance(name, str):
            if name in seen:
                report(context, SERVER_NAME, f"{brief(name)} stands twice", "mcp", "servers", index, "name")
            seen.add(name)


def _check_targets(context: Context, compute: dict[str, Any]) -> None:
    allowed, default = compute.get("allowed_targets"), compute.get("default_target")
    if isinstance(allowed, list) and isinstance(default, str) and default not in allowed:
        text = f"{brief(default)} is not an allowed target"
        report(context, COMPUTE_TARGET, text, "compute", "default_target")


PASSES = (Pass("tools and names", RULES, check, ("adf_config",)),)
