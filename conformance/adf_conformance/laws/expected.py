"""What a configuration must say after each migration step, in the words of the fact sheet (MIG-028 to MIG-037)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Config = dict[str, Any]
ICONS = "🤖🦾📡🔭🔬🧭🧲🔋💡🧬🔮⚡🦊🦉🐙🦅🐺🦡🐢🦫🐝🦋🐋🦈🐉🦑🦜🔨🪛🪚🧰📐🏹🔩🌋🗻🌊🌵🍄🌲🎯🎲🧩📦💎🧪📜🏺"
OFF = {"inbox_hints": False, "context_warning": False, "idle_reminder": False, "mesh_updates": False}
_SPACES = (*range(9, 14), 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF)
WHITESPACE = "".join(map(chr, _SPACES))
"""What JavaScript takes for whitespace (MIG-049)."""


def icon(agent_id: str) -> str:
    """Return the icon that an id picks (MIG-060)."""
    units = agent_id.encode("utf-16-le", "surrogatepass")
    state = 0
    for start in range(0, len(units), 2):
        state = (state * 31 + int.from_bytes(units[start : start + 2], "little")) % 2**32
    return ICONS[abs(state - 2**32 if state >= 2**31 else state) % len(ICONS)]


def config_after(config: Config, version: int, target: int) -> Config:
    """Return the configuration of a file of one version as it must be at another."""
    config = copy.deepcopy(config)
    for step in range(version + 1, target + 1):
        if step in _STEPS:
            _STEPS[step](config)
    return config


def _to_22(config: Config) -> None:
    trigger = (config.get("triggers") or {}).get("on_file_change") or {}
    for target in trigger.get("targets") or []:
        if (target.get("filter") or {}).get("watch") == "document.*":
            target["filter"]["watch"] = "README.*"


def _to_23(config: Config) -> None:
    for section, key in (
        ("model", "max_loop_messages"),
        ("context", "max_loop_messages"),
        ("limits", "max_loop_rows"),
        ("limits", "max_daily_budget_usd"),
    ):
        if isinstance(config.get(section), dict):
            config[section].pop(key, None)
    model = config.get("model") or {}
    budget = model.get("thinking_budget")
    if not model.get("reasoning") and isinstance(budget, int) and budget > 0:
        model["reasoning"] = {"enabled": True, "max_tokens": model.pop("thinking_budget")}


def _to_30(config: Config) -> None:
    if config.get("bare_prompt") is True:
        config["context"] = (config.get("context") or {}) | {"dynamic_instructions": dict(OFF)}


def _to_31(config: Config) -> None:
    agent_id = config.get("id")
    if not config.get("icon") and isinstance(agent_id, str) and agent_id:
        config["icon"] = icon(agent_id)


_STEPS: dict[int, Callable[[Config], None]] = {22: _to_22, 23: _to_23, 30: _to_30, 31: _to_31}
