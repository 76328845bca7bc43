"""Where two JSON values differ, by JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

Difference = tuple[str, Any, Any]  # pointer, before, after; a member that is not there is None
_ABSENT = object()


def differences(before: Any, after: Any, pointer: str = "") -> Iterator[Difference]:
    """Yield the smallest parts that differ; an array of another length differs as a whole."""
    waiting = [(before, after, pointer)]  # no recursion: what is written may be nested deeply
    while waiting:
        before, after, pointer = waiting.pop()
        if isinstance(before, dict) and isinstance(after, dict):
            keys = [*before, *(key for key in after if key not in before)]
            parts = [(before.get(key, _ABSENT), after.get(key, _ABSENT), f"{pointer}/{_escaped(key)}") for key in keys]
            waiting += reversed(parts)
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            parts = [(one, after[index], f"{pointer}/{index}") for index, one in enumerate(before)]
            waiting += reversed(parts)
        elif not _same(before, after):
            yield pointer, None if before is _ABSENT else before, None if after is _ABSENT else after


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, (int, float, Decimal)) and isinstance(after, (int, float, Decimal)):
        return bool(before == after)  # `1.0` is written as `1`
    return type(before) is type(after) and bool(before == after)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
