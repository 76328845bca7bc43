"""Tasks and log entries, woven into a transcript by their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adf_format.view.html import Safe


@dataclass(frozen=True)
class Thread:
    """Something that is no row of the transcript and happened at some time."""

    when: int
    shown: Safe


class Woven:
    """Hands out what happened before a row, in order."""

    def __init__(self, threads: Iterable[Thread]) -> None:
        self._waiting = iter(sorted(threads, key=lambda one: one.when))
        self._next = next(self._waiting, None)

    def before(self, when: int | None) -> Iterator[Safe]:
        """Yield what happened before some time."""
        while when is not None and self._next is not None and self._next.when <= when:
            yield self._next.shown
            self._next = next(self._waiting, None)

    def rest(self) -> Iterator[Safe]:
        """Yield what happened after the last row."""
        while self._next is not None:
            yield self._next.shown
            self._next = next(self._waiting, None)
