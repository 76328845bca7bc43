"""Compaction and clearing: storage.md sections 5 and 6, BUG of section 9, and the files that the original wrote."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.errors import UnreadableError
from adf_format.models import Usage
from adf_format.runtime.core import compaction
from adf_format.runtime.core.content import cut, ending
from adf_format.runtime.core.session import Entry
from adf_format.runtime.core.turn import Measured, Turn

from .world import World, config_with, played

ON = ["loop_compact", "loop_clear"]
AGENT = config_with({"name": "a", "tools": []}, {"name": "b", "tools": []}, on=ON)
SMALL = config_with({"name": "a", "compact_threshold": 500, "tools": []}, on=ON, context={"compact_threshold": 1000})
SIZE = 900  # tokens that leave the request's own estimate as the smaller one


async def exchange(world: World, text: str = "Hello.", answer: str = "Fine.", usage: Any = None) -> None:
    """The owner says something and gets an answer."""
    await world.chat(text)
    await world.answer("main", answer, usage=usage)
    await world.quiet()


async def compact(world: World, loop: str = "main", summary: str = "SUMMARY", **given_: Any) -> None:
    """The open turn of a loop asks for a compaction, and gets it."""
    await world.answer(loop, "", calls=[("loop_compact", given_)])
    await world.answer(loop, summary, purpose="compaction")
    await world.asked(loop)


def stored(world: World, loop: str = "main") -> list[tuple[Any, ...]]:
    """All columns of a stream, in display order."""
    sql = "SELECT * FROM adf_loop WHERE loop = ? ORDER BY COALESCE(ord, seq), seq"
    return list(world.agent.store.connection.execute(sql, (loop,)))


def baseline(world: World, key: str = "context_baseline_tokens") -> dict[str, Any] | None:
    """The recorded size of a context."""
    text = world.agent.store.meta.get(key)
    return None if text is None else json.loads(text)


@played(AGENT)
async def test_CMP_020_CMP_025_CMP_026_a_compaction_that_was_asked_for(world: World) -> None:
    """Everything but the call and its result is archived; the summary stands before them with ord = least key - 1."""
    await exchange(world)
    await world.chat("Again.")
    before = {row[0]: row for row in stored(world)}
    await compact(world)
    rows = stored(world)
    summary, call, result = rows[:3]
    assert summary[6] == call[0] - 1
    assert summary[1] == "user"
    assert call[1] == "assistant"
    assert result[1] == "user"
    ((source, start, end, count, entries),) = world.audits()
    assert (source, start, end, count) == ("loop:main", min(before), max(before), len(before))
    assert {entry["seq"] for entry in entries} == set(before)
    assert world.texts()[0].startswith("[Loop Compacted, audited] SUMMARY\n\n---\n")
    again = await world.asked()
    assert again.text().count("SUMMARY") == 1
    assert "Hello." not in again.text()
    await world.answer()


@played(AGENT)
async def test_CMP_025_a_second_compaction_replaces_the_first_summary(world: World) -> None:
    """The range of its snapshot is least to greatest seq, not first to last (BUG-05)."""
    await world.chat()
    await compact(world, summary="ONE")
    await compact(world, summary="TWO")
    audits = world.audits()
    assert all(start <= end for _, start, end, _, _ in audits)
    seqs = [entry["seq"] for entry in audits[1][4]]
    assert seqs[0] == max(seqs[:3])
    assert [text for text in world.texts() if "Compacted" in text] == [world.texts()[0]]
    assert "TWO" in world.texts()[0]
    await world.answer()


@played(config_with(on=ON, audit={"loop": False}, context={"audit": {"loop": False}}))
async def test_CMP_027_CMP_028_the_marker_says_what_happened(world: World) -> None:
    """Without an archive the text says so, and no snapshot is written."""
    await world.chat()
    await compact(world)
    assert world.texts()[0].startswith("[Loop Compacted] SUMMARY")
    assert world.audits() == []
    await world.answer()


@played(AGENT)
async def test_CMP_029_the_summary_carries_the_summarizers_usage(world: World) -> None:
    """Model and tokens of that call; it is not taken for the size of the context (BUG-04)."""
    await world.chat()
    await world.answer("main", "", calls=[("loop_compact", {})], usage=(90_000, 9_000))
    await world.answer("main", "S", purpose="compaction", usage=(70, 7))
    await world.asked()
    assert stored(world)[0][3:5] == ("m", '{"input":70,"output":7}')
    record = baseline(world)
    assert record is not None
    assert record["estimated"] is True
    assert record["tokens"] < 1000
    await world.answer("main", "ok", usage=(50, 5))
    await world.quiet()
    record = baseline(world)
    assert record is not None
    assert (record["tokens"], record["estimated"]) == (55, False)
    assert sum(call.purpose == "compaction" for call in world.model.log) == 1


@played(AGENT)
async def test_instructions_reach_the_summarizer(world: World) -> None:
    """With the transcript and the number of rows, no tools, and a prompt of ours (CMP-010, CMP-011)."""
    await exchange(world, "What I said.")
    await world.chat("More.")
    rows = len(stored(world)) + 2
    await world.answer("main", "", calls=[("loop_compact", {"instructions": "KEEP THE LIST"})])
    asked = await world.answer("main", "S", purpose="compaction")
    text = asked.text()
    assert "KEEP THE LIST" in text
    assert "[USER S1] What I said." in text
    assert "[ASSISTANT S3] Fine." in text
    assert f"{rows} entries" in text
    assert "1,500 words" in text
    assert "[Context:" not in text
    assert asked.tools == []
    assert asked.model.temperature == 0.3
    await world.answer()


@played(SMALL)
async def test_CMP_004_CMP_005_the_threshold_warns_first_and_compacts_then(world: World) -> None:
    """At the first crossing one notice and one more step; at the next one summary call, before the model's."""
    await exchange(world, usage=(SIZE, 100))
    await world.chat("second")
    assert any("will be condensed" in text for text in world.texts())
    await world.answer("main", "", calls=[("loop_list", {})], usage=(SIZE, 150))
    await world.answer("main", "AUTO", purpose="compaction")
    asked = await world.asked()
    assert asked.text().count("AUTO") == 1
    await world.answer()
    await world.quiet()
    await exchange(world, "third", usage=(100, 5))
    assert sum("will be condensed" in text for text in world.texts()) == 0
    assert sum(call.purpose == "compaction" for call in world.model.log) == 1


