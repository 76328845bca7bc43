"""The registry of `adf_meta` keys, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from adf_format.schemas.checker import Checker, checker
from adf_format.schemas.store import document

REGISTRY = "urn:adf-format:meta:meta-keys"
NEWER_BUILDS = 28  # keys ">28" may stand in any file from 28 on: a newer build writes them whatever the version


@dataclass(frozen=True)
class MetaKey:
    """One key that belongs to the format (STO-038).

    :ivar protection: the protection it should have, None for any
    :ivar json: whether the value is JSON text
    :ivar check: schema of the value (decoded, if it is JSON)
    """

    name: str
    per_loop: bool
    prefix: bool
    protection: str | None
    since: int
    until: int | None
    required: bool
    json: bool
    check: Checker

    def fits(self, key: str) -> bool:
        """Whether a key of a file is this one."""
        if self.prefix:
            return key.startswith(self.name)
        return key == self.name or (self.per_loop and key.startswith(f"{self.name}:"))


@cache
def registry() -> tuple[MetaKey, ...]:
    """Return the registry, in the order in which the first that fits counts."""
    return tuple(_key(entry) for entry in document(REGISTRY)["keys"])


def find(key: str) -> MetaKey | None:
    """Return the entry of a key, None for a key of the agent's own."""
    return _by_name().get(key) or next((entry for entry in registry() if entry.fits(key)), None)


@cache
def _by_name() -> dict[str, MetaKey]:
    """Return the entries that are the first to fit their own name."""
    first = {one.name: next(entry for entry in registry() if entry.fits(one.name)) for one in registry()}
    return {name: entry for name, entry in first.items() if entry.name == name}


def _key(entry: Mapping[str, Any]) -> MetaKey:
    schema = entry["value"]["schema"]
    since = entry["since"]
    return MetaKey(
        name=entry["name"],
        per_loop=entry["perLoop"],
        prefix=entry.get("prefix", False),
        protection=entry["protection"],
        since=since if isinstance(since, int) else NEWER_BUILDS,
        until=entry["until"],
        required=entry["required"],
        json=entry["value"]["json"],
        check=checker(schema) if isinstance(schema, str) else Checker(schema),
    )
