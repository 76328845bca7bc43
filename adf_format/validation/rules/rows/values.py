"""Values that belong together within one row: sizes, schedules, states and their times."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Columns, Context, Visit
from adf_format.validation.rule import Severity, rule

TERMINAL = frozenset({"completed", "failed", "denied", "cancelled"})
OPEN = frozenset({"pending", "pending_approval", "running"})

CRON = rule(
    "ADF330",
    "unparsable-cron",
    Severity.WARNING,
    what="A cron schedule is an expression of five fields that can be parsed, and of a time that comes.",
    why="The timer never fires again, and nothing says so.",
    source=("CFG 4.1",),
    fires='UPDATE adf_timers SET schedule_json = \'{"mode":"cron","cron":"99 * * * *"}\' WHERE id = 3',
    silent='UPDATE adf_timers SET schedule_json = \'{"mode":"cron","cron":"*/5 9-17 * * 1-5"}\' WHERE id = 3',
)
FILE_SIZE = rule(
    "ADF331",
    "file-size-differs",
    Severity.WARNING,
    what="`adf_files.size` is the number of bytes of the content.",
    why="Listings and limits use the column; a wrong figure hides a cut or doubled file.",
    source=("STO-030",),
    fires="UPDATE adf_files SET size = size + 1 WHERE path = 'notes/plan.md'",
    silent="UPDATE adf_files SET content = x'', size = 0 WHERE path = 'notes/plan.md'",
    fix="set size to the length of content",
)
TASK_TIME = rule(
    "ADF332",
    "task-time-contradicts-status",
    Severity.WARNING,
    what="A task has a completion time exactly when it is completed, failed, denied or cancelled.",
    why="A task that is over without a time, or open with one, is shown and swept wrongly.",
    source=("CFG 4.4",),
    fires="UPDATE adf_tasks SET completed_at = NULL WHERE status = 'completed'",
    silent="UPDATE adf_tasks SET status = 'failed', error = 'no reply' WHERE status = 'completed'",
)
TIMER_TIMES = rule(
    "ADF333",
    "timer-times-contradict",
    Severity.WARNING,
    what="A timer that has run has a time of its last run, and one that never ran has none.",
    why="Limits on the number of runs are counted from these figures.",
    source=("CFG 4.1", "STO-030"),
    fires="UPDATE adf_timers SET run_count = 3, last_fired_at = NULL WHERE id = 2",
    silent="UPDATE adf_timers SET run_count = 3, last_fired_at = 1767225700000 WHERE id = 2",
)


class FileSize:
    """`size` against the bytes stored."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._report = context.report
        self._content, self._size = columns.position["content"], columns.position["size"]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Compare the two figures of one file."""
        stored, said = values[self._content], values[self._size]
        if stored is not None and type(said) is int and stored != said:
            text = "size differs from the number of bytes stored"
            self._report(FILE_SIZE, text, table="adf_files", rowid=rowid, column="size")

    def finish(self) -> None:
        """Nothing more."""


class TaskTime:
    """`completed_at` against `status`."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._report = context.report
        self._status, self._time = columns.position["status"], columns.position["completed_at"]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Compare status and time of one task; of an unknown status nothing is known."""
        over, timed = values[self._status] in TERMINAL, values[self._time] is not None
        if over != timed and (over or values[self._status] in OPEN):
            text = f"the task is {values[self._status]} {'without' if over else 'with'} a completion time"
            self._report(TASK_TIME, text, table="adf_tasks", rowid=rowid, column="completed_at")

    def finish(self) -> None:
        """Nothing more."""


class TimerValues:
    """The cron expression and the run figures of a timer."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._report = context.report
        self._runs, self._fired = columns.position["run_count"], columns.position["last_fired_at"]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at one timer."""
        runs, fired = values[self._runs], values[self._fired]
        if type(runs) is int and (runs > 0) != (fired is not None):
            text = "run_count and last_fired_at contradict each other"
            self._report(TIMER_TIMES, text, table="adf_timers", rowid=rowid, column="last_fired_at")
        schedule = json.get("schedule_json")
        if isinstance(schedule, Decoded) and isinstance(schedule.value, dict):
            self._cron(rowid, schedule.value)

    def _cron(self, rowid: int, schedule: dict[str, Any]) -> None:
        expression = schedule.get("cron")
        if schedule.get("mode") == "cron" and isinstance(expression, str) and not parses(expression):
            text = f"{brief(expression)} is no cron expression of five fields, or of a day that never comes"
            place = {"table": "adf_timers", "rowid": rowid, "column": "schedule_json", "pointer": "/cron"}
            self._report(CRON, text, **place)

    def finish(self) -> None:
        """Nothing more."""


@lru_cache(maxsize=1024)
def parses(expression: str) -> bool:
    """Whether a cron expression has five fields that cronsim accepts."""
    from datetime import UTC, datetime

    from cronsim import CronSim, CronSimError

    if len(expression) > 1000 or len(expression.split()) != 5:
        return False
    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError:
        return False
    return True


VISITS: tuple[Visit, ...] = (
    Visit("sizes of files", (FILE_SIZE,), "adf_files", FileSize, ("content", "size")),
    Visit("times of tasks", (TASK_TIME,), "adf_tasks", TaskTime, ("status", "completed_at")),
    Visit("schedules of timers", (CRON, TIMER_TIMES), "adf_timers", TimerValues, ("run_count", "last_fired_at")),
)
