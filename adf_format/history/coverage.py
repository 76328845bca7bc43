"""Coverage: where every seq ever given out is, and why it is gone where it is nowhere."""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass, field

import apsw

from adf_format.container import Container
from adf_format.errors import JsonTextError
from adf_format.history import agreement, reasons
from adf_format.history.live import loop_of_each_row
from adf_format.history.model import MAIN, Gap, Summary
from adf_format.history.reading import HIGHEST
from adf_format.history.seqs import SeqSet, depths
from adf_format.history.snapshots import file_of
from adf_format.history.summaries import Match, all_summaries, live_summaries, match
from adf_format.history.survey import Survey, survey
from adf_format.inspection.file import File


@dataclass
class LoopCoverage:
    """One loop.

    :ivar live: seqs in the table; :ivar archived: in a snapshot that can be read
    :ivar repeated: in more than one snapshot, or in one more than once
    :ivar differing: in more than one place, with different content (ROW-013)
    """

    name: str
    live: SeqSet = field(default_factory=SeqSet)
    archived: SeqSet = field(default_factory=SeqSet)
    repeated: SeqSet = field(default_factory=SeqSet)
    differing: SeqSet = field(default_factory=SeqSet)

    @property
    def both(self) -> SeqSet:
        """Seqs that are live and archived."""
        return self.live & self.archived


@dataclass
class Coverage:
    """Where the seqs 1 to `highest` are.

    :ivar highest: highest seq ever given out, as far as counter, rows and snapshots tell
    :ivar counter: the mark of AUTOINCREMENT, None if there is none
    :ivar loops: every loop that has or had rows, `main` first
    :ivar gone: what is nowhere, in order
    :ivar contested: seqs that more than one loop has, though all share one counter (STO-034)
    :ivar deleted: ids of snapshots that were deleted from the append-only table
    :ivar split: ids of batches that a migration split into messages, all of which are there
    :ivar summaries: compaction summaries, live and archived, by seq; :ivar matches: with their snapshots
    """

    highest: int
    counter: int | None
    survey: Survey
    loops: dict[str, LoopCoverage]
    contested: SeqSet = field(default_factory=SeqSet)
    deleted: SeqSet = field(default_factory=SeqSet)
    split: SeqSet = field(default_factory=SeqSet)
    gone: list[Gap] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)

    def where(self, seq: int) -> list[int]:
        """Return the ids of the snapshots that hold a seq."""
        return [number for number, one in self.survey.checked.items() if seq in one.seqs]

    def gap_of(self, seq: int) -> Gap | None:
        """Return the gap that a seq is in."""
        return next((gap for gap in self.gone if gap.start <= seq <= gap.end), None)

    def covered(self) -> SeqSet:
        """Return every seq that is somewhere."""
        return SeqSet(heapq.merge(*(part for one in self.loops.values() for part in (one.live, one.archived))))

    @property
    def complete(self) -> bool:
        """Whether nothing is damaged, contested, or gone without a known reason."""
        unknown = any(not gap.known for gap in self.gone)
        return not (unknown or self.contested or self.deleted or self.survey.damaged())


def coverage(container: Container, *, copies: bool = True) -> Coverage:
    """Find out where every seq is; every snapshot is decoded once, those with copies to compare twice.

    :param copies: whether to compare the content of rows that are in several places
    :raises LimitError: the file has more snapshots, or more scattered rows, than fit into bounded memory
    """
    file = file_of(container)
    found = survey(container)
    loops = _loops(file, found)
    counter = _counter(file)
    tops = [counter or 0, *(part.highest or 0 for one in loops.values() for part in (one.live, one.archived))]
    result = Coverage(max(tops), counter, found, loops)
    _, result.contested = depths((one.live | one.archived) for one in loops.values())
    result.split = SeqSet.of(sorted(number for number, one in found.batches.items() if one.whole))
    result.deleted = _deleted(file, found) - result.split
    result.split = result.split - SeqSet.of(number for number in found.checked if number > 0)
    result.summaries = all_summaries(found, live_summaries(file))
    result.matches = match(found, result.summaries, container.check_deadline)
    if copies:
        agreement.compare(container, file, result)
    result.gone = list(reasons.gaps(file, result, container.check_deadline))
    return result


def _loops(file: File, found: Survey) -> dict[str, LoopCoverage]:
    live = _live(file)
    names = sorted(({MAIN} | live.keys() | found.loops() | _declared(file)) - {MAIN})
    loops = {}
    for name in (MAIN, *names):
        parts = [part for one in found.of_loop(name) for part in (one.seqs, one.twice) if part]
        archived, repeated = depths(parts)
        loops[name] = LoopCoverage(name, live.get(name, SeqSet()), archived, repeated)
    return loops


def _live(file: File) -> dict[str, SeqSet]:
    if not file.has("adf_loop", "seq"):
        return {}
    ends: dict[str, tuple[array[int], array[int]]] = {}
    for seq, loop in loop_of_each_row(file):
        if abs(seq) < HIGHEST:
            _extend(ends.setdefault(loop, (array("q"), array("q"))), seq)
    return {loop: SeqSet(zip(starts, stops, strict=True)) for loop, (starts, stops) in ends.items()}


def _extend(intervals: tuple[array[int], array[int]], seq: int) -> None:
    starts, stops = intervals
    if stops and stops[-1] + 1 == seq:
        stops[-1] = seq
    else:
        starts.append(seq)
        stops.append(seq)


def _declared(file: File) -> set[str]:
    from adf_format.config.loops import declared

    try:
        return {name for _, name, _ in declared(file.config)} if file.has("adf_config", "config_json") else set()
    except (JsonTextError, apsw.Error, UnicodeDecodeError):
        return set()


def _counter(file: File, table: str = "adf_loop") -> int | None:
    if not any(name == "sqlite_sequence" for _, name, *_ in file.structure.objects):
        return None
    query = "SELECT max(seq) FROM sqlite_sequence WHERE name = ? AND typeof(seq) = 'integer' AND abs(seq) < ?"
    found: int | None = file.one(query, (table, HIGHEST))
    return found


def _deleted(file: File, found: Survey) -> SeqSet:
    """Return the ids that were given out and are no more: only cloning empties this table (AUD-005, AUD-040)."""
    if not found.checked and reasons.is_clone(file):
        return SeqSet()
    present = SeqSet.of(number for number in found.checked if number > 0)
    top = max(_counter(file, "adf_audit") or 0, present.highest or 0)
    return SeqSet([(1, top)] if top > 0 else ()) - present