@played(SMALL)
async def test_a_message_that_nobody_has_read_is_not_summarized(world: World) -> None:
    """The row that starts a turn survives the compaction at its beginning, and is read after it."""
    await exchange(world, usage=(SIZE, 100))
    await exchange(world, "noticed", usage=(SIZE, 100))
    world.agent.chat("the unread question")
    await world.answer("main", "AUTO", purpose="compaction")
    asked = await world.asked()
    assert asked.text().count("the unread question") == 1
    assert world.texts()[:2] == [world.texts()[0], "the unread question"]
    await world.answer()


@played(SMALL)
async def test_CMP_006_the_emergency_bound_does_not_wait(world: World) -> None:
    """From a third above the threshold on no step is granted; what has come since the last call counts (BUG-20)."""
    await exchange(world)
    world.agent.chat("x" * 8_000)
    await world.answer("main", "PRE", purpose="compaction")
    asked = await world.asked()
    assert "PRE" in asked.text()
    assert asked.text().count("x" * 8_000) == 1
    await world.answer()
    await world.quiet()
    assert sum(call.purpose == "compaction" for call in world.model.log) == 1


@pytest.mark.parametrize(
    ("size", "projected", "nudged", "failures", "expected"),
    [
        (99, 99, False, 0, "Ask(nudge=False)"),
        (100, 0, False, 0, "Ask(nudge=True)"),
        (100, 0, True, 0, "Compact(trigger='auto')"),
        (99, 129, True, 0, "Ask(nudge=False)"),
        (0, 130, False, 0, "Compact(trigger='preflight')"),
        (129, 129, False, 0, "Ask(nudge=True)"),
        (100, 0, True, 1, "Ask(nudge=False)"),
        (0, 130, True, 1, "Compact(trigger='preflight')"),
        (0, 130, True, 2, "Ask(nudge=False)"),
    ],
)
def test_CMP_001_CMP_006_when_a_compaction_is_due(
    size: int, projected: int, nudged: bool, failures: int, expected: str
) -> None:
    """The comparison is `>=`; during grace the bound is min(t + 30000, 1.3 t); failures give up until the next turn."""
    _, command = Turn(failures=failures).step(Measured(size, projected, 100, nudged=nudged))
    assert repr(command) == expected


