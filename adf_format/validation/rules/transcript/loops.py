"""Which loop a row belongs to, and who sent it there."""

from __future__ import annotations

from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Columns, Context
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.transcript.blocks import blocks_of, first_text
from adf_format.validation.rules.transcript.examples import put, say

STAMP = "[from loop:"

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
UNKNOWN_SENDER = rule(
    "ADF613",
    "stamp-of-unknown-loop",
    Severity.INFO,
    what="A row that was sent by a loop names one that the configuration declares, or `main`.",
    why="The sender was deleted since, or the stamp was typed by somebody.",
    source=("LOOP-151", "ROW-024"),
    since=29,
    fires=put(18, say("[from loop:drafter] done")),
    silent=put(18, say("[from loop:reviewer] done")),
)
RULES = (UNDECLARED, UNKNOWN_SENDER)


class Loops:
    """Looks at the loop of each row, and at the stamp of rows sent by `loop_send`."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._loop = columns.position.get("loop", -1)
        self._role = columns.position["role"]
        self._known = context.declared_loops | {"main"}
        self._readable = isinstance(context.config_decoded, Decoded)

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at one row."""
        loop = values[self._loop] if self._loop > 0 else "main"
        if type(loop) is str and loop not in self._known and self._readable:
            message = f"the configuration declares no loop {brief(loop)}"
            self._context.report(UNDECLARED, message, table="adf_loop", rowid=rowid, column="loop")
        if values[self._role] == "user":
            blocks = blocks_of(json.get("content_json"))
            text = first_text(blocks) if blocks else ""
            if text.startswith(STAMP) and self._readable:
                self._stamp(rowid, text)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _stamp(self, rowid: int, text: str) -> None:
        sender = text[len(STAMP) : len(STAMP) + 100].partition("]")[0]
        if sender not in self._known:
            message = f"the configuration declares no loop {brief(sender)}, which is said to have sent this"
            self._context.report(
                UNKNOWN_SENDER, message, table="adf_loop", rowid=rowid, column="content_json", pointer="/0/text"
            )
