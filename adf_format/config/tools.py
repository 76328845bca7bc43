"""What the tool declarations of an agent amount to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adf_format.config.access import entries, is_filled, section


def enabled(config: dict[str, Any]) -> frozenset[str]:
    """Return the names of enabled tools; of repeated declarations the first counts (LOOP-036)."""
    first: dict[str, Any] = {}
    for _, tool in entries(config, "tools"):
        if isinstance(tool.get("name"), str):
            first.setdefault(tool["name"], tool.get("enabled"))
    return frozenset(name for name, value in first.items() if value is True)


def restriction(config: dict[str, Any]) -> Callable[[str], bool]:
    """Return a test whether a tool is restricted, by itself or by its MCP server (LOOP-036, LOOP-038)."""
    names = {
        tool["name"]
        for _, tool in entries(config, "tools")
        if isinstance(tool.get("name"), str) and tool.get("restricted") is True
    }
    servers = tuple(
        f"mcp_{server['name']}_"
        for _, server in entries(section(config, "mcp"), "servers")
        if is_filled(server.get("name")) and server.get("restricted") is True
    )
    return lambda name: name in names or name.startswith(servers)
