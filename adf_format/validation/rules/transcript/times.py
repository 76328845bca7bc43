"""The times of the rows of one loop: only with `--deep`, since clocks are set back and rows are re-inserted."""

from __future__ import annotations

from typing import Any

from adf_format.rows import Row
from adf_format.validation.context import Columns, Context
from adf_format.validation.rule import Severity, rule

HOUR = 3_600_000  # ms; less is a clock being adjusted
LOOPS = 10_000

BACKWARDS = rule(
    "ADF615",
    "time-runs-backwards",
    Severity.INFO,
    what="With `--deep`: a row is not more than an hour older than the row before it in its loop.",
    why="The clock was wrong, or rows were inserted later; readers that sort by time show another order.",
    source=("STO-033", "ROW-013"),
    fires="UPDATE adf_loop SET created_at = created_at - 7200000 WHERE seq = 13",
    silent="UPDATE adf_loop SET created_at = created_at - 60000 WHERE seq = 13",
)
RULES = (BACKWARDS,)


class Times:
    """Keeps the last time of each loop while rows go by in the order in which they were numbered."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._time = columns.position["created_at"]
        self._loop = columns.position.get("loop", -1)
        self._last: dict[object, int] = {}

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002 - a row visitor
        """Look at one row."""
        time = values[self._time]
        if type(time) is not int or time <= 0:
            return
        loop = values[self._loop] if self._loop > 0 else "main"
        if self._last.get(loop, 0) - time > HOUR:
            message = "the row is more than an hour older than the one before it"
            self._context.report(BACKWARDS, message, table="adf_loop", rowid=rowid, column="created_at")
        if loop in self._last or len(self._last) < LOOPS:
            self._last[loop] = time

    def finish(self) -> None:
        """Nothing is left to say."""
