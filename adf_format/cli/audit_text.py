"""Snapshots and coverage in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from adf_format.audit import ArchivedFile, LoopEntry, ShapeError
from adf_format.cli.history import interval, intervals, line, moment
from adf_format.cli.transcript_text import TranscriptText
from adf_format.history import Checked, Coverage, Gap, Item, LoopCoverage, Place, SnapshotRow
from adf_format.terminal import Screen, visible
from adf_format.validation.formats.base import counted

HEADING = ("id", "source", "holds", "entries", "text", "stored", "made", "era")
SHOWN = 50  # damaged snapshots and gaps that are named
NAME = 60  # characters of a name


def row(one: SnapshotRow) -> tuple[str, ...]:
    """Return the cells of a snapshot in a list."""
    return (
        str(one.id),
        visible(one.source)[:NAME] or "?",
        _holds(one),
        _number(one.entry_count),
        _number(one.size_bytes),
        _number(one.data_bytes),
        moment(one.created_at),
        one.era,
    )


def headline(one: SnapshotRow) -> str:
    """Return a snapshot in one line."""
    size = f"{_number(one.size_bytes)} characters in {_number(one.data_bytes)} bytes"
    entries = "entry" if one.entry_count == 1 else "entries"
    return (
        f"snapshot {one.id}: {visible(one.source)[:NAME]}, {_holds(one)}; {_number(one.entry_count)} {entries},"
        f" {size}; made {moment(one.created_at)}"
    )


def _holds(one: SnapshotRow) -> str:
    if one.ref is not None:
        return visible(one.ref)[:NAME]
    if one.start_seq is not None or one.end_seq is not None:
        return f"S{_number(one.start_seq)} to S{_number(one.end_seq)}".replace(",", "")
    if one.start_at is not None:
        return f"from {moment(one.start_at)}"
    return "no range" if one.loop is not None else "-"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def entry(one: SnapshotRow, index: int, value: Any, text: TranscriptText) -> Iterator[str]:
    """Yield the lines of one decoded entry."""
    if one.loop is not None:
        try:
            place = Place(LoopEntry.parse(value), one.loop, one.id, index, one.created_at)
        except ShapeError as error:
            yield f"entry {index}: {error.message}"
        else:
            yield from text.lines(Item(place))
            return
    if one.kind == "file" and isinstance(value, dict):
        try:
            yield from _file(ArchivedFile.parse(value), text)
        except ShapeError as error:
            yield error.message
        else:
            return
    yield from text.text(line(value))


def _file(file: ArchivedFile, text: TranscriptText) -> Iterator[str]:
    kind = visible(file.mime_type or "no type")[:NAME]
    yield f"{visible(file.path)}: {len(file.content):,} bytes, {kind}"
    try:
        content = file.content.decode()
    except UnicodeDecodeError:
        yield "  (not text)"
        return
    yield from text.text(content)


def verdict(path: str, known: Coverage, screen: Screen) -> Iterator[str]:
    """Yield what was found about all snapshots and seqs."""
    word = screen.paint("complete", "green") if known.complete else screen.paint("NOT COMPLETE", "red", "bold")
    checked = list(known.survey.checked.values())
    damaged = known.survey.damaged()
    sound = "all sound" if not damaged else f"{len(damaged):,} damaged"
    yield f"{visible(path)}: {word}; {counted(len(checked), 'snapshot')}{f', {sound}' if checked else ''}"
    yield from _some([_damage(one, screen) for one in damaged], "damaged snapshots")
    notes = [one for one in checked if one.problems and one.sound]
    yield from _some([f"  note: snapshot {one.row.id}: {visible(one.problems[0].message)}" for one in notes], "notes")
    if known.split:
        ids = intervals(known.split).replace("S", "")
        what = "batch" if known.split.count() == 1 else "batches"
        yield f"  split     {what} {ids}: every message has a snapshot of its own"
    if known.deleted:
        ids = intervals(known.deleted).replace("S", "")
        yield screen.paint(f"  DELETED   {counted(known.deleted.count(), 'snapshot')}: {ids}", "red")
    yield from _coverage(known, screen)


def _damage(one: Checked, screen: Screen) -> str:
    what = "; ".join(problem.message for problem in one.problems if problem.serious)
    label = screen.paint("DAMAGED", "red")
    return f"  {label}   snapshot {one.row.id} ({visible(one.row.source)[:NAME]}): {visible(what)}"


def _coverage(known: Coverage, screen: Screen) -> Iterator[str]:
    if not known.highest:
        yield "no row was ever written"
        return
    live = sum(one.live.count() for one in known.loops.values())
    archived = sum((one.archived - one.live).count() for one in known.loops.values())
    gone = sum(gap.count for gap in known.gone)
    yield f"{interval(1, known.highest)}: {live:,} live, {archived:,} archived, {gone:,} gone"
    for one in known.loops.values():
        yield from _loop(one)
    if known.contested:
        text = f"  CONTESTED {intervals(known.contested)}: more than one loop has these rows"
        yield screen.paint(text, "red")
    yield from _some([_gone(gap, screen) for gap in islice(known.gone, SHOWN)], "gaps", len(known.gone))


def _loop(one: LoopCoverage) -> Iterator[str]:
    parts = [f"{one.live.count():,} live", f"{one.archived.count():,} archived"]
    if one.repeated:
        parts.append(f"{one.repeated.count():,} of them more than once")
    if one.both:
        parts.append(f"{one.both.count():,} live and archived")
    if one.differing:
        parts.append(f"the copies of {intervals(one.differing)} differ")
    elif one.repeated or one.both:
        parts.append("all copies agree")
    yield f"  loop {visible(one.name)[:NAME]}: {', '.join(parts)}"


def _gone(gap: Gap, screen: Screen) -> str:
    label = screen.paint("gone", "yellow" if gap.known else "red")
    return f"  {label}      {interval(gap.start, gap.end)} ({counted(gap.count, 'row')}): {visible(gap.detail)}"


def _some(lines: list[str], what: str, count: int | None = None) -> Iterator[str]:
    yield from lines[:SHOWN]
    rest = (len(lines) if count is None else count) - SHOWN
    if rest > 0:
        yield f"  and {rest:,} more {what} (--format json names them all)"
