"""Which loop a row belongs to."""

from __future__ import annotations

import re
from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rule import Severity, rule

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")  # other names are a matter of the 3xx rules

UNDECLARED = rule(
    "ADF608",
    "row-of-undeclared-loop",
    Severity.WARNING,
    what="A row belongs to `main` or to a loop that the configuration declares.",
    why="Nobody reads it any more, and a later loop of the same name would inherit it; its removal was cut short.",
    source=("LOOP-132", "STO-035", "CFG 5"),
    since=29,
    fires="UPDATE adf_loop SET loop = 'drafter' WHERE seq = 14",
    silent="UPDATE adf_loop SET loop = 'reviewer' WHERE seq = 14",
    fix="archive the rows as loop:<name> and delete them, or declare the loop again",
)
RULES = (UNDECLARED,)


class Loops:
    """Looks at the loop of each row."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._loop = columns.position.get("loop", -1)
        self._known = context.declared_loops | {"main"}
        self._readable = isinstance(context.config_decoded, Decoded)

    def batch(self, batch: Batch) -> bool:
        """Whether all rows belong to loops that are declared."""
        return self._loop < 0 or self._known.issuperset(batch.columns[self._loop])

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002 - a row visitor
        """Look at one row."""
        loop = values[self._loop] if self._loop > 0 else "main"
        if type(loop) is str and loop not in self._known and self._readable and NAME.fullmatch(loop):
            message = f"the configuration declares no loop {brief(loop)}"
            self._context.report(UNDECLARED, message, table="adf_loop", rowid=rowid, column="loop")

    def finish(self) -> None:
        """Nothing is left to say."""
