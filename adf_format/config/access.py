"""Ways into a configuration that may hold anything anywhere: what has the wrong type is passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard


def section(value: Any, *keys: str) -> dict[str, Any]:
    """Follow keys to an object; an empty one if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def entries(value: Any, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(index, object)` for the objects in the array under a key."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, list):
        for index, entry in enumerate(found):
            if isinstance(entry, dict):
                yield index, entry


def texts(value: Any, key: str) -> Iterator[tuple[int, str]]:
    """Yield `(index, text)` for the strings in the array under a key."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, list):
        for index, entry in enumerate(found):
            if isinstance(entry, str):
                yield index, entry


def is_filled(value: Any) -> TypeGuard[str]:
    """Whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number; `true` is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
