"""Tool calls and their results, in display order (ROW-003, ROW-012)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import repeat
from types import NoneType
from typing import Any

from adf_format import rows
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.hashset import HashSet
from adf_format.validation.rule import Rule, Severity, rule
from adf_format.validation.rules.transcript import order
from adf_format.validation.rules.transcript.blocks import CONTEXT, SUMMARY, blocks_of, first_text
from adf_format.validation.rules.transcript.examples import call, put, result, say

LOOPS = 10_000  # loops followed at once; the format allows 16 beside main
IDS = 500_000  # ids remembered to notice one that comes again

UNANSWERED = rule(
    "ADF603",
    "tool-call-unanswered",
    Severity.WARNING,
    what="The calls of an assistant row are answered before the next assistant row of its loop.",
    why="Providers refuse such a history; the runtime strips the call each time it restores the session.",
    source=("ROW-003", "ROW-012", "BUG-17"),
    fires=put(12, say("done")),
    silent=put(12, say("an interrupt"), result("toolu_02")),
)
ORPHAN = rule(
    "ADF604",
    "tool-result-without-call",
    Severity.WARNING,
    what="A tool result answers a call of the assistant row before it.",
    why="Providers refuse such a history; the runtime strips the result each time it restores the session.",
    source=("ROW-003", "ROW-012", "BUG-17"),
    fires=put(12, result("toolu_02"), result("toolu_99")),
    silent="DELETE FROM adf_loop WHERE seq IN (7, 9)",
)
TWICE = rule(
    "ADF606",
    "tool-id-twice-in-message",
    Severity.WARNING,
    what="Each call of one assistant row has its own id.",
    why="Which of the calls a result answers cannot be told.",
    source=("ROW-002", "ROW-012"),
    fires=put(11, call("toolu_02"), call("toolu_02", "fs_read")),
    silent=put(11, call("toolu_02"), say("toolu_02")),
)
STARTS_INSIDE = rule(
    "ADF617",
    "transcript-starts-inside-a-turn",
    Severity.INFO,
    what="The first message of a transcript is from the user.",
    why="Legal after a partial clear; readers drop the leading assistant rows and results when they restore.",
    source=("LCL-010", "ROW-012"),
    fires="DELETE FROM adf_loop WHERE seq <= 10",
    silent="DELETE FROM adf_loop WHERE seq <= 9",
)
UNFINISHED = rule(
    "ADF618",
    "turn-unfinished",
    Severity.INFO,
    what="The last calls of a transcript are answered.",
    why="The turn was interrupted there; at the next start the runtime assumes that the calls failed.",
    source=("ROW-006", "ROW-012"),
    fires="DELETE FROM adf_loop WHERE seq > 11",
    silent="DELETE FROM adf_loop WHERE seq > 12",
)
REUSED = rule(
    "ADF619",
    "tool-id-reused",
    Severity.INFO,
    what="A tool call has an id that no earlier call of its loop had.",
    why="Harmless while results follow their calls; a reader that pairs them by id over the whole loop goes wrong.",
    source=("ROW-002",),
    fires=put(11, call("toolu_01")) + ";" + put(12, result("toolu_01")),
    silent=put(11, call("toolu_1")) + ";" + put(12, result("toolu_1")),
)
SPLIT = rule(
    "ADF622",
    "tool-results-split",
    Severity.INFO,
    what="The results for one assistant row stand in one user row.",
    why="Some providers refuse results in several messages.",
    source=("ROW-003",),
    fires=f"{put(11, call('toolu_02'), call('toolu_2b'))};{put(13, result('toolu_2b'), role='user')}",
    silent=f"{put(11, call('toolu_02'), call('toolu_2b'))};{put(12, result('toolu_02'), result('toolu_2b'))}",
)
RULES: tuple[Rule, ...] = (UNANSWERED, ORPHAN, TWICE, STARTS_INSIDE, UNFINISHED, REUSED, SPLIT, *order.RULES)


@dataclass(slots=True)
class Turn:
    """How far one loop has come.

    :ivar open: rowid and block of the calls not answered yet, by id
    :ivar begun: a message was met with which a session can begin
    :ivar blind: a row could not be read, so what it called or answered is not known
    :ivar answered: rowid of the user row that answered since the last assistant row
    """

    open: dict[str, tuple[int, int]] = field(default_factory=dict)
    begun: bool = False
    blind: bool = False
    answered: int | None = None


class ToolCalls:
    """Follows each loop in display order, during the one scan of `adf_loop`."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._role = columns.position["role"]
        self._loop = columns.position.get("loop", -1)
        self._ord = columns.position.get("ord", -1)
        self._moved = order.moved_rows(context)
        order.check_keys(context, self._moved)
        self._turns: dict[object, Turn] = {}
        self._ids = HashSet()

    def batch(self, batch: Batch) -> bool:
        """Look at some rows at once, if their JSON is sound and they stand where they are displayed."""
        values = batch.whole("content_json")
        if values is None or self._moved.too_many or self._moved.keys:
            return False
        if self._ord > 0 and not set(map(type, batch.columns[self._ord])) <= {int, NoneType}:
            return False
        loops = batch.columns[self._loop] if self._loop > 0 else repeat("main")
        for loop, rowid, role, blocks in zip(
            loops, batch.columns[0], batch.columns[self._role], values, strict=self._loop > 0
        ):
            self._step(loop, rowid, role, blocks if type(blocks) is list else None)
        return True

    def row(self, rowid: int, values: rows.Row, json: dict[str, Any]) -> None:
        """Look at one row, and first at the moved rows that are displayed before it."""
        if self._moved.too_many:
            return
        loop = values[self._loop] if self._loop > 0 else "main"
        if self._moved.keys:
            if rowid in self._moved.keys:
                return
            for seq in self._moved.before(loop, rowid):
                self._step_moved(loop, seq)
        decoded = json.get("content_json")
        blocks = decoded.value if type(decoded) is Decoded and type(decoded.value) is list else None
        if self._ord > 0 and values[self._ord] is not None and type(values[self._ord]) is not int:
            blocks = None  # its place is not known
        self._step(loop, rowid, values[self._role], blocks)

    def finish(self) -> None:
        """Look at what is displayed last, then at what is still open."""
        for loop, seq in self._moved.rest():
            self._step_moved(loop, seq)
        for turn in self._turns.values():
            for rowid, block in turn.open.values():
                self._report(UNFINISHED, "the transcript ends before the result of this call", rowid, block)

    def _step_moved(self, loop: object, seq: int) -> None:
        connection = self._context.container.connection
        text = rows.value(connection, "adf_loop", "content_json", seq)
        try:
            blocks = blocks_of(decode(text)) if isinstance(text, str) else None
        except JsonTextError:
            blocks = None
        self._step(loop, seq, rows.value(connection, "adf_loop", "role", seq), blocks)
        summary = blocks is not None and first_text(blocks).startswith(SUMMARY)
        if blocks is not None and not summary:
            message = "the row has an ord, but is no summary of a compaction"
            self._context.report(order.UNEXPLAINED, message, table="adf_loop", rowid=seq, column="ord")

    def _step(self, loop: object, rowid: int, role: Any, blocks: list[Any] | None) -> None:
        turn = self._turns.get(loop)
        if turn is None:
            if len(self._turns) >= LOOPS:
                self._context.not_checked("tool calls of some loops", f"more than {LOOPS:,} loops")
                return
            turn = self._turns[loop] = Turn()
        if blocks is None or role not in {"user", "assistant"}:
            turn.open.clear()
            turn.blind = turn.begun = True
        elif role == "assistant":
            self._assistant(turn, loop, rowid, blocks)
        else:
            self._user(turn, rowid, blocks)

    def _assistant(self, turn: Turn, loop: object, rowid: int, blocks: list[Any]) -> None:
        if turn.open:
            for called, block in turn.open.values():
                self._report(UNANSWERED, "the next assistant row comes before the result of this call", called, block)
            turn.open.clear()
        turn.blind, turn.answered = False, None
        if not turn.begun:
            turn.begun = True
            self._report(STARTS_INSIDE, "the transcript starts with an assistant row", rowid)
        for index, block in enumerate(blocks):
            if type(block) is dict and block.get("type") == "tool_use":
                tool_id = block.get("id")
                if tool_id and type(tool_id) is str:
                    self._call(turn, loop, tool_id, (rowid, index))

    def _call(self, turn: Turn, loop: object, tool_id: str, place: tuple[int, int]) -> None:
        if tool_id in turn.open:
            self._report(TWICE, "another call of this message has the same id", *place)
            return
        turn.open[tool_id] = place
        known = hash((loop, tool_id))
        if known in self._ids:
            self._report(REUSED, "an earlier call of this loop has the same id", *place)
        elif len(self._ids) < IDS:
            self._ids.add(known)
        else:
            self._context.not_checked("tool ids that come again", f"more than {IDS:,} tool calls")

    def _user(self, turn: Turn, rowid: int, blocks: list[Any]) -> None:
        only_results = bool(blocks)
        for index, block in enumerate(blocks):
            if type(block) is dict and block.get("type") == "tool_result":
                tool_id = block.get("tool_use_id")
                if tool_id and type(tool_id) is str:
                    self._result(turn, tool_id, (rowid, index))
            else:
                only_results = False
        if not turn.begun and not only_results and not first_text(blocks).startswith(CONTEXT):
            turn.begun = True

    def _result(self, turn: Turn, tool_id: str, place: tuple[int, int]) -> None:
        if turn.open.pop(tool_id, None) is not None:
            if turn.answered is not None and turn.answered != place[0]:
                self._report(SPLIT, "another user row holds results for the same assistant row", *place)
            turn.answered = place[0]
        elif not turn.begun:
            self._report(STARTS_INSIDE, "the transcript starts with the result of a call that is gone", *place)
        elif not turn.blind:
            self._report(ORPHAN, "no call of the assistant row before it has this id", *place)

    def _report(self, broken: Rule, message: str, rowid: int, block: int | None = None) -> None:
        pointer = None if block is None else f"/{block}"
        self._context.report(broken, message, table="adf_loop", rowid=rowid, column="content_json", pointer=pointer)
