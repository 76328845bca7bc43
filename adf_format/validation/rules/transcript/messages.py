"""What a single row says about itself: whose blocks it holds, and the forms that its text begins with."""

from __future__ import annotations

import re
from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rule import Rule, Severity, rule
from adf_format.validation.rules.transcript.blocks import CONTEXT, SUMMARY
from adf_format.validation.rules.transcript.examples import put, result, say

ROLE_OF = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "tool_result": "user",
    "image_url": "user",
    "input_audio": "user",
    "video_url": "user",
}
FOREIGN = {role: frozenset(kind for kind, of in ROLE_OF.items() if of != role) for role in ("user", "assistant")}
HEADER = re.compile(
    r"\[Context: (?:[^\]|\n]+"
    r"|[a-z][a-z0-9_.-]{0,63} \| loop_inject=v2 \| origin=[a-zA-Z0-9_.:/-]{1,128}(?: \| key=[a-zA-Z0-9_.:-]{1,128})?)"
    r"\]"
)
STAMP = "[from loop:"
AUDITED = "[Loop Compacted, audited]"
PLACEHOLDER = re.compile(r"\[Loop Compacted(?:, audited)?\] \(Summary generation ")
MARKER = re.compile(r"(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\] )?\[S\d+\]")
STAMPED_MARKER = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\] \[S\d+\]")