@pytest.mark.parametrize("how", ["error", "empty"])
def test_CMP_040_CMP_041_LOOP_258_a_failure_keeps_the_history(tmp_path: Path, how: str) -> None:
    """Provider error or empty text: nothing is removed, it is logged, noted once, and the turn goes on (BUG-02)."""

    @played(AGENT)
    async def scene(world: World) -> None:
        await world.chat()
        for _ in range(2):
            await world.answer("main", "", calls=[("loop_compact", {})])
            before = stored(world)
            if how == "error":
                await world.fail("main", purpose="compaction")
            else:
                await world.answer("main", "", purpose="compaction")
            asked = await world.asked()
            assert stored(world)[: len(before)] == before
            assert "Hello." in asked.text()
        assert world.audits() == []
        failed = world.logs("compaction_failed")
        assert [row[:2] for row in failed] == [("error", "runtime")] * 2
        assert sum(text.startswith("[Context: System] Compaction failed") for text in world.texts()) == 1
        await world.answer()

    scene(tmp_path)


@played(AGENT)
async def test_CMP_052_LOOP_253_what_comes_while_the_summary_is_made_stays(world: World) -> None:
    """Chat, deliveries and injections, in that order behind the summary; another loop compacts at the same time."""
    world.agent.send("main", "a", "go", wake=True)
    await world.chat()
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.answer("a", "", calls=[("loop_compact", {})])
    await world.asked("main", "compaction")
    await world.asked("a", "compaction")
    world.agent.chat("said meanwhile")
    world.agent.send("a", "main", "sent meanwhile")
    assert world.agent.inject("main", "injected meanwhile") is None
    await world.answer("a", "SUM A", purpose="compaction")
    await world.answer("main", "SUM MAIN", purpose="compaction")
    asked = await world.asked()
    assert [asked.text().count(word) for word in ("sent meanwhile", "injected meanwhile")] == [1, 1]
    assert "said meanwhile" not in asked.text()
    texts = world.texts()
    assert texts[0].startswith("[Loop Compacted, audited] SUM MAIN")
    for word in ("said meanwhile", "[from loop:a] sent meanwhile"):
        assert word in texts
    await world.answer()
    assert (await world.asked()).text().count("said meanwhile") == 1
    await world.answer()
    assert "SUM A" in (await world.answer("a")).text()


@played(AGENT)
async def test_LOOP_254_CMP_023_CMP_050_of_two_compactions_one_counts(world: World) -> None:
    """The loser is discarded and logged, and the file holds one summary (BUG-03, regression 46)."""
    from adf_format.runtime.compacting import compact as run

    await exchange(world)
    loop = world.agent.pool.loop("main")
    real = world.model.complete
    gates: list[asyncio.Future[str]] = []

    async def summarizer(**request: Any) -> Any:
        from adf_format.models import Completion

        gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        gates.append(gate)
        return Completion([{"type": "text", "text": await gate}], "end_turn", Usage(1, 1))

    world.model.complete = summarizer  # type: ignore[assignment,method-assign]
    both = [asyncio.ensure_future(run(world.agent, loop.context, loop.asking, "voluntary")) for _ in range(2)]
    await world.turn_of_events()
    gates[1].set_result("WINNER")
    await asyncio.wait([both[1]])
    gates[0].set_result("LOSER")
    assert await asyncio.gather(*both) == [True, True]
    world.model.complete = real  # type: ignore[method-assign]
    texts = [text for text in world.texts() if "Compacted" in text]
    assert len(texts) == 1
    assert "WINNER" in texts[0]
    assert [row[:2] for row in world.logs("compaction_superseded")] == [("warn", "runtime")]
    assert len(world.audits()) == 1
    assert "WINNER" in (await world.chat()).text()
    await world.answer()


