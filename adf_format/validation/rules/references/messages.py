"""Messages: the files of their attachments."""

from __future__ import annotations

from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.validation.context import Batch, Columns, Context, Visit
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.references.files import is_missing

ATTACHMENT = rule(
    "ADF720",
    "attachment-file-missing",
    Severity.INFO,
    what="The file of an attachment that was stored is in `adf_files`.",
    why="It may have been deleted on purpose; with message audit on, its bytes are in the snapshot.",
    source=("CFG 4.3", "SEED-MEMORY Audit"),
    fires="DELETE FROM adf_files WHERE path = 'imported/peer/report.csv'",
    silent=(
        "DELETE FROM adf_files WHERE path = 'imported/peer/report.csv';"
        " UPDATE adf_inbox SET attachments = json_set(attachments, '$[0].skipped', json('true'), '$[0].reason', 'size')"
    ),
)


class Attachments:
    """Paths of the attachments of one message table."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._table = columns.table
        self._position = columns.position["attachments"]

    def batch(self, batch: Batch) -> bool:
        """Whether no message has any."""
        return set(batch.columns[self._position]) == {None}

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at the attachments of one message."""
        decoded = json.get("attachments")
        if not isinstance(decoded, Decoded) or not isinstance(decoded.value, list):
            return
        for index, one in enumerate(decoded.value):
            if isinstance(one, dict) and not one.get("skipped") and isinstance(one.get("path"), str):
                self._look_up(rowid, index, one["path"])

    def _look_up(self, rowid: int, index: int, path: str) -> None:
        if path.isprintable() and is_missing(self._context, path):
            text = "the file of an attachment is not in adf_files"
            place = {"table": self._table, "rowid": rowid, "column": "attachments", "pointer": f"/{index}/path"}
            self._context.report(ATTACHMENT, text, **place)

    def finish(self) -> None:
        """Nothing more."""


VISITS = tuple(
    Visit(f"attachments of {table}", (ATTACHMENT,), table, Attachments, ("attachments",))
    for table in ("adf_inbox", "adf_outbox")
)
