"""Ada's configuration: what differs from a fresh one."""

from __future__ import annotations

from typing import Any

from adf_format.config import fresh
from adf_format.sample.story import MODEL

Config = dict[str, Any]
EVERYTHING = {"loop": True, "inbox": True, "outbox": True, "files": True}
SEARCH = {
    "name": "search",
    "description": "Search the issues of the garden club.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
SEARCH_HASH = (
    '{"description":"Search the issues of the garden club.","input_schema":{"properties":{"query":'
    '{"type":"string"}},"required":["query"],"type":"object"},"name":"search"}'
)
LOOPS = [
    {
        "name": "gardener",
        "goal": "Read the plan of the beds once an hour and tell main what has to be done today.",
        "enabled": True,
        "autostart": True,
        "tools": ["loop_send", "loop_list", "fs_read"],
    },
    {"name": "reviewer", "goal": "Look for mistakes in answers about the harvest.", "enabled": False, "tools": []},
]


def changes(version: int) -> Config:
    """Return what is merged over the configuration of a fresh file."""
    found = {
        "description": "Keeps the log of a small garden.",
        "model": {"provider": "custom:local", "model_id": MODEL},
        "instructions": "You are Ada. You keep the log of the garden and answer questions about the harvest.",
        "context": {"audit": EVERYTHING},
        "audit": EVERYTHING,
        "tools": [*fresh.defaults(version)["tools"], _search_tool()],
        "security": {"table_protections": {"local_notes": "append_only"}},
        "mcp": {"servers": [_github()]},
        "adapters": {"telegram": _telegram()},
        "providers": [_provider(version)],
        "locked_fields": ["model"],
        "metadata": {"author": "adf-format", "tags": ["sample"]},
        **_connections(),
    }
    return found | ({"loops": LOOPS} if version >= 29 else {})


def _search_tool() -> Config:
    flags = {"enabled": True, "visible": True, "restricted": True}
    return {"name": "mcp_github_search", **flags, "mcp_tool_hash": SEARCH_HASH}


def _github() -> Config:
    return {
        "name": "github",
        "transport": "stdio",
        "command": "npx",
        "args": ["garden-issues-server"],
        "source": "npm:garden-issues-server",
        "npm_package": "garden-issues-server",
        "env_schema": [{"key": "GITHUB_TOKEN", "scope": "agent", "required": True, "description": "Token for issues."}],
        "available_tools": [SEARCH],
    }


def _telegram() -> Config:
    policy = {"dm": "allowlist", "groups": "mention", "allow_from": ["1001"]}
    return {"enabled": True, "config": {}, "policy": policy}


def _provider(version: int) -> Config:
    kind = "openai-compatible"
    found = {"id": "custom:local", "type": kind, "name": "Local", "baseUrl": "http://127.0.0.1:8080/v1"}
    return found | ({"defaultModel": MODEL} if version >= 22 else {})


def _connections() -> Config:
    """Route, WebSocket, stream and tap: what talks to the world by itself."""
    feed = {"id": "feed", "url": "wss://garden.example.org/feed", "enabled": True, "lambda": "lib/api.ts:feed"}
    socket, port = {"kind": "ws", "connection_id": "feed"}, {"kind": "tcp", "host": "127.0.0.1", "port": 7070}
    tap = {"event_types": ["turn.completed"], "allow_wildcard": False}
    return {
        "serving": {"api": [{"method": "GET", "path": "/status", "lambda": "lib/api.ts:status"}]},
        "ws_connections": [feed],
        "stream_bind": {"allow_tcp_bind": True, "tcp_allowlist": [{"host": "127.0.0.1", "port": 7070}]},
        "stream_bindings": [{"id": "b1", "a": socket, "b": port}],
        "umbilical_taps": [{"name": "watch", "lambda": "lib/watch.ts:onEvent", "filter": tap}],
    }
