"""Timers: the loop they wake, the code they run, the turn that was under way."""

from __future__ import annotations

from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode
from adf_format.rows import Row
from adf_format.validation.context import Columns, Context, Pass, Visit
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.references.files import file_of_lambda, is_missing

TURN = "adf_runtime_turn_checkpoint"

UNKNOWN_LOOP = rule(
    "ADF701",
    "timer-of-unknown-loop",
    Severity.WARNING,
    what="A timer names a loop that the configuration declares, or none.",
    why="When it comes due nothing wakes: the runtime drops the dispatch and writes a log entry.",
    source=("CFG X22", "SEED-LOOPS Pacing"),
    since=29,
    fires="UPDATE adf_timers SET loop = 'drafter' WHERE id = 4",
    silent="UPDATE adf_timers SET loop = 'main' WHERE id = 4",
)
SYSTEM_STAMP = rule(
    "ADF702",
    "loop-stamp-without-agent-scope",
    Severity.WARNING,
    what="Only a timer whose scope contains `agent` carries a loop stamp.",
    why="A system-scope timer runs its lambda under main's authority and wakes no loop; the stamp misleads.",
    source=("SEED-LOOPS Pacing", "CFG 4.1"),
    since=29,
    fires="UPDATE adf_timers SET scope = '[\"system\"]' WHERE id = 4",
    silent='UPDATE adf_timers SET scope = \'["system","agent"]\' WHERE id = 4',
)
LAMBDA = rule(
    "ADF703",
    "timer-lambda-file-missing",
    Severity.WARNING,
    what="The file of a timer's lambda is in `adf_files`.",
    why="The timer fails each time it comes due.",
    source=("CFG 4.1",),
    fires="UPDATE adf_timers SET lambda = 'lib/gone.ts:tick' WHERE id = 2",
    silent="UPDATE adf_timers SET lambda = 'lib/watch.ts:tick' WHERE id = 2",
)
INTERRUPTED = rule(
    "ADF704",
    "turn-under-way",
    Severity.INFO,
    what="A file that was closed cleanly has no turn under way.",
    why="The turn was cut off; at the next start the runtime marks it as interrupted and does not replay it.",
    source=("ROW-030", "ROW-031"),
    fires=f"UPDATE adf_meta SET value = json_set(value, '$.status', 'in_progress') WHERE key = '{TURN}'",
    silent=f"UPDATE adf_meta SET value = json_set(value, '$.status', 'failed') WHERE key = '{TURN}'",
)


class TimerLoop:
    """The loop stamp and the lambda of a timer."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._loop = columns.position.get("loop")
        self._lambda = columns.position["lambda"]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at one timer."""
        loop = values[self._loop] if self._loop else None
        if isinstance(loop, str):
            self._stamp(rowid, loop, json.get("scope"))
        file = file_of_lambda(values[self._lambda])
        if file is not None and is_missing(self._context, file):
            self._report(LAMBDA, "the file of its lambda is not in adf_files", rowid, "lambda")

    def _stamp(self, rowid: int, loop: str, scope: Any) -> None:
        if loop != "main" and loop not in self._context.declared_loops:
            self._report(UNKNOWN_LOOP, "the loop it wakes is not declared", rowid, "loop")
        if isinstance(scope, Decoded) and isinstance(scope.value, list) and "agent" not in scope.value:
            self._report(SYSTEM_STAMP, "a loop stamp on a timer whose scope is not agent", rowid, "loop")

    def _report(self, broken: Any, message: str, rowid: int, column: str) -> None:
        self._context.report(broken, message, table="adf_timers", rowid=rowid, column=column)

    def finish(self) -> None:
        """Nothing more."""


def check_turns(context: Context) -> None:
    """Look for a turn that never ended, per loop."""
    for key, row in context.meta.items():
        if not isinstance(key, str) or not key.startswith(TURN) or not isinstance(row.value, str):
            continue
        try:
            value = decode(row.value).value
        except JsonTextError:
            continue
        if isinstance(value, dict) and value.get("status") == "in_progress":
            text = "a turn was under way when the file was last written"
            context.report(INTERRUPTED, text, table="adf_meta", rowid=row.rowid, column="value")


PASSES = (Pass("turn checkpoints", (INTERRUPTED,), check_turns, ("adf_meta",)),)
VISITS = (
    Visit("loops and lambdas of timers", (UNKNOWN_LOOP, SYSTEM_STAMP, LAMBDA), "adf_timers", TimerLoop, ("lambda",)),
)
