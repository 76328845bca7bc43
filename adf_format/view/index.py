"""The first pass over all rows: counts for the overview, and where what will be linked to stands.

Memory stays flat: seqs are kept as intervals, usage in a bounded number of spans of time, deliveries up to a bound.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import apsw

from adf_format.container import Container
from adf_format.history import Coverage, Item, SeqSet
from adf_format.view.kinds import Said, blocks_of, classify
from adf_format.view.links import short_hash
from adf_format.view.options import Options
from adf_format.view.story import Story

SPANS = 120  # points of the chart
SENDS = 50_000  # deliveries whose two sides are linked
TOOLS = 200  # names of tools that are told apart
NAME = 80
MANY = 100_000  # seqs that are kept as numbers before they become intervals
USAGE = ("input", "output", "cache_read", "cache_write", "reasoning")


@dataclass
class Usage:
    """Tokens by span of time; spans double when there are too many of them.

    :ivar width: ms of a span; :ivar edges: numbers of the first and the last one
    """

    width: int = 1000
    spans: dict[int, list[int]] = field(default_factory=dict)
    edges: tuple[int, int] | None = None
    totals: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    cost: float = 0.0

    def add(self, when: int | None, tokens: dict[str, Any]) -> None:
        """Take the usage record of one call; `cost_usd` is summed as it is."""
        counts = {key: tokens[key] for key in USAGE if type(tokens.get(key)) is int and 0 <= tokens[key] < 2**53}
        cost = tokens.get("cost_usd")
        self.cost += float(cost) if isinstance(cost, (int, float)) and 0 <= cost < 1e9 else 0.0
        self.calls += 1
        self.totals.update(counts)
        if when is None or not 0 <= when < 2**53:
            return
        number = when // self.width
        span = self.spans.setdefault(number, [0, 0, 0])
        for at, value in enumerate((counts.get("input", 0), counts.get("output", 0), 1)):
            span[at] += value
        low, high = self.edges or (number, number)
        self.edges = min(low, number), max(high, number)
        while self.edges[1] - self.edges[0] >= SPANS:
            self._widen()
            self.edges = self.edges[0] // 2, self.edges[1] // 2

    def _widen(self) -> None:
        self.width *= 2
        wider: dict[int, list[int]] = {}
        for span, values in self.spans.items():
            sums = wider.setdefault(span // 2, [0, 0, 0])
            for at, value in enumerate(values):
                sums[at] += value
        self.spans = wider


@dataclass
class LoopIndex:
    """What the first pass found out about one loop.

    :ivar pages: seqs that each page of the loop shows, in order of pages; one page unless a folder is written
    :ivar shown: rows in them; :ivar earlier: rows left out before them; :ivar later: rows left out after them
    :ivar counts: rows by kind, `calls`, `errors`, `thoughts`
    :ivar context: tokens of the last live call, in and out; :ivar trouble: why not all rows could be read
    """

    name: str
    pages: list[SeqSet] = field(default_factory=list)
    shown: int = 0
    earlier: int = 0
    later: int = 0
    rows: int = 0
    first: int | None = None
    last: int | None = None
    counts: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    context: int | None = None
    trouble: str | None = None


@dataclass
class Index:
    """What the first pass found out.

    :ivar sends: seqs of `loop_send` calls by `delivery_key`; :ivar received: seqs of the rows that they caused
    :ivar compactions: times of compaction summaries
    """

    loops: dict[str, LoopIndex] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    tools: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    sends: dict[str, list[int]] = field(default_factory=dict)
    received: dict[str, list[int]] = field(default_factory=dict)
    compactions: list[int] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """Counts of all loops together."""
        total: Counter[str] = Counter()
        for loop in self.loops.values():
            total.update(loop.counts)
        return total

    def times(self) -> tuple[int | None, int | None]:
        """Return the times of the first and the last row."""
        firsts = [one.first for one in self.loops.values() if one.first is not None]
        lasts = [one.last for one in self.loops.values() if one.last is not None]
        return min(firsts, default=None), max(lasts, default=None)


def delivery_key(sender: str, target: str, message: str) -> str:
    """Return what the two sides of a delivery share: who sent what to whom (LOOP-151)."""
    return short_hash(f"{sender}\n{target}\n{message}", 24)


def index(container: Container, known: Coverage, stories: dict[str, Story], options: Options) -> Index:
    """Read every row of the loops that are wanted once."""
    found = Index()
    for name, story in stories.items():
        found.loops[name] = _Pass(found, name, options).run(story)
        container.check_deadline()
    found.compactions = [one.created_at for one in known.summaries if one.created_at is not None][:1000]
    return found


class _Pass:
    def __init__(self, found: Index, name: str, options: Options) -> None:
        self._found = found
        self._loop = LoopIndex(name)
        self._options = options
        self._names: dict[str, str] = {}
        self._seqs: deque[int] = deque(maxlen=options.limit)

    def run(self, story: Story) -> LoopIndex:
        """Read a loop; what is not wanted still counts, and what cannot be read ends it."""
        try:
            for event in story.events():
                if isinstance(event, Item):
                    self._take(event)
                if self._options.limit is None and len(self._seqs) == (self._options.rows_of_page or MANY):
                    self._end_page()
        except apsw.Error as error:
            self._loop.trouble = str(error)
        loop, page = self._loop, self._options.rows_of_page
        if self._options.limit is not None:
            wanted, loop.shown = loop.shown, len(self._seqs)
            loop.earlier += wanted - loop.shown
        seqs = list(self._seqs)
        step = page or max(1, len(seqs))
        loop.pages += [SeqSet.of(sorted(seqs[at : at + step])) for at in range(0, len(seqs), step)]
        if page is None:
            loop.pages = [functools.reduce(operator.or_, loop.pages, SeqSet())]
        return loop

    def _end_page(self) -> None:
        self._loop.pages.append(SeqSet.of(sorted(self._seqs)))
        self._seqs.clear()

    def _take(self, item: Item) -> None:
        loop, entry = self._loop, item.place.entry
        loop.rows += 1
        when = entry.created_at
        if when is not None:
            loop.first = when if loop.first is None else min(loop.first, when)
            loop.last = when if loop.last is None else max(loop.last, when)
        match self._options.side(when):
            case -1:
                loop.earlier += 1
            case 1:
                loop.later += 1
            case _:
                loop.shown += 1
                self._seqs.append(entry.seq)
        said = classify(item)
        loop.counts[said.kind] += 1
        if isinstance(entry.tokens, dict):
            loop.usage.add(when, entry.tokens)
            if said.kind == "agent" and item.place.audit_id is None:
                loop.context = sum(entry.tokens[key] for key in USAGE[:2] if type(entry.tokens.get(key)) is int)
            self._found.usage.add(when, entry.tokens)
        self._blocks(item, said)

    def _blocks(self, item: Item, said: Said) -> None:
        seq = item.place.entry.seq
        for block in blocks_of(item.place.entry.content):
            match block:
                case {"type": "tool_use", "name": str(name)}:
                    self._call(seq, name[:NAME], block)
                case {"type": "tool_result"}:
                    self._result(block)
                case {"type": "thinking"}:
                    self._loop.counts["thoughts"] += 1
                case {"type": "text", "text": str(text)} if said.kind == "delivery" and text.startswith("[from loop:"):
                    key = delivery_key(said.label, self._loop.name, text[said.start :])
                    _remember(self._found.received, key, seq)

    def _call(self, seq: int, name: str, block: dict[str, Any]) -> None:
        self._loop.counts["calls"] += 1
        tools = self._found.tools
        tools[name if name in tools or len(tools) < TOOLS else "(others)"] += 1
        if isinstance(block.get("id"), str) and len(self._names) < SENDS:
            self._names[block["id"]] = name
        sent = delivery_of(block)
        if sent is not None:
            _remember(self._found.sends, delivery_key(self._loop.name, *sent), seq)

    def _result(self, block: dict[str, Any]) -> None:
        key = block.get("tool_use_id")
        name = self._names.pop(key, None) if isinstance(key, str) else None
        if block.get("is_error") is True:
            self._loop.counts["errors"] += 1
            if name is not None:
                self._found.failed[name] += 1


def _remember(where: dict[str, list[int]], key: str, seq: int) -> None:
    if key in where or len(where) < SENDS:
        where.setdefault(key, []).append(seq)


def delivery_of(block: dict[str, Any]) -> tuple[str, str] | None:
    """Return `(target, message)` of a `loop_send` call, None if it is none (LOOP-140)."""
    call = block.get("input")
    if block.get("name") != "loop_send" or not isinstance(call, dict):
        return None
    target = next((call[key] for key in ("to_loop", "loop", "to") if isinstance(call.get(key), str)), None)
    message = next((call[key] for key in ("content", "message") if isinstance(call.get(key), str)), None)
    return None if target is None or message is None else (target, message)


def spans(usage: Usage) -> Iterator[tuple[int, list[int]]]:
    """Yield `(start in epoch ms, [input, output, calls])` of every span from the first to the last, empty ones too."""
    if usage.spans:
        for number in range(min(usage.spans), max(usage.spans) + 1):
            yield number * usage.width, usage.spans.get(number, [0, 0, 0])
