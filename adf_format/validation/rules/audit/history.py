"""Whether a `seq` always stood for the same row: only with `--deep`, since it takes memory per archived row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from adf_format import rows
from adf_format.audit import SnapshotError
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.audit.check import ENTRIES, audit_rows
from adf_format.validation.rules.audit.examples import archived, entry
from adf_format.validation.rules.audit.model import AuditRow
from adf_format.validation.rules.audit.sources import Sources
from adf_format.validation.rules.audit.stream import reader_of

REMEMBERED = 500_000  # seqs; about 100 bytes each

TWO_CONTENTS = rule(
    "ADF522",
    "seq-with-two-contents",
    Severity.INFO,
    what="With `--deep`: a `seq` stands for the same message wherever it is stored.",
    why="Legal after a rebuild of the history, which rewrites rows in place; otherwise one of the two was altered.",
    source=("ROW-013", "STO-033"),
    fires=archived([entry(3, "what was never said")]),
    silent=(
        "INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at)"
        " SELECT source, start_seq, end_seq, entry_count, size_bytes, data, created_at FROM adf_audit WHERE id = 1"
    ),
)


def run(context: Context) -> None:
    """Compare archived rows with each other and with live ones."""
    seen: dict[int, int] = {}
    known = Sources(context)
    for row in audit_rows(context):
        source = known.find(row.values.get("source"))
        if source is not None and source.is_transcript and row.holds_blob:
            _compare(row, seen)
    _compare_live(context, seen)


def _compare(row: AuditRow, seen: dict[int, int]) -> None:
    for index, value in enumerate(_entries(row)):
        seq = value.get("seq") if isinstance(value, dict) else None
        if type(seq) is not int:
            continue
        content = _fingerprint(value.get("role"), value.get("content_json"))
        if seq in seen:
            if seen[seq] != content:
                row.report(TWO_CONTENTS, "an older snapshot has another message under this seq", "data", f"/{index}")
        elif len(seen) < REMEMBERED:
            seen[seq] = content
        else:
            row.context.not_checked("seqs with two contents", f"more than {REMEMBERED:,} archived rows")


def _compare_live(context: Context, seen: dict[int, int]) -> None:
    if not context.has("adf_loop", "seq", "role", "content_json") or not seen:
        return
    for rowid, role, text in rows.scan(context.container.connection, "adf_loop", ("role", "content_json")):
        if rowid in seen and isinstance(text, str):
            try:
                content = _fingerprint(role, decode(text).value)
            except JsonTextError:
                continue
            if content != seen[rowid]:
                message = "a snapshot has another message under this seq"
                context.report(TWO_CONTENTS, message, table="adf_loop", rowid=rowid, column="content_json")


def _entries(row: AuditRow) -> Iterator[Any]:
    """Yield what can be decoded; what cannot was reported by the first pass."""
    try:
        for text in islice(reader_of(row), ENTRIES):
            yield decode(text).value
    except (SnapshotError, JsonTextError):
        return


def _fingerprint(role: object, content: object) -> int:
    return hash((str(role), json.dumps(content, default=str)))
