"""What the declaration of a loop may say (loops.md 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adf_format.config.loops import PROHIBITED_TOOLS
from adf_format.schemas import checker

MAIN = "main"
GOAL_MAX = 4000
TOOLS_MAX = 64
DEFAULT_ON = ("loop_compact", "loop_clear")
DEFAULT_NEW_LOOP_TOOLS = ("loop_send", "loop_list", "sys_set_state")
SCHEMA = "urn:adf-format:config:loop-config:29"
FIELDS = ("name", "goal", "enabled", "autostart", "autonomous", "model", "compact_threshold", "tools")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def is_name(value: object) -> bool:
    """Whether a value can be the name of an inner loop (LOOP-003, LOOP-005)."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None and value != MAIN


def problems(loop: Mapping[str, Any]) -> list[str]:
    """Return what a declaration breaks, each as one line; an empty list if it is valid (LOOP-003 to LOOP-014).

    On writing everything counts, also what the schema of stored files only warns of.
    """
    return list(dict.fromkeys(_problems(loop)))


def _problems(loop: Mapping[str, Any]) -> Iterator[str]:
    name = loop.get("name")
    if isinstance(name, str) and not is_name(name):
        reserved = "is reserved" if name == MAIN else "has 1 to 32 lower-case letters, digits, `_` or `-`"
        yield f"/name: the name of a loop {reserved}"
    for problem in checker(SCHEMA).problems(dict(loop)):
        if problem.severity != "info" and not (problem.pointer == "/name" and problem.keyword == "pattern"):
            yield f"{problem.pointer or '/'}: {problem.message}"
    yield from _empty_model(loop.get("model"))
    tools = loop.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, str) and tool in PROHIBITED_TOOLS:
            yield f"/tools: {tool} is never granted to a loop"


def _empty_model(model: object) -> Iterator[str]:
    """A file may hold a model without a provider, which nobody has chosen yet; an override must name one."""
    if isinstance(model, dict) and model.get("provider") == "":
        yield "/model/provider: an override names its provider"
