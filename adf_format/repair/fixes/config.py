"""The configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adf_format.config import fresh
from adf_format.repair import pointers
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.fixes.values import remove_key
from adf_format.repair.mend import Mend

RENAMED = {"container_exec": "compute_exec", "msg_list_agents": "agent_discover"}
Edit = Callable[[Any, Any, Place], bool]


def _each(change: Edit) -> Callable[[Mend, Sequence[Place]], None]:
    """Make a fix of a function of the configuration, the value at the pointer, and the place."""

    def run(mend: Mend, places: Sequence[Place]) -> None:
        for place in places:

            def edit(config: Any, at: Place = place) -> bool:
                return change(config, pointers.get(config, at.pointer), at)

            mend.edit("adf_config", 1, "config_json", edit)

    return run


def _visible(_config: Any, tool: Any, _place: Place) -> bool:
    if not isinstance(tool, dict) or "visible" in tool or not isinstance(tool.get("enabled"), bool):
        return False
    tool["visible"] = tool["enabled"]
    return True


def _renamed(config: Any, name: Any, place: Place) -> bool:
    new = RENAMED.get(name) if isinstance(name, str) else None
    holder, key = pointers.parent(config, place.pointer)
    tools = config.get("tools") if isinstance(config, dict) else None
    if new is None or not isinstance(tools, list) or not isinstance(holder, dict):
        return False
    if any(isinstance(tool, dict) and tool.get("name") == new for tool in tools):
        return False
    holder[key] = new
    return True


def _icon(config: Any, _value: Any, _place: Place) -> bool:
    agent = config.get("id") if isinstance(config, dict) else None
    if not isinstance(agent, str) or not agent or config.get("icon"):
        return False
    config["icon"] = fresh.icon(agent)
    return True


def _shut(config: Any, _value: Any, place: Place) -> bool:
    at = (place.pointer or "").removesuffix("/enabled")
    tool = pointers.get(config, at)
    if not isinstance(tool, dict):
        return False
    wanted = {"enabled": False, "restricted": True}
    changed = any(tool.get(key) is not value for key, value in wanted.items())
    tool.update(wanted)
    return changed


def _defaults(mend: Mend, places: Sequence[Place]) -> None:
    """Add keys that messages name, with the value of a fresh file of this version."""
    defaults = fresh.defaults(mend.version)
    for place in places:
        here = pointers.get(defaults, place.pointer)
        if not isinstance(here, dict):
            continue
        missing = {key: value for key, value in here.items() if key in place.message.replace("'", " ").split()}

        def edit(config: Any, at: Place = place, added: dict[str, Any] = missing) -> bool:
            holder = pointers.get(config, at.pointer)
            new = {key: value for key, value in added.items() if isinstance(holder, dict) and key not in holder}
            if new:
                holder.update(new)
            return bool(new)

        mend.edit("adf_config", 1, "config_json", edit)


_GOES = "nothing reads the value, but it goes"
_K7 = "the runtime writes just that on its next read (K7)"
_RENAME = "declare the tool under its name of today"
_ICON = "choose the icon that follows from the id"
_MIGRATION = "the migration to 31 does the same (MIG-060)"
_SECTION = "add the section as a fresh file has it"
_OPEN = "specification and runtime do not agree on it"
FIXES = (
    Fix("ADF465", Kind.SAFE, "make visible what is enabled", _K7, _each(_visible)),
    Fix("ADF475", Kind.SAFE, _RENAME, "the runtime does the same (MIG-016)", _each(_renamed)),
    Fix("ADF417", Kind.SAFE, _ICON, _MIGRATION, _each(_icon)),
    Fix("ADF413", Kind.LOSSY, "remove the key", _GOES, remove_key),
    Fix("ADF447", Kind.LOSSY, "remove the key", _GOES, remove_key),
    Fix("ADF451", Kind.LOSSY, "remove the loop from the system target", _GOES, remove_key),
    Fix("ADF454", Kind.LOSSY, "remove the key from the filter", _GOES, remove_key),
    Fix("ADF457", Kind.LOSSY, "remove the entry", "it protects nothing, but says what was meant", remove_key),
    Fix("ADF473", Kind.LOSSY, "remove the key", "a runtime sets it, but what stands there goes", remove_key),
    Fix("ADF407", Kind.GUESS, _SECTION, "the agent has run without it so far", _defaults),
    Fix("ADF466", Kind.GUESS, "write the default of a fresh file", _OPEN, _defaults),
    Fix("ADF449", Kind.GUESS, "disable and restrict the tool", "the owner may have looked at it", _each(_shut)),
)
