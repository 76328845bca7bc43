"""The two counts of a row: entries, and the length of the text."""

from __future__ import annotations

from adf_format.audit import javascript_json
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.audit.examples import archived, entry
from adf_format.validation.rules.audit.model import AuditRow, Content, Source

_ACCENTED = [entry(3, "h\u00e9llo")]

ENTRY_COUNT = rule(
    "ADF508",
    "entry-count",
    Severity.ERROR,
    what="`entry_count` is the number of entries in the snapshot, 1 for a message or a file.",
    why="Entries were lost or added after the snapshot was taken, or the snapshot is not the one that belongs here.",
    source=("AUD-020", "AMB-11"),
    fires="UPDATE adf_audit SET entry_count = entry_count + 1 WHERE id = 1",
    silent=archived([entry(3), entry(7)]),
)
SIZE = rule(
    "ADF509",
    "size-bytes",
    Severity.ERROR,
    what="`size_bytes` is the length of the uncompressed JSON text in UTF-16 units (UTF-8 bytes are accepted).",
    why="The text is not the one that was archived, or a tool that plans with sizes plans with wrong ones.",
    source=("AUD-009", "AMB-10"),
    fires="UPDATE adf_audit SET size_bytes = size_bytes + 1 WHERE id = 1",
    silent=archived([entry(3, "h\u00e9llo \U0001f600")]),
)
SIZE_UNIT = rule(
    "ADF510",
    "size-in-utf-8-bytes",
    Severity.INFO,
    what="`size_bytes` counts UTF-16 units, as the reference implementation does.",
    why="The specification leaves the unit open, so UTF-8 bytes are accepted; sums over rows then mix two units.",
    source=("AUD-009", "AMB-10"),
    fires=archived(_ACCENTED, size_bytes=len(javascript_json(_ACCENTED).encode())),
    silent=archived(_ACCENTED),
)
EMPTY = rule(
    "ADF531",
    "empty-snapshot",
    Severity.WARNING,
    what="A snapshot holds at least one entry.",
    why="Writers leave no row behind when nothing was archived; an empty one hints that rows were lost on the way.",
    source=("AUD-030",),
    fires=archived([], start_seq=3, end_seq=3),
    silent=archived([entry(3)]),
)
RULES = (ENTRY_COUNT, SIZE, SIZE_UNIT, EMPTY)


def check(row: AuditRow, source: Source, content: Content) -> None:
    """Compare the counts of a row with what its snapshot holds."""
    count = row.integer("entry_count")
    if count is not None and (count < content.count or (count > content.count and content.complete)):
        more = "" if content.complete else "more than "
        row.report(ENTRY_COUNT, f"entry_count is {count}, the snapshot holds {more}{content.count}", "entry_count")
    if source.container == "array" and not content.count and content.complete:
        row.report(EMPTY, "the snapshot holds no entry", "data")
    size = row.integer("size_bytes")
    if size is None or size == content.utf16:
        return
    if size == content.utf8:
        row.report(SIZE_UNIT, "size_bytes counts UTF-8 bytes, not UTF-16 units", "size_bytes")
    else:
        text = f"size_bytes is {size}, the text has {content.utf16} UTF-16 units ({content.utf8} UTF-8 bytes)"
        row.report(SIZE, text, "size_bytes")
