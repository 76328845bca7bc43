"""Why a seq is gone: from the configuration, from markers in the transcript, and from what happened to snapshots."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from adf_format.config.policy import audit_policy
from adf_format.errors import AdfError, LimitError
from adf_format.history.model import MAIN, Checked, Gap, Reason
from adf_format.history.seqs import Interval, SeqSet
from adf_format.inspection.file import File

if TYPE_CHECKING:
    from adf_format.history.coverage import Coverage

GAPS = 1_000_000
HOLDERS = 20  # damaged snapshots that are named for one gap


def gaps(file: File, coverage: Coverage, check_deadline: Callable[[], None]) -> Iterator[Gap]:
    """Yield what is gone, in order, with the reason as far as it is known.

    :raises LimitError: more gaps than fit into bounded memory
    """
    gone = SeqSet([(1, coverage.highest)] if coverage.highest >= 1 else ()) - coverage.covered()
    if len(gone) > GAPS:
        raise LimitError(f"more than {GAPS:,} gaps in the seqs")
    damaged = [one for one in coverage.survey.damaged() if one.row.loop is not None]
    ranged = [one for one in damaged if one.row.range is not None]
    ranges = SeqSet(sorted(one.row.range for one in ranged if one.row.range is not None))
    why = _Why(file, coverage, [one for one in damaged if one.row.range is None])
    loop = MAIN if set(coverage.loops) == {MAIN} else None
    holders = _Holders(ranged)
    for start, end in heapq.merge(gone & ranges, gone - ranges):
        check_deadline()
        yield why.gap(start, end, loop, holders.of(start, end))


class _Holders:
    """Damaged snapshots by the range that they claim, asked for one gap after the other."""

    def __init__(self, ranged: list[Checked]) -> None:
        self._waiting = sorted((one.row.range, one.row.id) for one in ranged if one.row.range is not None)
        self._waiting.reverse()
        self._active: list[tuple[int, int]] = []  # (end, id)

    def of(self, start: int, end: int) -> tuple[int, ...]:
        """Return the ids of those whose range meets an interval; a few are enough."""
        while self._waiting and self._waiting[-1][0][0] <= end:
            (_, last), number = self._waiting.pop()
            heapq.heappush(self._active, (last, number))
        while self._active and self._active[0][0] < start:
            heapq.heappop(self._active)
        return tuple(sorted(number for _, number in self._active[:HOLDERS]))


class _Why:
    """The reasons of one file."""

    def __init__(self, file: File, coverage: Coverage, unranged: list[Checked]) -> None:
        self._coverage = coverage
        self._unranged = unranged
        self._audit_off = _audit_off(file)
        self._seqs = [one.seq for one in coverage.summaries]
        self._cloned = not coverage.survey.checked and is_clone(file)

    def gap(self, start: int, end: int, loop: str | None, ids: tuple[int, ...]) -> Gap:
        """Return a gap with the first reason that applies."""
        if ids:
            return Gap(start, end, "damaged-snapshot", f"in the range of {_ids(ids)}: damaged", loop, ids)
        at = bisect_right(self._seqs, end)
        summary = self._coverage.summaries[at] if at < len(self._seqs) else None
        if summary is not None and not summary.audited and self._follows(end, summary.seq):
            detail = f"compacted without being archived, as S{summary.seq} says"
            return Gap(start, end, "compacted-unaudited", detail, summary.loop)
        reason, detail, ids = self._general
        return Gap(start, end, reason, detail, loop, ids)

    def _follows(self, end: int, seq: int) -> bool:
        """Whether nothing archived lies between: that would have been archived by a later step."""
        return not any(one.archived.within(end + 1, seq - 1) for one in self._coverage.loops.values())

    @cached_property
    def _general(self) -> tuple[Reason, str, tuple[int, ...]]:
        if self._unranged:
            ids = tuple(one.row.id for one in self._unranged)
            return "damaged-snapshot", f"may be in {_ids(ids)}: damaged, and without a range", ids
        if self._coverage.deleted:
            return "snapshot-deleted", f"may have been in {_intervals(self._coverage.deleted)}, deleted since", ()
        if self._cloned:
            return "cloned", "the file is a clone, and clones may start without snapshots", ()
        if self._audit_off:
            return "audit-off", "deleted without being archived: the configuration does not archive transcripts", ()
        return "unknown", "deleted without being archived, though the configuration archives transcripts", ()


def _audit_off(file: File) -> bool:
    """Whether transcripts are not archived now; False too where the configuration cannot be read."""
    try:
        return not audit_policy(file.config)["loop"]
    except (AdfError, apsw.Error, UnicodeDecodeError):
        return False


def is_clone(file: File) -> bool:
    """Whether the file says that it was cloned from another agent."""
    try:
        return bool(file.meta_text("adf_parent_did"))
    except (AdfError, apsw.Error, UnicodeDecodeError):
        return False


def _ids(ids: tuple[int, ...]) -> str:
    return _intervals(SeqSet.of(sorted(ids)))


def _intervals(ids: SeqSet, limit: int = 5) -> str:
    shown = [_interval(one) for one in list(ids)[:limit]]
    more = ", …" if len(ids) > limit else ""
    return f"snapshot{'' if ids.count() == 1 else 's'} {', '.join(shown)}{more}"


def _interval(interval: Interval) -> str:
    start, end = interval
    return str(start) if start == end else f"{start} to {end}"
