"""Coverage, finding and merging against a model that simply holds everything.

Archives are random: overlapping, with gaps, out of order, without ranges or with wrong ones, damaged, of two loops.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_format.container import open_readonly
from adf_format.history import Gap, coverage, resolve, trace, transcript
from tests.history.past_support import Snap, agent, row

LOOPS = ("main", "side")
HIGH = 24
Case = tuple[int, dict[int, str], set[int], list[Snap], int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A version, the loop of every seq, the live ones, snapshots, and the counter."""
    version = draw(st.sampled_from((21, 27, 28, 29, 32)))
    loops = LOOPS if version >= 29 else LOOPS[:1]
    owner = {seq: draw(st.sampled_from(loops)) for seq in range(1, HIGH + 1)}
    live = draw(st.sets(st.integers(1, HIGH)))
    snaps = []
    for _ in range(draw(st.integers(0, 5))):
        loop = draw(st.sampled_from(loops))
        own = [seq for seq, name in owner.items() if name == loop]
        chosen = draw(st.lists(st.sampled_from(own), unique=True, max_size=12)) if own else []
        if not chosen:
            continue
        if draw(st.booleans()):
            chosen.sort()
        text = draw(st.sampled_from(("original", "original", "rewritten")))
        claim = draw(st.sampled_from(("exact", "exact", "none", "inverted", "half")))
        damage = draw(st.sampled_from(("", "", "", "garbage", "empty", "not-json", "object", "no-blob")))
        source = "loop" if loop == "main" and draw(st.booleans()) else None
        snaps.append(Snap(loop, [(seq, f"{text} {seq}") for seq in chosen], claim, damage, source=source))
    return version, owner, live, snaps, draw(st.integers(0, HIGH + 5))


class Model:
    """What a file holds, seq by seq."""

    def __init__(self, case: Case) -> None:
        self.version, self.owner, live, self.snaps, counter = case
        sound = [(number, snap) for number, snap in enumerate(self.snaps, 1) if not snap.damage]
        self.live = {seq: f"original {seq}" for seq in live}
        self.archived: dict[int, list[tuple[int, str]]] = {}
        for number, snap in sound:
            for seq, text in snap.rows:
                self.archived.setdefault(seq, []).append((number, text))
        self.damaged = {number: snap for number, snap in enumerate(self.snaps, 1) if snap.damage}
        self.counter = max([counter, *live])
        self.highest = max([self.counter, *self.archived])
        self.gone = {seq for seq in range(1, self.highest + 1) if seq not in self.live and seq not in self.archived}

    def versions(self, seq: int) -> set[str]:
        """What the copies of a row say."""
        return {text for _, text in self.archived.get(seq, [])} | {self.live[seq] for seq in [seq] if seq in self.live}

    def write(self, path: Path) -> Path:
        rows = [self._row(seq) for seq in self.live]
        return agent(path, rows, self.snaps, version=self.version, counter=self.counter)

    def _row(self, seq: int) -> dict[str, Any]:
        loop = {"loop": self.owner[seq]} if self.version >= 29 else {}
        return row(seq, self.live[seq]) | loop

    def may_be_in(self, seq: int, loop: str | None) -> set[int]:
        """Damaged snapshots that a search has to name."""
        return {
            number
            for number, snap in self.damaged.items()
            if loop in (None, snap.loop) and (self.version < 28 or snap.claim != "exact" or _within(seq, snap))
        }


def _within(seq: int, snap: Snap) -> bool:
    seqs = [one for one, _ in snap.rows]
    return min(seqs) <= seq <= max(seqs)


@pytest.fixture(scope="module")
def folder() -> Any:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def opened(folder: Path, model: Model) -> Any:
    path = folder / "agent.adf"
    path.unlink(missing_ok=True)
    return open_readonly(model.write(path))


