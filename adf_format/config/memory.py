"""What was concluded about a section of a configuration, kept for files in which the section is the same.

The agents of a fleet differ in name and purpose, and share tools, triggers and limits word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import orjson

T = TypeVar("T")
KEPT = 256
LARGEST = 1 << 16  # bytes of a section that is worth remembering


class SectionMemory(Generic[T]):
    """Remembers conclusions by the content of a section; they must follow from that and `also` alone."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, bytes], T] = {}

    def recall(self, also: Hashable, section: object, conclude: Callable[[], T]) -> T:
        """Return the conclusion on a section, drawing it only if it is new."""
        try:
            text = orjson.dumps(section)
        except (TypeError, ValueError, RecursionError):  # numbers and texts that only Python can hold
            return conclude()
        if len(text) > LARGEST:
            return conclude()
        key = (also, text)
        if key not in self._known:
            if len(self._known) >= KEPT:
                del self._known[next(iter(self._known))]
            self._known[key] = conclude()
        return self._known[key]
