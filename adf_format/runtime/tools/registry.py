"""All tools by name. A module `adf_format/runtime/tools/<name>.py` with a `TOOL` is a tool; the list is spelled out."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from adf_format.config import tools as declarations
from adf_format.config.access import entries
from adf_format.runtime.tools.protocol import Tool

NAMES = (
    "loop_send",
    "loop_list",
    "loop_manage",
    "loop_compact",
    "loop_clear",
    "fs_read",
    "fs_write",
    "fs_list",
    "fs_delete",
    "db_query",
    "db_execute",
    "msg_send",
    "msg_read",
    "msg_list",
    "msg_update",
    "msg_delete",
    "sys_set_state",
    "sys_get_config",
    "sys_update_config",
    "sys_set_timer",
    "sys_list_timers",
    "sys_delete_timer",
    "sys_get_meta",
    "sys_set_meta",
    "sys_delete_meta",
    "say",
    "ask",
)


@cache
def registry() -> Mapping[str, Tool]:
    """Return every tool, imported when the first agent needs one."""
    modules = (importlib.import_module(f"{__package__}.{name}") for name in NAMES)
    return {module.TOOL.name: module.TOOL for module in modules}


def offered(effective: Mapping[str, Any], *, main: bool) -> Iterator[Tool]:
    """Yield the tools that a model may call and is told of: enabled and visible, in the order of declarations.

    :param effective: the configuration of the loop
    """
    shown = {tool["name"]: tool for _, tool in reversed(list(entries(effective, "tools"))) if "name" in tool}
    for tool in callable_tools(effective, main=main):
        if shown[tool.name].get("visible", True) is not False:
            yield tool


def callable_tools(effective: Mapping[str, Any], *, main: bool) -> Iterator[Tool]:
    """Yield the tools that a loop may call, shown or not."""
    enabled = declarations.enabled(dict(effective))
    names = dict.fromkeys(tool["name"] for _, tool in entries(effective, "tools") if isinstance(tool.get("name"), str))
    for name in names:
        tool = registry().get(name)
        if tool is not None and name in enabled and (main or not tool.main_only):
            yield tool