@settings(max_examples=150, deadline=None)
@given(cases())
def test_coverage_is_that_of_the_model(folder: Path, case: Case) -> None:
    model = Model(case)
    with opened(folder, model) as container:
        found = coverage(container)
    assert (found.highest, found.counter) == (model.highest, model.counter)
    assert {seq for gap in found.gone for seq in range(gap.start, gap.end + 1)} == model.gone
    assert sum(gap.count for gap in found.gone) == len(model.gone)
    for name, one in found.loops.items():
        own = {seq for seq, loop in model.owner.items() if loop == name}
        assert set(one.live.numbers()) == model.live.keys() & own
        assert set(one.archived.numbers()) == model.archived.keys() & own
        assert set(one.repeated.numbers()) == {seq for seq in own if len(model.archived.get(seq, [])) > 1}
        assert set(one.both.numbers()) == model.live.keys() & model.archived.keys() & own
        assert set(one.differing.numbers()) == {seq for seq in own if len(model.versions(seq)) > 1}
    assert {one.row.id for one in found.survey.damaged()} == set(model.damaged)
    for seq, copies in model.archived.items():
        assert found.where(seq) == [number for number, _ in copies]
    assert not found.contested


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from((None, *LOOPS)))
def test_every_row_is_found_wherever_it_is_and_nothing_else(folder: Path, case: Case, loop: str | None) -> None:
    """Live first, then all snapshots; damaged ones that may hold it are named."""
    model = Model(case)
    with opened(folder, model) as container:
        for seq in range(HIGH + 3):
            found = resolve(container, loop, seq)
            here = loop in (None, model.owner.get(seq))
            live = [None] if here and seq in model.live else []
            wanted = live + ([number for number, _ in model.archived.get(seq, [])] if here else [])
            assert [place.audit_id for place in found.places] == wanted
            assert found.found == bool(wanted)
            assert found.agree == (not here or len(model.versions(seq)) < 2)
            texts = {place.entry.content[0]["text"] for place in found.places}
            assert texts == (model.versions(seq) if here else set())
            named = {row.id for row, _ in found.damaged}
            assert named >= model.may_be_in(seq, loop)
            assert named <= set(model.damaged)
            if not wanted:
                assert named == {number for number, snap in model.damaged.items() if loop in (None, snap.loop)}


@settings(max_examples=100, deadline=None)
@given(cases(), st.none() | st.integers(0, HIGH))
def test_the_whole_life_has_every_row_once_in_order_and_every_version(
    folder: Path, case: Case, last: int | None
) -> None:
    model = Model(case)
    with opened(folder, model) as container:
        for loop in LOOPS:
            items = list(transcript(container, loop, history=True, last=last))
            rows = [item for item in items if not isinstance(item, Gap)]
            own = sorted(seq for seq in model.live.keys() | model.archived.keys() if model.owner[seq] == loop)
            wanted = own if last is None else own[max(0, len(own) - last) :]
            assert [item.place.entry.seq for item in rows] == wanted
            for item in rows:
                seq = item.place.entry.seq
                if seq in model.live:
                    assert item.place.audit_id is None
                shown = {one.entry.content[0]["text"] for one in (item.place, *item.copies)}
                assert shown == model.versions(seq)
            starts = [item.start if isinstance(item, Gap) else item.place.entry.seq for item in items]
            assert starts == sorted(starts)
            if last is None and loop == "main" and model.version < 29:
                gone = [seq for one in items if isinstance(one, Gap) for seq in range(one.start, one.end + 1)]
                assert set(gone) == model.gone


@settings(max_examples=40, deadline=None)
@given(cases())
def test_a_trace_tells_the_state_of_every_row(folder: Path, case: Case) -> None:
    model = Model(case)
    with opened(folder, model) as container:
        for seq in range(0, HIGH + 8, 3):
            state = "live" if seq in model.live else "archived" if seq in model.archived else "gone"
            if seq > model.highest or seq < 1:
                state = "never-given"
            found = trace(container, seq)
            assert found.state == state
            assert (found.gap is not None) == (state == "gone")
            assert found.resolution.found == (state in ("live", "archived"))