@played(AGENT)
async def test_LOOP_255_CMP_051_a_clear_during_a_compaction_wins(world: World) -> None:
    """The summary of what is gone is discarded; nothing that was promised to stay is lost (BUG-07, regression 47)."""
    await exchange(world)
    await world.chat("Again.")
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.asked("main", "compaction")
    assert await world.agent.clear("main", None, 2) == (2, True)
    left = stored(world)
    await world.answer("main", "LOST", purpose="compaction")
    asked = await world.asked()
    assert stored(world)[: len(left)] == left
    assert "LOST" not in asked.text()
    assert len(world.logs("compaction_superseded")) == 1
    await world.answer()


@played(AGENT)
async def test_LOOP_252_other_streams_stay_as_they_are(world: World) -> None:
    """Clear, slice and compaction of one leave every byte of the others."""
    for name in ("a", "b"):
        world.agent.send("main", name, "go", wake=True)
        await world.answer(name)
    await world.quiet()
    before = stored(world, "a"), stored(world, "b")
    await world.chat()
    await compact(world)
    await world.answer()
    await world.quiet()
    await world.agent.clear("main", 0, 1)
    assert (stored(world, "a"), stored(world, "b")) == before
    await world.agent.clear("a")
    assert (stored(world, "a"), stored(world, "b")) == ([], before[1])


@played(SMALL)
async def test_LOOP_219_each_loop_compacts_at_its_own_threshold(world: World) -> None:
    """A loop without `loop_compact` as well; the agent's own threshold is another."""
    await world.agent.edit_config(lambda config: config | {"tools": []})
    for size in (450, 600, 600):
        world.agent.send("main", "a", "go", wake=True)
        await world.answer("a", "ok", usage=(size, 0))
        await world.quiet()
    world.agent.send("main", "a", "go", wake=True)
    await world.answer("a", "SUM", purpose="compaction")
    await world.answer("a")
    await world.quiet()
    assert world.texts("a")[0].startswith("[Loop Compacted, audited] SUM")


@played(AGENT)
async def test_CMP_054_MEM_153_the_mind_is_read_again_after_a_compaction(world: World) -> None:
    """A change of mind.md during the session shows in the prompt only after it, and the prompt is recorded anew."""
    write = "UPDATE adf_files SET content = ?, size = ? WHERE path = 'mind.md'"
    asked = await world.chat()
    assert "# Mind" in asked.system
    world.agent.store.connection.execute(write, (b"A NEW MIND", 10))
    await world.answer("main", "", calls=[("loop_list", {})])
    assert "A NEW MIND" not in (await world.asked()).system
    await compact(world)
    assert "A NEW MIND" in (await world.asked()).system
    recorded = [row for row in stored(world) if "[Context: system_prompt]" in row[2]]
    assert len(recorded) == 1
    assert "A NEW MIND" in recorded[0][2]
    world.agent.store.connection.execute(write, (b"NEWER", 5))
    await world.answer()
    await world.quiet()
    await world.agent.clear("main")
    assert "NEWER" in (await world.chat()).system
    await world.answer()
    assert world.agent.store.files.read("mind.md") == b"NEWER"


