"""Whether a `seq` always stood for the same row, and where it is: only with `--deep`, it takes memory per row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import apsw

from adf_format import rows
from adf_format.audit import SnapshotError, split_part
from adf_format.config.auditing import audit_policy
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.audit.check import ENTRIES, audit_rows
from adf_format.validation.rules.audit.examples import archived, entry
from adf_format.validation.rules.audit.model import AuditRow
from adf_format.validation.rules.audit.sources import Sources
from adf_format.validation.rules.audit.stream import reader_of
from adf_format.validation.rules.transcript.sequence import high_water_mark

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


TWO_LOOPS = rule(
    "ADF534",
    "seq-of-two-loops",
    Severity.WARNING,
    what="With `--deep`: a `seq` belongs to one loop, live or archived.",
    why="All loops share one counter: `[S137]` then means two things, and one of the rows was made up or renumbered.",
    source=("STO-033", "STO-034"),
    since=29,
    fires=archived([entry(3)], "loop:drafter"),
    silent=archived([entry(3)], "loop"),
)
NOWHERE = rule(
    "ADF535",
    "seq-nowhere",
    Severity.INFO,
    what="With `--deep`: while transcripts are archived, each `seq` up to the counter is live or in a snapshot.",
    why="Rows were deleted without being archived: archiving was off then, or a clear or compaction went wrong.",
    source=("AUD-001", "AUD-030", "AUD-031"),
    fires="DELETE FROM adf_loop WHERE seq = 7",
    silent="DELETE FROM adf_loop WHERE seq = 7; UPDATE adf_config SET config_json"
    " = json_set(config_json, '$.context.audit', json('{}'))",
    fix="`adf-format audit verify` lists what is gone, and why as far as it can be told",
)
DELETED = rule(
    "ADF536",
    "snapshot-deleted",
    Severity.WARNING,
    what="With `--deep`: each id of `adf_audit` up to its counter is there, or all are gone, as in a clone.",
    why="Nothing ever removes a snapshot; what was in it can be found nowhere else.",
    source=("AUD-005", "AUD-040"),
    fires="DELETE FROM adf_audit WHERE id = 3",
    silent="DELETE FROM adf_audit",
    fix="look for it in backups; `adf-format audit verify` names the ids",
)
RULES = (TWO_CONTENTS, TWO_LOOPS, NOWHERE, DELETED)


@dataclass
class _Past:
    """What is known of each seq.

    :ivar seen: content and loop of an archived one; :ivar live: those in the table
    :ivar whole: every snapshot and every live row could be read and remembered
    :ivar ids: of the snapshots
    :ivar batches: which messages of a batch that was split are missing, by the id of the batch
    """

    seen: dict[int, tuple[int, str]] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)
    whole: bool = True
    ids: set[int] = field(default_factory=set)
    batches: dict[int, set[int]] = field(default_factory=dict)


def run(context: Context) -> None:
    """Compare archived rows with each other and with live ones, and look for what is neither."""
    past, known = _Past(), Sources(context)
    for row in audit_rows(context):
        past.ids.add(row.rowid)
        source = known.find(row.values.get("source"))
        if source is None or not row.holds_blob:
            past.whole = False
        elif source.is_transcript:
            _compare(row, past)
        elif source.container == "object":
            _note_batch(row, past)
    _compare_live(context, past)
    _look_for_gaps(context, past)
    _look_for_snapshots(context, past)


def _compare(row: AuditRow, past: _Past) -> None:
    loop = str(row.values.get("source")).partition(":")[2] or "main"
    for index, value in enumerate(_entries(row, past)):
        seq = value.get("seq") if isinstance(value, dict) else None
        if type(seq) is not int:
            past.whole = False
            continue
        found = _fingerprint(value.get("role"), value.get("content_json")), loop
        if seq in past.seen:
            _report(row, past.seen[seq], found, f"/{index}")
        elif len(past.seen) < REMEMBERED:
            past.seen[seq] = found
        else:
            past.whole = False
            row.context.not_checked("seqs with two contents", f"more than {REMEMBERED:,} archived rows")


def _report(row: AuditRow, one: tuple[int, str], other: tuple[int, str], pointer: str) -> None:
    if one[1] != other[1]:
        row.report(TWO_LOOPS, "an older snapshot has this seq in another loop", "data", pointer)
    elif one[0] != other[0]:
        row.report(TWO_CONTENTS, "an older snapshot has another message under this seq", "data", pointer)


def _compare_live(context: Context, past: _Past) -> None:
    if not context.has("adf_loop", "seq", "role", "content_json"):
        past.whole = False
        return
    columns = ("role", "content_json", "loop") if context.has("adf_loop", "loop") else ("role", "content_json")
    for rowid, role, text, *loop in rows.scan(context.container.connection, "adf_loop", columns):
        if len(past.live) < REMEMBERED:
            past.live.add(rowid)
        elif past.whole:
            past.whole = False
            context.not_checked("seqs that are nowhere", f"more than {REMEMBERED:,} live rows")
        if rowid in past.seen:
            _compare_row(context, past.seen[rowid], rowid, (role, text, *loop))


def _compare_row(context: Context, archived: tuple[int, str], rowid: int, row: tuple[Any, ...]) -> None:
    role, text, *loop = row
    if loop and loop[0] != archived[1]:
        context.report(TWO_LOOPS, "a snapshot has this seq in another loop", table="adf_loop", rowid=rowid)
        return
    try:
        differs = isinstance(text, str) and _fingerprint(role, decode(text).value) != archived[0]
    except JsonTextError:
        return
    if differs:
        message = "a snapshot has another message under this seq"
        context.report(TWO_CONTENTS, message, table="adf_loop", rowid=rowid, column="content_json")


def _look_for_gaps(context: Context, past: _Past) -> None:
    """Report what is neither live nor archived, where rows can only have gone by way of the archive."""
    mark = high_water_mark(context)
    if mark is None or not past.whole or _is_clone(context) or not audit_policy(context.config)["loop"]:
        return
    there = sorted(seq for seq in past.seen.keys() | past.live if 0 < seq <= mark)
    for one, other in pairwise([0, *there, mark + 1]):
        if other - one > 1:
            text = f"S{one + 1} is" if other - one == 2 else f"S{one + 1} to S{other - 1} are"
            context.report(NOWHERE, f"{text} neither live nor in a snapshot", table="adf_loop")


def _look_for_snapshots(context: Context, past: _Past) -> None:
    """Report ids that were given out and are no more, but for batches that were split into messages."""
    if not past.ids or not any(name == "sqlite_sequence" for _, name, *_ in context.structure.objects):
        return
    query = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'adf_audit' AND typeof(seq) = 'integer'"
    top = context.container.connection.execute(query).get or 0
    split = {number for number, parts in past.batches.items() if not parts}
    missing = top - sum(1 for number in past.ids | split if 0 < number <= top)
    if missing > 0:
        context.report(DELETED, f"{missing:,} of the ids 1 to {top:,} are not there", table="adf_audit")


def _note_batch(row: AuditRow, past: _Past) -> None:
    """Keep which batch a message was split from (`adf-format migrate --split-batches`)."""
    for value in _entries(row, past):
        part = split_part(value) if isinstance(value, dict) else None
        if part is not None and part[2] <= REMEMBERED:
            number, index, count = part
            past.batches.setdefault(number, set(range(count))).discard(index)


def _is_clone(context: Context) -> bool:
    query = "SELECT value FROM adf_meta WHERE key = 'adf_parent_did'"
    try:
        return bool(context.container.connection.execute(query).get)
    except (apsw.SQLError, UnicodeDecodeError):
        return False


def _entries(row: AuditRow, past: _Past) -> Iterator[Any]:
    """Yield what can be decoded; what cannot was reported by the first pass."""
    try:
        for text in islice(reader_of(row), ENTRIES):
            yield decode(text).value
    except (SnapshotError, JsonTextError):
        past.whole = False


def _fingerprint(role: object, content: object) -> int:
    return hash((str(role), json.dumps(content, default=str)))
