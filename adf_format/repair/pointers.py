"""Ways into a JSON document by pointer (RFC 6901)."""

from __future__ import annotations

from typing import Any

MISSING = object()


def parts(pointer: str | None) -> list[str]:
    """Split a pointer into its keys."""
    return [part.replace("~1", "/").replace("~0", "~") for part in (pointer or "").split("/")[1:]]


def get(value: Any, pointer: str | None) -> Any:
    """Return the value at a pointer, `MISSING` if there is none."""
    for part in parts(pointer):
        value = step(value, part)
        if value is MISSING:
            break
    return value


def step(value: Any, part: str) -> Any:
    """Go down by one key or index."""
    if isinstance(value, dict):
        return value.get(part, MISSING)
    if isinstance(value, list) and part.isascii() and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    return MISSING


def parent(value: Any, pointer: str | None) -> tuple[Any, str]:
    """Return the object or array that holds what a pointer names, and its key there."""
    keys = parts(pointer)
    for part in keys[:-1]:
        value = step(value, part)
    return value, keys[-1] if keys else ""


def remove(value: Any, pointer: str | None) -> bool:
    """Remove a key of an object; whether there was one. Items of arrays stay, since other pointers count them."""
    holder, key = parent(value, pointer)
    if not isinstance(holder, dict) or key not in holder:
        return False
    del holder[key]
    return True