@played(AGENT)
async def test_ROW_020_ROW_021_prompts_are_recorded_when_they_change(world: World) -> None:
    """Once per change, not once per call; and never sent again as messages (BUG-15)."""
    await exchange(world)
    await world.chat()
    await world.answer("main", "", calls=[("loop_list", {})])
    asked = await world.asked()
    assert not any("[Context:" in str(message) for message in asked.messages)
    await world.answer()
    await world.quiet()
    kinds = [row[2] for row in stored(world) if "[Context: " in row[2]]
    assert len(kinds) == 1
    await world.agent.edit_config(lambda config: config | {"instructions": "Other."})
    await exchange(world)
    await world.restart()
    await exchange(world)
    assert sum("[Context: system_prompt]" in row[2] for row in stored(world)) == 3


@played(AGENT)
async def test_ROW_010_BUG_19_markers_stand_in_requests_only(world: World) -> None:
    """On a user's text, not on the model's own, and never in a row."""
    await exchange(world, "Hello.", "Fine.")
    asked = await world.chat("Again.")
    texts = [message["content"][0]["text"] for message in asked.messages]
    assert texts[0] == "[2026-01-01 00:00:00 UTC] [S1] Hello."
    assert texts[1] == "Fine."
    assert not any("[S1]" in row[2] for row in stored(world))
    await world.answer()


@played(AGENT)
async def test_CLS_001_LCL_a_clear_of_everything(world: World) -> None:
    """Archived, with the recorded size; the counter goes on, and the session is new (BUG-16)."""
    await exchange(world)
    await world.chat()
    assert baseline(world) is not None
    await world.answer()
    await world.quiet()
    top = max(row[0] for row in stored(world))
    deleted, audited = await world.agent.clear("main")
    assert (deleted, audited) == (5, True)
    assert stored(world) == []
    assert baseline(world) is None
    asked = await world.chat("Fresh.")
    assert [message["content"][0]["text"].endswith("Fresh.") for message in asked.messages] == [True]
    assert stored(world)[0][0] == top + 1
    assert any("[Context: system_prompt]" in row[2] for row in stored(world))
    await world.answer()
    assert await world.agent.clear("b") == (0, False)


@played(AGENT)
async def test_LCL_009_BUG_01_loop_clear_of_everything_ends_the_turn(world: World) -> None:
    """The result row alone is left; no request is made with nothing in it; what waits is read by the next turn."""
    await world.chat()
    await world.answer("main", "", calls=[("loop_clear", {})])
    await world.quiet()
    (row,) = stored(world)
    assert "tool_result" in row[2]
    assert len(world.model.log) == 1
    asked = await world.chat("Next.")
    assert [message["role"] for message in asked.messages] == ["user"]
    await world.answer()


@played(AGENT)
async def test_LCL_002_LCL_010_BUG_01_a_slice_clears_that_slice_and_no_more(world: World) -> None:
    """Rows from the front: what stays may begin with an answer, and the request is repaired without touching rows."""
    await exchange(world, "one", "first")
    await world.chat("two")
    result = await world.use("loop_clear", {"end": 1})
    assert "Deleted 1 entry" in result
    assert "audit" in result
    assert [text for text in world.texts() if text in ("one", "first", "two")] == ["first", "two"]
    asked = await world.asked()
    assert asked.messages[0]["role"] == "user"
    assert "first" not in asked.text()
    assert [audit[3] for audit in world.audits()] == [1]
    assert "No entries" in await world.use("loop_clear", {"start": 99})
    for wrong in ({"start": 1.5}, {"end": None}, {"start": "1"}):
        assert "invalid input" in await world.use("loop_clear", wrong)
    await world.answer()


@played(AGENT)
async def test_AUD_002_AUD_035_what_cannot_be_archived_is_not_deleted(world: World) -> None:
    """A row whose content is no JSON makes an audited clear fail as a whole."""
    await exchange(world)
    world.agent.store.connection.execute("UPDATE adf_loop SET content_json = '[' WHERE seq = 1")
    before = stored(world)
    with pytest.raises(Exception, match="JSON"):
        await world.agent.clear("main")
    assert stored(world) == before
    world.agent.store.connection.execute("UPDATE adf_loop SET content_json = '[]' WHERE seq = 1")


