"""The genealogy of one row: where it is, which summary stands for it, and who cites it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from adf_format.container import Container
from adf_format.history.citations import Citation, page_citations, summary_citations
from adf_format.history.coverage import Coverage, coverage
from adf_format.history.model import Gap, Summary
from adf_format.history.resolve import Resolution, resolve
from adf_format.history.snapshots import file_of
from adf_format.history.summaries import Match, stands_for

State = Literal["live", "archived", "gone", "never-given"]


@dataclass(frozen=True)
class Step:
    """A row on the way from the cited line to what the agent sees of it today.

    :ivar audit_ids: snapshots that hold the row
    :ivar summary: the summary that most likely stands for it, None if it is live or nothing fits
    :ivar match: the snapshot that the summary was matched by, and how far apart the two were made
    """

    seq: int
    state: State
    audit_ids: tuple[int, ...]
    summary: Summary | None = None
    match: Match | None = None


@dataclass
class Trace:
    """What is known of one seq.

    :ivar gap: the gap that it is in, if it is gone
    :ivar steps: the row itself, the summary that stands for it, the summary that stands for that one, and so on
    """

    resolution: Resolution
    state: State
    gap: Gap | None = None
    steps: list[Step] = field(default_factory=list)
    pages: list[Citation] = field(default_factory=list)
    summaries: list[Citation] = field(default_factory=list)


def trace(container: Container, seq: int, loop: str | None = None) -> Trace:
    """Find out what became of a row.

    That a summary stands for a row is concluded from order and times; no column says so.

    :param loop: only rows of this loop
    """
    known = coverage(container, copies=False)
    resolution = resolve(container, loop, seq)
    steps = _steps(known, seq)
    state = steps[0].state
    if loop is not None and not resolution.found and state in ("live", "archived"):
        state, steps = "gone", []
    return Trace(
        resolution,
        state,
        gap=known.gap_of(seq),
        steps=steps,
        pages=list(page_citations(file_of(container), seq)),
        summaries=list(summary_citations(known.summaries, seq)),
    )


def _steps(known: Coverage, seq: int) -> list[Step]:
    steps: list[Step] = []
    while True:
        step = _step(known, seq)
        steps.append(step)
        if step.summary is None or step.summary.seq <= seq:
            return steps
        seq = step.summary.seq


def _step(known: Coverage, seq: int) -> Step:
    ids = tuple(known.where(seq))
    if any(seq in one.live for one in known.loops.values()):
        return Step(seq, "live", ids)
    state: State = "archived" if ids else "gone" if known.gap_of(seq) else "never-given"
    summary = stands_for(known, seq)
    match = next((one for one in known.matches if summary is not None and one.summary.seq == summary.seq), None)
    return Step(seq, state, ids, summary, match)
