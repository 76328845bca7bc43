"""What of an agent a page shows."""

from __future__ import annotations

from dataclasses import dataclass

ROWS = 2000  # of one loop in one page, unless asked for


@dataclass(frozen=True)
class Options:
    """What is wanted.

    :ivar loops: names of loops, empty for all
    :ivar since: epoch ms, earlier rows are left out; :ivar until: later ones
    :ivar limit: the last rows of each loop, None for all
    :ivar rows_of_page: rows of a loop in one page of a folder, None for a single page
    :ivar title: name of the file, as the page shows it
    """

    loops: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    limit: int | None = ROWS
    rows_of_page: int | None = None
    title: str = ""

    def side(self, when: int | None) -> int:
        """Return -1 for a row before the wanted time, 1 for one after it, 0 otherwise; one without a time is wanted."""
        if when is None:
            return 0
        if self.since is not None and when < self.since:
            return -1
        return 1 if self.until is not None and when > self.until else 0
