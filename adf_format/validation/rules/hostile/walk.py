"""Walks through decoded JSON of any depth, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adf_format.schemas.checker import pointer

Link = tuple[Any, Any] | None
"""A path as a chain of `(parent chain, key)`: cheap to extend, spelled out only for a finding."""


def leaves(value: Any) -> Iterator[tuple[Link, Any]]:
    """Yield every key and every value that is no list or object, in the order of the document."""
    stack: list[tuple[Link, Any]] = [(None, value)]
    while stack:
        link, item = stack.pop()
        if isinstance(item, dict):
            for key in item:
                yield link, key
            stack.extend(((link, key), inner) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend(((link, at), inner) for at, inner in zip(range(len(item))[::-1], reversed(item), strict=True))
        else:
            yield link, item


def spelled(link: Link) -> str:
    """Return the JSON pointer of a path."""
    parts: list[Any] = []
    while link is not None:
        link, part = link
        parts.append(part)
    return pointer(reversed(parts))


def depth(value: Any) -> int:
    """Return how many lists and objects stand within each other at most."""
    level, found = _containers([value]), 0
    while level:
        found += 1
        level = [inner for item in level for inner in _containers(item.values() if isinstance(item, dict) else item)]
    return found


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
