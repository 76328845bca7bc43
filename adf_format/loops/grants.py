"""Which tools a loop may get: it never exceeds the agent (LOOP-034 to LOOP-043)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from adf_format.config import tools as declarations
from adf_format.config.access import entries
from adf_format.config.loops import PROHIBITED_TOOLS

from .rules import DEFAULT_ON

Grant = Literal["ok", "disabled", "unknown", "prohibited"]


def classifier(config: Mapping[str, Any]) -> Callable[[str], Grant]:
    """Return a test of names against the agent's declarations, for many names at once (LOOP-040)."""
    declared = {tool["name"] for _, tool in entries(config, "tools") if isinstance(tool.get("name"), str)}
    enabled = declarations.enabled(dict(config))
    restricted = declarations.restriction(dict(config))

    def judge(name: str) -> Grant:
        if name in PROHIBITED_TOOLS:
            return "prohibited"
        if name not in declared:
            return "unknown"
        if restricted(name):
            return "prohibited"
        return "ok" if name in enabled else "disabled"

    return judge


def classify(config: Mapping[str, Any], name: str) -> Grant:
    """Say whether a loop of this agent can be granted a tool."""
    return classifier(config)(name)


def grantable(config: Mapping[str, Any]) -> list[str]:
    """Return the tools that a loop can be granted now, in the order of their declarations (LOOP-041)."""
    judge = classifier(config)
    names = dict.fromkeys(tool["name"] for _, tool in entries(config, "tools") if isinstance(tool.get("name"), str))
    return [name for name in names if judge(name) == "ok"]


def default_on(config: Mapping[str, Any]) -> list[str]:
    """Return the tools that each loop has unasked: the agent has neither disabled nor restricted them (LOOP-039)."""
    judge = classifier(config)
    return [name for name in DEFAULT_ON if judge(name) in ("ok", "unknown")]


def may_use(config: Mapping[str, Any], name: str) -> bool:
    """Whether `main` holds a tool: its first declaration enables it (LOOP-036, LOOP-201)."""
    return name in declarations.enabled(dict(config))
