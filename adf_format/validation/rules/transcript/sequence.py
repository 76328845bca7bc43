"""The counter of `adf_loop`: what number the next row gets."""

from __future__ import annotations

from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule

BEHIND = rule(
    "ADF601",
    "loop-counter-behind",
    Severity.WARNING,
    what="The counter of `adf_loop` in `sqlite_sequence` is not below any live `seq`.",
    why="It was reset: once the newest rows are archived and deleted, their numbers are given out again.",
    source=("STO-033",),
    fires="UPDATE sqlite_sequence SET seq = 18 WHERE name = 'adf_loop'",
    silent="DELETE FROM adf_loop WHERE seq = 19",
    fix="UPDATE sqlite_sequence SET seq to the highest seq ever used, archived rows included",
)


def counter(context: Context) -> int | None:
    """Return the counter of `adf_loop`, None if `sqlite_sequence` has no row for it."""
    if not any(name == "sqlite_sequence" for _, name, *_ in context.structure.objects):
        return None
    query = "SELECT max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE name = 'adf_loop'"
    found: int | None = context.container.connection.execute(query).get
    return found


def high_water_mark(context: Context) -> int | None:
    """Return the highest number that SQLite will not give out again, None without a usable `adf_loop`."""
    if not context.has("adf_loop", "seq"):
        return None
    return max(counter(context) or 0, _highest(context) or 0)


def check(context: Context) -> None:
    """Compare the counter with the live rows."""
    table = context.structure.tables["adf_loop"]
    if not context.has("adf_loop", "seq") or not table.autoincrement or table.without_rowid:
        return
    highest, mark = _highest(context), counter(context)
    if highest is None:
        return
    if mark is None:
        context.report(BEHIND, "sqlite_sequence has no counter for adf_loop, which has rows", table="sqlite_sequence")
    elif mark < highest:
        text = f"the counter of adf_loop stands at {mark}, its rows reach {highest}"
        context.report(BEHIND, text, table="sqlite_sequence")


def _highest(context: Context) -> int | None:
    found = context.container.connection.execute("SELECT max(seq) FROM adf_loop").get
    return found if type(found) is int else None