@played(AGENT)
async def test_AUD_031_a_failing_commit_undoes_everything(world: World) -> None:
    """Snapshot, deletion and summary stand or fall together."""
    await exchange(world)
    await world.chat()
    before = stored(world)
    store = world.agent.store

    def broken(*_: object, **__: object) -> None:
        raise UnreadableError("no room")

    real, store.checkpoints.unmeasure = store.checkpoints.unmeasure, broken  # type: ignore[method-assign]
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.answer("main", "S", purpose="compaction")
    await world.asked()
    store.checkpoints.unmeasure = real  # type: ignore[method-assign]
    assert stored(world)[: len(before)] == before
    assert world.audits() == []
    await world.answer()


@pytest.mark.parametrize("what", ["loop", "mind", "inbox", "all"])
def test_CLS_001_to_CLS_004_what_the_owner_clears(tmp_path: Path, what: str) -> None:
    """A turn that runs is aborted first; each part takes what is its own and leaves the rest."""
    from adf_format.runtime.resetting import reset

    @played(AGENT)
    async def scene(world: World) -> None:
        store = world.agent.store
        insert = "INSERT INTO adf_inbox (id, \"from\", content, received_at) VALUES ('x', 'y', 'z', 1)"
        store.connection.execute(insert)
        world.agent.send("main", "a", "kept?")
        held = await world.chat()
        log = store.files.read("mind/log.md")
        await reset(world.agent, what)
        await world.quiet() if what in ("loop", "all") else await world.answer()
        await world.quiet()
        assert held.cancelled is (what in ("loop", "all"))
        assert (stored(world) == []) is (what in ("loop", "all"))
        assert (stored(world, "a") == []) is (what == "all")
        assert (store.files.read("mind.md") == b"") is (what in ("mind", "all"))
        assert (store.files.read("README.md") == b"") is (what == "all")
        assert (store.connection.execute("SELECT count(*) FROM adf_inbox").get == 0) is (what in ("inbox", "all"))
        assert store.files.read("mind/log.md") == log
        protection = "SELECT protection FROM adf_files WHERE path = 'mind.md'"
        assert store.connection.execute(protection).get == "no_delete"

    scene(tmp_path)


@given(st.text(), st.integers(0, 30))
def test_CMP_010_BUG_28_a_cut_never_splits_a_character(text: str, most: int) -> None:
    """From the front and from the back, in UTF-16 units; what is whole stays whole."""
    for piece, taken in ((cut(text, most), text.startswith), (ending(text, most), text.endswith)):
        assert taken(piece)
        assert len(piece.encode("utf-16-le", "surrogatepass")) // 2 <= max(most, 0)
        piece.encode()


def test_CMP_010_the_transcript_is_bounded() -> None:
    """Inputs, results and thoughts are cut, and of the whole the end counts."""
    blocks = [
        {"type": "thinking", "thinking": "t" * 500},
        {"type": "tool_use", "id": "x", "name": "n", "input": {"k": "i" * 500}},
    ]
    result = [{"type": "tool_result", "tool_use_id": "x", "content": "r" * 500, "is_error": True}]
    entries = [Entry(1, "assistant", blocks, 0), Entry(2, "user", result, 0)]
    text = compaction.prompt(entries, 2)
    assert (text.count("t" * 200), text.count("t" * 201)) == (1, 0)
    assert "i" * 180 in text
    assert "i" * 201 not in text
    assert "r" * 300 in text
    assert "r" * 301 not in text
    assert "[USER S2] result (error)" in text
    long = [Entry(n, "user", [{"type": "text", "text": f"{n:05d}" + "y" * 995}], 0) for n in range(200)]
    text = compaction.prompt(long, 200)
    assert "00199" in text
    assert "00000" not in text
    assert len(text) < compaction.TRANSCRIPT_MAX + 3000
