"""Compaction summaries: recognised by their marker, matched with the snapshot made at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adf_format.audit import LoopEntry
from adf_format.history.live import Live
from adf_format.history.model import Summary

if TYPE_CHECKING:
    from adf_format.history.coverage import Coverage
    from adf_format.history.survey import Survey
    from adf_format.inspection.file import File

MARKER = "[Loop Compacted"
AUDITED = "[Loop Compacted, audited]"
KEPT = 4000  # characters of a summary that are kept
APART = 60_000  # ms between a snapshot and its summary: both are written in one go, a summarizer takes longer
CLOCK = 1000  # ms that the clock may have gone back meanwhile


@dataclass(frozen=True)
class Match:
    """A summary and the snapshot that it most likely stands for: no column says so, order and times do.

    :ivar apart_ms: time between the two, None where one of them has no time
    """

    summary: Summary
    audit_id: int
    apart_ms: int | None


def summary_of(entry: LoopEntry, loop: str, audit_id: int | None = None) -> Summary | None:
    """Return what a row is if its first block begins with the marker of a compaction (CMP-027)."""
    text = first_text(entry.content)
    if text is None or not text.startswith(MARKER):
        return None
    audited = text.startswith(AUDITED)
    return Summary(entry.seq, loop, entry.created_at, entry.ord, audited, text[:KEPT], audit_id)


def first_text(content: Any) -> str | None:
    """Return the text of the first block, None if that is no text."""
    block = content[0] if isinstance(content, list) and content else None
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else None


def live_summaries(file: File) -> Iterator[Summary]:
    """Yield the summaries among the live rows."""
    if not file.has("adf_loop", "seq", "content_json"):
        return
    table = Live(file)
    query = "SELECT seq FROM adf_loop WHERE instr(CAST(content_json AS BLOB), CAST(? AS BLOB)) ORDER BY seq"
    for (seq,) in file.connection.execute(query, (MARKER,)):
        place = table.get(seq)
        found = summary_of(place.entry, place.loop) if place is not None else None
        if found is not None:
            yield found


def all_summaries(survey: Survey, live: Iterable[Summary]) -> list[Summary]:
    """Return every summary once, by seq; a live one before its archived copy."""
    found: dict[int, Summary] = {}
    for one in (*live, *survey.summaries):
        found.setdefault(one.seq, one)
    return [found[seq] for seq in sorted(found)]


def match(survey: Survey, summaries: Iterable[Summary], check_deadline: Callable[[], None]) -> list[Match]:
    """Match summaries with snapshots; what nothing fits to stays unmatched."""
    matches = []
    for summary in summaries:
        check_deadline()
        found = _match(survey, summary)
        if found is not None:
            matches.append(found)
    return matches


def _match(survey: Survey, summary: Summary) -> Match | None:
    """Find the last snapshot of the loop, made just before the summary, whose rows are all older than it."""
    best: Match | None = None
    for one in survey.of_loop(summary.loop):
        highest = one.seqs.highest
        if highest is None or highest >= summary.seq:
            continue
        made, written = one.row.created_at, summary.created_at
        apart = None if made is None or written is None else written - made
        if apart is not None and -CLOCK <= apart <= APART:
            best = Match(summary, one.row.id, apart)
    return best


def stands_for(coverage: Coverage, seq: int) -> Summary | None:
    """Return the summary that most likely covers a row: made with the last snapshot that holds it."""
    for found in reversed(coverage.matches):
        if seq in coverage.survey.checked[found.audit_id].seqs:
            return found.summary
    gap = coverage.gap_of(seq)
    if gap is not None and gap.reason == "compacted-unaudited":
        return next((one for one in coverage.summaries if one.seq > seq), None)
    return None
