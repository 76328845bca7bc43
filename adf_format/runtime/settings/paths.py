"""Dot paths into a configuration: `model.temperature`, `tools.fs_read.enabled`, `loops.0.goal`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Config = dict[str, Any]
Segment = str | int
MAX_PARTS = 32


class PathError(ValueError):
    """A path that leads nowhere; the text says where it ends."""


def resolve(config: Mapping[str, Any], path: str) -> tuple[Segment, ...]:
    """Return the keys and indexes of a path; `""` is the whole configuration.

    An element of an array is named by its index, its `name` or its `id`. What does not exist yet is named by keys.

    :raises PathError: no such element, or an empty part
    """
    parts = path.split(".") if path else []
    if len(parts) > MAX_PARTS or any(not part for part in parts):
        raise PathError(f"{path[:80]!r} is not a dot path")
    found: list[Segment] = []
    here: Any = config
    for part in parts:
        segment: Segment = _element(here, part, ".".join(map(str, found))) if isinstance(here, list) else part
        found.append(segment)
        here = _below(here, segment)
    return tuple(found)


def names(segments: tuple[Segment, ...]) -> tuple[str, ...]:
    """Return a path as locks see it: without indexes (config.md 7)."""
    return tuple(segment for segment in segments if isinstance(segment, str))


def get(config: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path.

    :raises PathError: there is none
    """
    here: Any = config
    for segment in resolve(config, path):
        present = isinstance(here, list) or (isinstance(here, dict) and segment in here)
        if not present:
            raise PathError(f"there is no {path[:80]!r} in the configuration")
        here = here[segment]
    return copy.deepcopy(here)


def put(config: Mapping[str, Any], path: str, value: Any) -> Config:
    """Return a configuration with another value at a path; missing objects on the way are made.

    :raises PathError: the path leads through something that is no object, or the whole is to be no object
    """
    segments = resolve(config, path)
    if not segments:
        if not isinstance(value, dict):
            raise PathError("a configuration is an object")
        return copy.deepcopy(value)
    made = copy.deepcopy(dict(config))
    parent = _parent(made, segments, make=True)
    parent[segments[-1]] = copy.deepcopy(value)
    return made


def remove(config: Mapping[str, Any], path: str) -> Config:
    """Return a configuration without what is at a path.

    :raises PathError: there is nothing
    """
    get(config, path)
    segments = resolve(config, path)
    if not segments:
        raise PathError("the whole configuration cannot be removed")
    made = copy.deepcopy(dict(config))
    del _parent(made, segments, make=False)[segments[-1]]
    return made


def append(config: Mapping[str, Any], path: str, value: Any) -> Config:
    """Return a configuration with one more element in the array at a path; a missing array is made.

    :raises PathError: something else is there
    """
    try:
        array = get(config, path)
    except PathError:
        array = []
    if not isinstance(array, list):
        raise PathError(f"{path[:80]!r} is not an array")
    return put(config, path, [*array, value])


def _element(array: list[Any], part: str, path: str) -> int:
    if part.isascii() and part.isdecimal() and int(part[:9]) < len(array):
        return int(part[:9])
    for index, entry in enumerate(array):
        if isinstance(entry, dict) and part in {entry.get("name"), entry.get("id")}:
            return index
    raise PathError(f"{path} has no element {part[:40]!r}")


def _below(here: Any, segment: Segment) -> Any:
    if isinstance(here, list) and isinstance(segment, int):
        return here[segment]
    return here.get(segment) if isinstance(here, dict) else None


def _parent(config: Config, segments: tuple[Segment, ...], *, make: bool) -> Any:
    here: Any = config
    for segment in segments[:-1]:
        if make and isinstance(here, dict) and here.get(str(segment)) is None:
            here[str(segment)] = {}
        here = here[segment]
        if not isinstance(here, dict | list):
            raise PathError(f"{'.'.join(map(str, segments))[:80]!r} leads through something that is no object")
    return here