FOREIGN_BLOCK = rule(
    "ADF607",
    "block-of-the-other-role",
    Severity.WARNING,
    what="Calls and thinking stand in assistant rows; results, pictures and sound in user rows.",
    why="Providers refuse such a history, or take what a tool said for what the agent decided.",
    source=("ROW-002", "CFG 4.2"),
    fires=put(13, result("toolu_02")),
    silent=put(10, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}),
)
HEADER_FORM = rule(
    "ADF611",
    "context-header",
    Severity.WARNING,
    what="A context row begins with `[Context: <category>]`, or with the header of loop_inject v2.",
    why="It is dropped when the session is restored, and an injection with a broken header is not queued again.",
    source=("ROW-011", "ROW-020", "ROW-022"),
    fires=put(14, say("[Context: news | loop_inject=v2 | origin=a b] x")),
    silent=put(14, say("[Context: news | loop_inject=v2 | origin=lambda:lib/api.ts | key=news.1] x")),
)
UNPROVEN = rule(
    "ADF612",
    "summary-claims-audit",
    Severity.WARNING,
    what="A summary that says that the loop was audited has a snapshot of that loop beside it.",
    why="The history it stands for is nowhere: the policy was misread, or the audit table was emptied.",
    source=("CMP-027", "CMP-028"),
    fires="DELETE FROM adf_audit WHERE source LIKE 'loop%'",
    silent=put(9, say("[Loop Compacted] The agent wrote a plan.")) + ";DELETE FROM adf_audit WHERE source LIKE 'loop%'",
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
STORED_MARKER = rule(
    "ADF614",
    "seq-marker-stored",
    Severity.WARNING,
    what="The `[S<seq>]` markers of a request are not stored in `content_json`.",
    why="The model sees them as its own words and imitates them; each turn adds another.",
    source=("ROW-010", "BUG-19"),
    fires=put(13, say("[S13] Done.")),
    silent=put(13, say("Done, as said in [S10].")),
)
USAGE = rule(
    "ADF616",
    "usage-on-user-row",
    Severity.INFO,
    what="Model and tokens stand on assistant rows, and on the summary of a compaction.",
    why="A reader that sums up tokens, or measures the context by the newest usage, counts what no call produced.",
    source=("CMP-029", "CFG 4.2"),
    fires="UPDATE adf_loop SET model = 'm-1' WHERE seq = 10",
    silent="UPDATE adf_loop SET model = 'm-1', tokens = '{\"input\":40,\"output\":40}' WHERE seq = 9",
)
CONTEXT_ROLE = rule(
    "ADF620",
    "context-in-assistant-row",
    Severity.WARNING,
    what="An assistant row does not begin with `[Context: `.",
    why="Readers take it for a context row and drop it when they restore the session: the answer is forgotten.",
    source=("ROW-011", "ROW-020"),
    fires=put(13, say("[Context: system_prompt] You are Ada.")),
    silent=put(13, say("About [Context: system_prompt]: it was written twice.")),
)
LOST = rule(
    "ADF621",
    "placeholder-summary",
    Severity.WARNING,
    what="The summary of a compaction is a summary.",
    why="The summarizer failed and the history was cleared all the same; look for it in the audit table.",
    source=("CMP-040", "BUG-02"),
    fires=put(9, say("[Loop Compacted, audited] (Summary generation failed: 529)")),
    silent=put(9, say("[Loop Compacted, audited] Nothing was said about (Summary generation).")),
)
RULES = (FOREIGN_BLOCK, HEADER_FORM, UNPROVEN, UNKNOWN_SENDER, STORED_MARKER, USAGE, CONTEXT_ROLE, LOST)


def _is_plain_answer(blocks: Any) -> bool:
    """Whether a message is one text block that does not begin with a bracket, as most answers are."""
    if type(blocks) is not list or len(blocks) != 1 or type(block := blocks[0]) is not dict:
        return False
    text = block.get("text")
    return block.get("type") == "text" and type(text) is str and text[:1] != "["


class Messages:
    """Looks at each row by itself."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._role = columns.position["role"]
        self._model = columns.position.get("model", -1)
        self._tokens = columns.position.get("tokens", -1)
        self._loop = columns.position.get("loop", -1)
        self._archived: dict[object, bool] = {}
        self._loops = context.declared_loops | {"main"}

    def batch(self, batch: Batch) -> bool:
        """Look at some rows at once, if nothing is odd about their JSON."""
        values = batch.whole("content_json")
        if values is None:
            return False
        for row, blocks in zip(batch.rows, values, strict=True):
            if row[self._role] != "assistant" or not _is_plain_answer(blocks):
                self._look(row, blocks)
        return True

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at one row."""
        decoded = json.get("content_json")
        if type(decoded) is Decoded:
            self._look(values, decoded.value)

    def _look(self, values: Row, blocks: Any) -> None:
        rowid, role = values[0], values[self._role]
        foreign = FOREIGN.get(role) if type(role) is str else None
        if type(blocks) is not list or foreign is None:
            return
        first, index = "", 0
        for block in blocks:
            if type(block) is dict:
                kind = block.get("type")
                if kind == "text":
                    text = block.get("text")
                    if type(text) is str:
                        if not index:
                            first = text
                        elif text[:1] == "[":
                            self._marker(rowid, role, text, index)
                elif type(kind) is str and kind in foreign:
                    self._report(FOREIGN_BLOCK, f"a {kind} block in a row of the {role}", rowid, f"/{index}")
            index += 1  # noqa: SIM113 - cheaper than enumerate for one block
        if first[:1] == "[":
            self._beginning(rowid, role, first, values)
        if role == "user" and not first.startswith(SUMMARY):
            self._usage(rowid, values)

    def finish(self) -> None:
        """Nothing is left to say."""

    def _beginning(self, rowid: int, role: str, text: str, values: Row) -> None:
        if text.startswith(CONTEXT):
            if role == "assistant":
                self._report(CONTEXT_ROLE, "an assistant row begins like a context row", rowid)
            elif not HEADER.match(text):
                self._report(HEADER_FORM, "the header of a context row cannot be read", rowid)
        elif text.startswith(SUMMARY) and role == "user":
            self._summary(rowid, text, values)
        elif text.startswith(STAMP) and role == "user":
            self._stamp(rowid, text)
        else:
            self._marker(rowid, role, text, 0)

    def _marker(self, rowid: int, role: str, text: object, index: int) -> None:
        """Look for a marker at the beginning of a text block: it may stand behind a thinking block."""
        if type(text) is str and text[:1] == "[" and (MARKER if role == "assistant" else STAMPED_MARKER).match(text):
            self._report(STORED_MARKER, "a marker of the request is stored with the text", rowid, f"/{index}/text")

    def _summary(self, rowid: int, text: str, values: Row) -> None:
        if PLACEHOLDER.match(text):
            self._report(LOST, "the summary says only that there is none", rowid)
        if text.startswith(AUDITED):
            loop = values[self._loop] if self._loop > 0 else "main"
            if not self._has_snapshot(loop):
                self._report(UNPROVEN, f"no snapshot of loop {brief(loop)} is in adf_audit", rowid)

    def _stamp(self, rowid: int, text: str) -> None:
        sender = text[len(STAMP) : len(STAMP) + 100].partition("]")[0]
        if sender not in self._loops and isinstance(self._context.config_decoded, Decoded):
            message = f"the configuration declares no loop {brief(sender)}, which is said to have sent this"
            self._report(UNKNOWN_SENDER, message, rowid)

    def _has_snapshot(self, loop: object) -> bool:
        """Whether anything of a loop was archived; a bare `loop` stands for `main` (AUD-006)."""
        if not isinstance(loop, str) or not self._context.has("adf_audit", "source"):
            return True
        if loop not in self._archived:
            wanted = (f"loop:{loop}", "loop" if loop == "main" else f"loop:{loop}")
            query = "SELECT 1 FROM adf_audit WHERE source IN (?, ?) LIMIT 1"
            self._archived[loop] = bool(self._context.container.connection.execute(query, wanted).get)
        return self._archived[loop]

    def _usage(self, rowid: int, values: Row) -> None:
        for column, position in (("model", self._model), ("tokens", self._tokens)):
            if position > 0 and values[position] is not None:
                message = f"{column} on a user row that is no summary"
                self._context.report(USAGE, message, table="adf_loop", rowid=rowid, column=column)

    def _report(self, broken: Rule, message: str, rowid: int, pointer: str = "/0/text") -> None:
        self._context.report(broken, message, table="adf_loop", rowid=rowid, column="content_json", pointer=pointer)
