"""Ada's audit: one row of every source, old and new."""

from __future__ import annotations

import base64
from typing import Any

from adf_format.audit import compress, javascript_json, utf16_length
from adf_format.sample import messages, transcript
from adf_format.sample.story import OLD_NOTE, ms

Row = dict[str, Any]


def audit(version: int) -> list[Row]:
    """Return the rows of `adf_audit`; each has the locators of all versions, of which the table takes its own."""
    main = "loop:main" if version >= transcript.LOOPS_FROM else "loop"
    rows = [
        _loop(main, transcript.archived(version), 9),
        _one("inbox_message", messages.received(), 31, ref=messages.RECEIVED),
        _one("outbox_message", messages.sent(), 33, ref=messages.SENT),
        _one("file", _old_note(), 36, ref="notes/old.md"),
        _snapshot("inbox", messages.inbox_batch(), 37) | {"start_at": ms(19), "end_at": ms(21)},
        _snapshot("outbox", messages.outbox_batch(), 38) | {"start_at": ms(22), "end_at": ms(22)},
    ]
    if version >= transcript.LOOPS_FROM:
        rows.append(_loop("loop:drafter", transcript.drafter(), 39))
    return [{"id": number, **row} for number, row in enumerate(rows, 1)]


def _loop(source: str, rows: list[Row], at: int) -> Row:
    """Archive some rows, with the locators of both eras."""
    locators = {"start_seq": rows[0]["seq"], "end_seq": rows[-1]["seq"]}
    locators |= {"start_at": rows[0]["created_at"], "end_at": rows[-1]["created_at"]}
    return _snapshot(source, [transcript.entry(row) for row in rows], at) | locators


def _one(source: str, value: Row, at: int, *, ref: str) -> Row:
    return _snapshot(source, value, at) | {"ref": ref, "start_at": ms(at), "end_at": ms(at)}


def _snapshot(source: str, value: Row | list[Row], at: int) -> Row:
    text = javascript_json(value)
    count = len(value) if isinstance(value, list) else 1
    sizes = {"entry_count": count, "size_bytes": utf16_length(text)}
    return {"source": source, **sizes, "data": compress(text), "created_at": ms(at)}


def _old_note() -> Row:
    content = base64.b64encode(OLD_NOTE.encode()).decode()
    size = len(OLD_NOTE.encode())
    return {"path": "notes/old.md", "content_base64": content, "mime_type": "text/markdown", "size": size}
