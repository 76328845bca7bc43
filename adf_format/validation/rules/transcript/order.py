"""Display order: `COALESCE(ord, seq)`, then `seq`, within one loop (STO-032).

A scan in `seq` order is in display order but for the rows with an `ord`, which are few: they are looked up before
the scan and merged into it, so no table is ever sorted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from adf_format import rows
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule

MOVED_LIMIT = 20_000  # rows with an ord; an agent has one per loop and compaction that kept its summary

KEY_TWICE = rule(
    "ADF602",
    "ordering-key-twice",
    Severity.WARNING,
    what="Within a loop, no two rows share the ordering key `COALESCE(ord, seq)`.",
    why="A partial clear deletes by key: it takes a row more than was asked for.",
    source=("LCL-004", "STO-032"),
    since=28,
    fires="UPDATE adf_loop SET ord = 10 WHERE seq = 9",
    silent="UPDATE adf_loop SET ord = -3 WHERE seq = 9",
)
UNEXPLAINED = rule(
    "ADF610",
    "ord-without-summary",
    Severity.INFO,
    what="Only the summary of a compaction has an `ord`.",
    why="No known writer moves other rows; the transcript was edited, or written by an unknown tool.",
    source=("CMP-025", "CMP-026"),
    since=28,
    fires="UPDATE adf_loop SET ord = 5 WHERE seq = 10",
    silent="UPDATE adf_loop SET ord = 5 WHERE seq = 9",
)
RULES = (KEY_TWICE, UNEXPLAINED)


@dataclass
class Moved:
    """The rows of `adf_loop` whose `ord` puts them elsewhere than their `seq`.

    :ivar keys: ordering key by seq
    :ivar by_loop: `(key, seq)` of the moved rows of each loop, in display order; taken out as a scan reaches them
    :ivar too_many: there are more than can be kept; then nothing is known about order
    """

    keys: dict[int, int] = field(default_factory=dict)
    by_loop: dict[object, deque[tuple[int, int]]] = field(default_factory=dict)
    too_many: bool = False

    def before(self, loop: object, seq: int) -> Iterator[int]:
        """Take out, in order, the rows of a loop that are displayed before the unmoved row `seq`."""
        waiting = self.by_loop.get(loop)
        while waiting and waiting[0] < (seq, seq):
            yield waiting.popleft()[1]

    def rest(self) -> Iterator[tuple[object, int]]:
        """Take out the rows that are displayed after every unmoved row of their loop."""
        for loop, waiting in self.by_loop.items():
            while waiting:
                yield loop, waiting.popleft()[1]


def moved_rows(context: Context) -> Moved:
    """Look up the moved rows; an `ord` that is no integer is a matter of the 3xx rules."""
    moved = Moved()
    if not context.has("adf_loop", "seq", "ord"):
        return moved
    connection = context.container.connection
    # the first condition is the expression of idx_adf_loop_stream, which then answers alone
    query = (
        "SELECT seq, COALESCE(ord, seq) FROM adf_loop WHERE COALESCE(ord, seq) <> seq"
        f" AND typeof(COALESCE(ord, seq)) = 'integer' ORDER BY 2, 1 LIMIT {MOVED_LIMIT + 1}"
    )
    moved.keys = {int(seq): int(key) for seq, key in connection.execute(query)}
    if len(moved.keys) > MOVED_LIMIT:
        context.not_checked("order of the transcript", f"more than {MOVED_LIMIT:,} rows have an ord")
        return Moved(too_many=True)
    for seq, key in moved.keys.items():
        moved.by_loop.setdefault(loop_of(context, seq), deque()).append((key, seq))
    return moved


def loop_of(context: Context, seq: int) -> object:
    """Return the loop of a row, `main` before version 29."""
    if not context.has("adf_loop", "loop"):
        return "main"
    return rows.value(context.container.connection, "adf_loop", "loop", seq)


def check_keys(context: Context, moved: Moved) -> None:
    """Report moved rows that share their key with another row of their loop."""
    for loop, waiting in moved.by_loop.items():
        for index, (key, seq) in enumerate(waiting):
            twin = index > 0 and waiting[index - 1][0] == key
            if twin or _is_unmoved(context, moved, key, loop):
                message = "another row of the loop has the same ordering key"
                context.report(KEY_TWICE, message, table="adf_loop", rowid=seq, column="ord")


def _is_unmoved(context: Context, moved: Moved, seq: int, loop: object) -> bool:
    if seq in moved.keys:
        return False
    there = context.container.connection.execute("SELECT 1 FROM adf_loop WHERE seq = ?", (seq,)).get
    return bool(there) and loop_of(context, seq) == loop
