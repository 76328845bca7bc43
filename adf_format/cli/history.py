"""What the commands on the past of an agent share: opening, arguments, and the shape of their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import apsw

from adf_format.audit import javascript_json
from adf_format.cli.options import Output
from adf_format.container import Container, Limits, open_readonly, translate
from adf_format.errors import JsonTextError, LimitError, UnreadableError, UsageError
from adf_format.history import Gap, Item, Place, SeqSet, SnapshotRow, Summary
from adf_format.history.snapshots import file_of
from adf_format.schemas import LATEST
from adf_format.terminal import harmless_json

SECONDS = 900.0
RANGES = 1000  # intervals of one set that are written out
_SEQ = re.compile(r"\[?S?([0-9]{1,19})\]?|adf-audit://seq/([0-9]{1,19})")


@contextmanager
def reading(path: str, out: Output, seconds: float | None = SECONDS) -> Iterator[Container]:
    """Open a file; a note tells if its version is newer than known, or if it changed meanwhile.

    :raises UnreadableError: it cannot be opened or read
    """
    with open_readonly(path, Limits(deadline_s=seconds)) as container:
        try:
            version = file_of(container).version
            if version is not None and version > LATEST:
                out.note(f"WARNING: storage version {version} is newer than {LATEST}, the newest known here")
            yield container
        except apsw.Error as error:
            raise translate(error, container.source.path) from error
        except UnicodeDecodeError:
            raise UnreadableError("a text is not UTF-8", container.source.path) from None
        if container.source.mode == "immutable" and container.changed():
            out.note("WARNING: the file was changed while it was read: run the command again")


def seq_of(text: str) -> int:
    """Return the number that `137`, `S137`, `[S137]` or `adf-audit://seq/137` names.

    :raises UsageError: it is none of these
    """
    found = _SEQ.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} names no row", hint="give a seq, as 137, S137 or [S137]")
    return int(found[1] or found[2])


def moment(milliseconds: int | None) -> str:
    """Return epoch milliseconds as a time."""
    if milliseconds is None:
        return "no time"
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"


def interval(start: int, end: int) -> str:
    """Return an interval in words: `S3 to S7`."""
    return f"S{start}" if start == end else f"S{start} to S{end}"


def intervals(seqs: SeqSet, limit: int = 6) -> str:
    """Return a set in words, at most a few intervals of it."""
    text = ", ".join(interval(*one) for one in islice(seqs, limit))
    return f"{text}, and {len(seqs) - limit:,} more" if len(seqs) > limit else text


def document(out: Output, value: Mapping[str, Any]) -> None:
    """Write a JSON document that holds content of a file: of any depth, with numbers of any size.

    :raises LimitError: nested too deeply
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2, default=_text)
    except RecursionError:
        text = line(value)
    out.line(harmless_json(text))


def line(value: Any) -> str:
    """Return a value as one line of JSON.

    :raises LimitError: nested too deeply
    """
    try:
        return harmless_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, RecursionError):
        pass  # numbers of any size, any depth
    try:
        return harmless_json(javascript_json(value, exact=True))
    except JsonTextError as error:
        raise LimitError(error.message) from None


def stream(out: Output, head: Mapping[str, Any], key: str, items: Iterable[Any]) -> None:
    """Write a JSON document whose last member is an array that may be longer than memory."""
    start = harmless_json(json.dumps(head, ensure_ascii=False, indent=2))
    out.write(f"{start[:-2]},\n  {json.dumps(key)}: [")
    separator = "\n"
    for item in items:
        out.write(f"{separator}    {line(item)}")
        separator = ",\n"
    out.line("\n  ]\n}" if separator == ",\n" else "]\n}")


def _text(value: Any) -> str:
    return str(value)


def seqs_json(seqs: SeqSet) -> dict[str, Any]:
    """Return a set: how many, and its intervals as far as they fit into a report."""
    shown = [list(one) for one in islice(seqs, RANGES)]
    return {"count": seqs.count(), "ranges": shown, "ranges_left_out": len(seqs) - len(shown)}


def row_json(row: SnapshotRow) -> dict[str, Any]:
    """Return a row of `adf_audit` without its blob."""
    names = ("source", "kind", "loop", "start_seq", "end_seq", "ref", "start_at", "end_at", "entry_count")
    facts = {"id": row.id} | {name: getattr(row, name) for name in names}
    return facts | {name: getattr(row, name) for name in ("size_bytes", "data_bytes", "created_at", "era")}


def place_json(place: Place) -> dict[str, Any]:
    """Return a row of a transcript and where it is."""
    entry = place.entry
    return {
        "seq": entry.seq,
        "loop": place.loop,
        "role": entry.role,
        "content": entry.content,
        "model": entry.model,
        "tokens": entry.tokens,
        "created_at": entry.created_at,
        "ord": entry.ord,
        "audit_id": place.audit_id,
        "index": place.index,
        "archived_at": place.archived_at,
        "problem": place.problem,
    }


def gap_json(gap: Gap) -> dict[str, Any]:
    """Return a gap."""
    return {
        "start": gap.start,
        "end": gap.end,
        "loop": gap.loop,
        "reason": gap.reason,
        "known": gap.known,
        "detail": gap.detail,
        "audit_ids": list(gap.audit_ids),
    }


def item_json(item: Item | Gap) -> dict[str, Any]:
    """Return an item of a transcript: `kind` is `row`, `summary` or `gap`."""
    if isinstance(item, Gap):
        return {"kind": "gap", **gap_json(item)}
    kind = "summary" if item.summary is not None else "row"
    made = {"kind": kind, **place_json(item.place)}
    if item.summary is not None:
        made["stands_for_audit_id"] = item.match.audit_id if item.match else None
    if item.copies:
        made["copies"] = [place_json(one) for one in item.copies]
    return made


def summary_json(summary: Summary) -> dict[str, Any]:
    """Return a compaction summary without its text."""
    return {
        "seq": summary.seq,
        "loop": summary.loop,
        "created_at": summary.created_at,
        "ord": summary.ord,
        "audited": summary.audited,
        "audit_id": summary.audit_id,
    }
