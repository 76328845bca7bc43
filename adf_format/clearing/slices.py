"""Slices of a transcript, as Python slices lists (LCL-001, LCL-002)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adf_format.errors import UsageError

_SLICE = re.compile(r"([+-]?[0-9]{1,18})?:([+-]?[0-9]{1,18})?")


@dataclass(frozen=True)
class Slice:
    """Positions in display order: `start` is inclusive, `end` is not; negative ones count from the end.

    :ivar start: None for the beginning
    :ivar end: None for the end
    """

    start: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, text: str) -> Slice:
        """Read `A:B`, both optional.

        :raises UsageError: anything else
        """
        found = _SLICE.fullmatch(text)
        if found is None:
            raise UsageError(f"{text!a:.40} is not a slice", hint="A:B, as in Python: `:5`, `-10:`, `2:8`")
        start, end = (int(part) if part else None for part in found.groups())
        return cls(start, end)

    @property
    def is_whole(self) -> bool:
        """Whether no bound is given, which makes it a full clear."""
        return self.start is None and self.end is None

    def positions(self, count: int) -> range:
        """Return the positions selected of `count` rows."""
        return range(*slice(self.start, self.end).indices(count))

    def __str__(self) -> str:
        return f"{'' if self.start is None else self.start}:{'' if self.end is None else self.end}"
