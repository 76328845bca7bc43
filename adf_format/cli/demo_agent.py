"""The agent that `adf-format demo` runs: Flora, with a gardener and a reviewer, and what her model answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MESSAGE = "Frost is coming: what do the roses need?"
CITED = "S1"
"""The row in which the owner asks; the compaction archives it."""
ENABLED = ("loop_compact",)
LOOPS: list[dict[str, Any]] = [
    {
        "name": "gardener",
        "goal": "Know what every plant needs, write it down in notes/, and report to main.",
        "enabled": True,
        "tools": ["fs_read", "fs_write", "loop_send"],
    },
    {
        "name": "reviewer",
        "goal": "Read plans before main acts on them, and say what is wrong with them.",
        "enabled": True,
        "tools": ["fs_read", "loop_send"],
    },
]
NOTE = "# Roses\n\n- the two young ones need straw before the first night below -5 degrees\n"
SUMMARY = """\
- Task: get the roses through the frost; the owner asked.
- Decided: straw for the two young roses, before the first night below -5 degrees (notes/roses.md).
- The reviewer agrees, but straw alone blows away: fleece on top of it."""


def _call(tool: str, **given: Any) -> dict[str, Any]:
    return {"name": tool, "input": given}


def _send(to: str, content: str) -> dict[str, Any]:
    return _call("loop_send", to_loop=to, content=content, wake=True)


REPLIES: list[dict[str, Any]] = [
    {"when": "Frost", "text": "I ask the gardener.", "calls": [_send("gardener", "What do the roses need?")]},
    {"when": "[from loop:gardener]", "calls": [_send("reviewer", "Is notes/roses.md a good plan?")]},
    {
        "when": "[from loop:reviewer]",
        "text": "That settles it; I keep the essence.",
        "calls": [_call("loop_compact", instructions="Keep the decision.")],
    },
    {
        "when": "condensed",
        "text": "The reviewer is not needed any more.",
        "calls": [_call("loop_manage", action="delete", name="reviewer")],
    },
    {
        "when": "archived",
        "text": "Straw for the two young roses, fleece on top, before the first night below -5 degrees.",
    },
    {"text": "I wait for the others.", "repeat": True},
    {"loop": "gardener", "calls": [_call("fs_write", path="notes/roses.md", content=NOTE)]},
    {"loop": "gardener", "calls": [_send("main", "Straw for the two young ones; it is in notes/roses.md.")]},
    {"loop": "gardener", "text": "Reported.", "repeat": True},
    {"loop": "reviewer", "calls": [_call("fs_read", path="notes/roses.md")]},
    {"loop": "reviewer", "calls": [_send("main", "Good, but straw blows away: put fleece on top.")]},
    {"loop": "reviewer", "text": "Reviewed.", "repeat": True},
    {"loop": "*", "purpose": "compaction", "text": SUMMARY},
]


def write(config: Path, script: Path) -> None:
    """Write the configuration of the agent and the script of its model."""
    from adf_format.config.fresh import defaults
    from adf_format.models.scripted import SCHEMA
    from adf_format.schemas import LATEST

    tools = defaults(LATEST)["tools"]
    for tool in tools:
        if tool["name"] in ENABLED:
            tool |= {"enabled": True, "visible": True}
    provider = {"id": "custom:script", "type": "openai-compatible", "name": "A script", "baseUrl": ""}
    model = {"provider": provider["id"], "model_id": "demo"}
    instructions = "You are Flora and look after a garden. Ask your loops before you decide."
    document = {"instructions": instructions, "model": model, "providers": [provider], "tools": tools, "loops": LOOPS}
    config.write_text(json.dumps(document, indent=2), encoding="utf-8")
    script.write_text(json.dumps({"$schema": SCHEMA, "replies": REPLIES}, indent=2), encoding="utf-8")
