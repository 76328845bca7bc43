"""A fresh configuration: the defaults of a storage version, changes merged in, the icon."""

from __future__ import annotations

import copy
from typing import Any, cast

from adf_format.schemas import storage_version
from adf_format.schemas.store import document

ICONS = "🤖🦾📡🔭🔬🧭🧲🔋💡🧬🔮⚡🦊🦉🐙🦅🐺🦡🐢🦫🐝🦋🐋🦈🐉🦑🦜🔨🪛🪚🧰📐🏹🔩🌋🗻🌊🌵🍄🌲🎯🎲🧩📦💎🧪📜🏺"  # MIG-060
Config = dict[str, Any]
_NOTHING = object()


def defaults(version: int) -> Config:
    """Return the configuration of a fresh file, without what only its creator knows (id, name, icon, metadata).

    :raises UsageError: a version that is not described
    """
    schema = {"$ref": storage_version(version).agent_config}
    return cast("Config", copy.deepcopy(_created(schema)))


def _created(schema: Config) -> Any:
    """Build what `x-adf-create` says: a value beside a `$ref` wins over what is behind it."""
    if "x-adf-create" in schema:
        return schema["x-adf-create"]
    if "$ref" in schema:
        return _created(document(schema["$ref"]))
    built = {key: _created(child) for key, child in schema.get("properties", {}).items()}
    return {key: value for key, value in built.items() if value is not _NOTHING} or _NOTHING


def merge(base: Config, changes: Config) -> Config:
    """Return `base` with changes: objects merge key by key, everything else (arrays and null too) replaces."""
    merged = dict(base)
    for key, value in changes.items():
        present = merged.get(key)
        both = isinstance(present, dict) and isinstance(value, dict)
        merged[key] = merge(cast("Config", present), value) if both else copy.deepcopy(value)
    return merged


def in_order(config: Config, version: int) -> Config:
    """Return the configuration with its top-level keys in the order of the schema, unknown ones last."""
    known = document(storage_version(version).agent_config)["properties"]
    first = {key: config[key] for key in known if key in config}
    return first | config


def icon(agent_id: str) -> str:
    """Pick the icon of an agent from its id, as every runtime does (MIG-060)."""
    units = agent_id.encode("utf-16-le", "surrogatepass")
    state = 0
    for index in range(0, len(units), 2):
        state = (state * 31 + int.from_bytes(units[index : index + 2], "little")) & 0xFFFFFFFF
    signed = state - 0x100000000 if state & 0x80000000 else state
    return ICONS[abs(signed) % len(ICONS)]
