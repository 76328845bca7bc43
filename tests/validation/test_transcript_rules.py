"""6xx: transcripts in display order, one loop at a time (STO-032, ROW and CMP rules of the facts)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from family_support import build, inspect, rules
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_format.validation import findings as findings_of_a_file
from adf_format.validation.context import Depth
from adf_format.validation.rules import transcript
from adf_format.validation.rules.transcript import order, tools

REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"  # read only, absent elsewhere
CONFIG = {"name": "Ada", "loops": [{"name": "gardener"}, {"name": "reviewer"}]}


def say(text: str = "hi") -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(tool_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_id, "name": "fs_read", "input": {}}


def result(tool_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": "ok"}


@dataclass(frozen=True)
class Row:
    """One row of adf_loop; `content` is blocks, or text that goes into the column as it is."""

    role: str
    content: Any
    loop: str = "main"
    seq: int | None = None
    ord: int | None = None
    model: str | None = None
    tokens: str | None = None
    created_at: int = 1_767_225_600_000


def user(*blocks: dict[str, Any], **more: Any) -> Row:
    return Row("user", list(blocks), **more)


def assistant(*blocks: dict[str, Any], **more: Any) -> Row:
    return Row("assistant", list(blocks), **more)


def quoted(value: object) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def statements(rows: Iterable[Row], version: int = 32) -> list[str]:
    made = []
    for row in rows:
        content = row.content if isinstance(row.content, str) else json.dumps(row.content)
        values = {
            "role": quoted(row.role),
            "content_json": quoted(content),
            "model": quoted(row.model),
            "tokens": quoted(row.tokens),
            "created_at": row.created_at,
        }
        if row.seq is not None:
            values["seq"] = row.seq
        if row.ord is not None:
            values["ord"] = row.ord
        if version >= 29:
            values["loop"] = quoted(row.loop)
        made.append(f"INSERT INTO adf_loop ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))})")
    return made


def agent(path: Path, *rows: Row, version: int = 32, more: Sequence[str] = ()) -> Path:
    config = f"UPDATE adf_config SET config_json = {quoted(json.dumps(CONFIG))}"
    return build(path, config, *statements(rows, version), *more, version=version)


def found(tmp_path: Path, *rows: Row, version: int = 32, more: Sequence[str] = ()) -> set[str]:
    return rules(agent(tmp_path / "a.adf", *rows, version=version, more=more), transcript)


def places(path: Path, depth: Depth = Depth.DEFAULT) -> set[tuple[str, Any, Any]]:
    """Rule, row and pointer of everything that was reported, with no limit on examples."""
    with mock.patch.object(findings_of_a_file, "MAX_EXAMPLES", 10**6):
        findings, context = inspect(path, transcript, depth)
    assert not context.faults
    assert all(one.count == len(one.examples) for one in findings)
    return {(one.rule, place.get("rowid"), place.get("pointer")) for one in findings for place in one.examples}


SUMMARY = "[Loop Compacted, audited] ADA wrote a plan.\n\n---\nYour loop was compacted."
ARCHIVE = (
    "INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at)"
    " VALUES ('{}', 1, 1, 1, 2, x'', 1)"
)


class TestToolCalls:
    def test_calls_and_results_in_turn_are_right(self, tmp_path: Path) -> None:
        assert (
            found(
                tmp_path,
                user(say()),
                assistant(say(), call("a"), call("b")),
                user(result("b"), say("[USER INTERRUPT]"), result("a")),
                assistant(say()),
            )
            == set()
        )

    def test_rows_that_cut_in_between_are_tolerated(self, tmp_path: Path) -> None:
        """Owner messages, injections and deliveries are written at once, so they may stand before the results."""
        assert (
            found(
                tmp_path,
                user(say()),
                assistant(call("a")),
                user(say("[Context: note | loop_inject=v2 | origin=lambda] x")),
                user(say("[from loop:gardener] y")),
                user(say("wait!")),
                user(result("a")),
                assistant(say()),
            )
            == set()
        )

    def test_another_loop_in_between_changes_nothing(self, tmp_path: Path) -> None:
        """STO-034: one counter for all loops, so their rows interleave."""
        assert (
            found(
                tmp_path,
                user(say()),
                user(say(), loop="gardener"),
                assistant(call("a")),
                assistant(call("a"), loop="gardener"),
                user(result("a")),
                assistant(say()),
                user(result("a"), loop="gardener"),
            )
            == set()
        )

    def test_before_29_there_is_one_loop(self, tmp_path: Path) -> None:
        rows = (user(say()), assistant(call("a")), user(result("a")), assistant(say()))
        for version in (21, 27, 28):
            assert rules(agent(tmp_path / f"{version}.adf", *rows, version=version), transcript) == set()

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ((assistant(call("a")), assistant(say())), {("ADF603", 2, "/0")}),
            ((assistant(call("a"), call("b")), user(result("b")), assistant(say())), {("ADF603", 2, "/0")}),
            ((assistant(call("a")), user(say()), assistant(say())), {("ADF603", 2, "/0")}),
            ((assistant(call("a")),), {("ADF618", 2, "/0")}),
            ((assistant(say(), call("a")), user(say())), {("ADF618", 2, "/1")}),
            ((assistant(call("a")), user(result("a"), result("a"))), {("ADF604", 3, "/1")}),
            ((assistant(call("a")), user(result("b"))), {("ADF604", 3, "/0"), ("ADF618", 2, "/0")}),
            ((assistant(say()), user(say(), result("a"))), {("ADF604", 3, "/1")}),
            ((user(result("a")), assistant(call("a"))), {("ADF604", 2, "/0"), ("ADF618", 3, "/0")}),
            ((assistant(call("a"), call("a")), user(result("a"))), {("ADF606", 2, "/1")}),
            (
                (assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))),
                {("ADF619", 4, "/0")},
            ),
            ((assistant(call("a"), call("b")), user(result("a")), user(result("b"))), {("ADF622", 4, "/0")}),
            ((assistant(call("")), user(result("")), assistant(say())), set()),
            ((assistant({"type": "tool_use"}, "text", 3), user({"type": "tool_result"})), set()),
        ],
    )
    def test_what_does_not_match_is_named(
        self, tmp_path: Path, rows: tuple[Row, ...], expected: set[tuple[str, int, str]]
    ) -> None:
        assert places(agent(tmp_path / "a.adf", user(say()), *rows)) == expected

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ((assistant(say()),), {("ADF617", 1, None)}),
            ((user(result("a")), assistant(say())), {("ADF617", 1, "/0"), ("ADF617", 2, None)}),
            ((user(say("[Context: system_prompt] x")), assistant(say())), {("ADF617", 2, None)}),
            ((user(say("[Context: system_prompt] x")), user(say()), assistant(say())), set()),
            ((user(), assistant(say())), set()),
        ],
    )
    def test_a_beginning_inside_a_turn_is_only_noted(
        self, tmp_path: Path, rows: tuple[Row, ...], expected: set[tuple[str, int, str | None]]
    ) -> None:
        """LCL-010: legal after a partial clear. A message of media only is stored as an empty array."""
        assert places(agent(tmp_path / "a.adf", *rows)) == expected

    @pytest.mark.parametrize("content", ["no json", "{}", "3", '"text"', "null"])
    def test_nothing_is_concluded_from_rows_that_cannot_be_read(self, tmp_path: Path, content: str) -> None:
        """They may have held the missing calls and results; the 3xx rules report them."""
        rows = (
            user(say()),
            assistant(call("a")),
            Row("user", content),
            assistant(say()),
            Row("assistant", content),
            user(result("b")),
            assistant(say()),
        )
        assert found(tmp_path, *rows) == set()

    def test_a_row_of_another_role_is_not_followed(self, tmp_path: Path) -> None:
        rows = (user(say()), assistant(call("a")), Row("system", [say()]), user(result("a")), assistant(say()))
        assert found(tmp_path, *rows) == set()

    def test_many_ids_are_not_all_remembered(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tools, "IDS", 2)
        rows = [user(say())]
        for index in range(4):
            rows += [assistant(call(f"t{index}")), user(result(f"t{index}"))]
        _, context = inspect(agent(tmp_path / "a.adf", *rows), transcript)
        assert context.stats.not_checked == [{"what": "tool ids that come again", "why": "more than 2 tool calls"}]

    def test_many_loops_are_not_all_followed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tools, "LOOPS", 1)
        path = agent(tmp_path / "a.adf", user(say()), assistant(call("a"), loop="gardener"))
        findings, context = inspect(path, transcript)
        assert findings == []
        assert context.stats.not_checked == [{"what": "tool calls of some loops", "why": "more than 1 loops"}]


class TestDisplayOrder:
    def test_a_summary_stands_before_the_tail_it_kept(self, tmp_path: Path) -> None:
        """VEC-3: rows 3 and 4 kept, summary 5 with key 2: order 5, 3, 4."""
        rows = (
            assistant(call("c"), seq=3),
            user(result("c"), seq=4),
            user(say("[Loop Compacted] x"), seq=5, ord=2),
            assistant(say(), seq=6),
        )
        assert found(tmp_path, *rows) == set()

    def test_a_later_summary_may_have_the_key_of_an_archived_row(self, tmp_path: Path) -> None:
        """VEC-3: rows 6 and 7 kept, new summary 8 with key 5."""
        rows = (
            assistant(call("c"), seq=6),
            user(result("c"), seq=7),
            user(say("[Loop Compacted] x"), seq=8, ord=5),
        )
        assert found(tmp_path, *rows) == set()

    @pytest.mark.parametrize("version", [28, 29, 32])
    def test_results_are_matched_by_key_not_by_seq(self, tmp_path: Path, version: int) -> None:
        """By seq, the call would come after its result."""
        rows = (user(say(), seq=1), user(result("a"), seq=3), assistant(call("a"), seq=9, ord=2))
        assert found(tmp_path, *rows, version=version) == {"ADF610"}

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ((user(say(), seq=2), user(say("[Loop Compacted] x"), seq=5, ord=2)), {("ADF602", 5, None)}),
            (
                (user(say("[Loop Compacted] x"), seq=5, ord=1), user(say("[Loop Compacted] y"), seq=6, ord=1)),
                {("ADF602", 6, None)},
            ),
            ((user(say(), seq=2), user(say("[Loop Compacted] x"), seq=5, ord=2, loop="reviewer")), set()),
            ((user(say("[Loop Compacted] y"), seq=2, ord=0), user(say("[Loop Compacted] x"), seq=5, ord=2)), set()),
            ((user(say("[Loop Compacted] x"), seq=5, ord=5),), set()),
        ],
    )
    def test_keys_are_unique_within_a_loop(
        self, tmp_path: Path, rows: tuple[Row, ...], expected: set[tuple[str, int, None]]
    ) -> None:
        """LCL-004."""
        assert places(agent(tmp_path / "a.adf", *rows)) == expected

    def test_too_many_moved_rows_are_not_followed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(order, "MOVED_LIMIT", 2)
        rows = [user(result("x"), seq=seq, ord=-seq) for seq in range(5, 9)]
        findings, context = inspect(agent(tmp_path / "a.adf", *rows), transcript)
        assert findings == []
        assert context.stats.not_checked == [{"what": "order of the transcript", "why": "more than 2 rows have an ord"}]

    @pytest.mark.parametrize("value", ["'a'", "1.5", "x'00'"])
    def test_an_ord_that_is_no_integer_places_a_row_nowhere(self, tmp_path: Path, value: str) -> None:
        """Its row could stand anywhere, so no call or result is missed on its account."""
        rows = (user(say(), seq=1), assistant(call("a"), seq=2), user(result("a"), seq=3), assistant(say(), seq=4))
        changed = f"UPDATE adf_loop SET ord = {value} WHERE seq = 3"
        assert found(tmp_path, *rows, more=[changed]) == set()

    @given(st.data())
    @settings(max_examples=40)
    def test_only_display_order_counts(self, data: st.DataObject) -> None:
        """Renumbering some rows, with an `ord` that keeps their place, changes no finding on calls and results."""
        plain = data.draw(transcripts())
        moved = data.draw(st.sets(st.integers(0, len(plain) - 1), max_size=4))
        last = 10 * len(plain)
        renumbered = [
            replace(row, seq=last + 10 * (index + 1), ord=10 * (index + 1)) if index in moved else row
            for index, row in enumerate(plain)
        ]
        version = data.draw(st.sampled_from([28, 32]))
        assert display_findings(plain, version) == display_findings(renumbered, version)

    @given(st.data())
    @settings(max_examples=40)
    def test_loops_do_not_know_of_each_other(self, data: st.DataObject) -> None:
        """However the rows of three loops interleave, each loop gives the findings it gives alone."""
        loops = ["main", "gardener", "reviewer"]
        streams = {loop: [replace(row, loop=loop) for row in data.draw(transcripts())] for loop in loops}
        turns = data.draw(st.permutations([loop for loop in loops for _ in streams[loop]]))
        waiting = {loop: iter(rows) for loop, rows in streams.items()}
        mixed = [replace(next(waiting[loop]), seq=10 * (index + 1)) for index, loop in enumerate(turns)]
        together = display_findings(mixed, 32)
        alone = set().union(*(display_findings(rows, 32) for rows in streams.values()))
        assert together == alone

    @given(st.data())
    @settings(max_examples=60)
    def test_findings_are_those_of_a_simple_model(self, data: st.DataObject) -> None:
        """Sort, then look: the merged scan gives the same as a program that may hold everything in memory."""
        plain = data.draw(transcripts())
        keys = data.draw(st.lists(st.none() | st.integers(-5, 120), min_size=len(plain), max_size=len(plain)))
        rows = [replace(row, ord=key) for row, key in zip(plain, keys, strict=True)]
        with tempfile.TemporaryDirectory() as folder:
            reported = places(agent(Path(folder) / "a.adf", *rows))
        reported = {(rule, seq, pointer) for rule, seq, pointer in reported if rule in {"ADF603", "ADF604", "ADF618"}}
        assert reported == modelled(rows)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Row]:
    """Rows numbered 10, 20, … whose calls and results may or may not match; distinct ids per row."""
    ids = st.sampled_from(["a", "b", "c"])
    rows = [user(say(), seq=10)]
    for index in range(draw(st.integers(1, 7))):
        role = draw(st.sampled_from(["user", "assistant"]))
        names = draw(st.lists(ids, max_size=2, unique=True))
        make = call if role == "assistant" else result
        rows.append(Row(role, [make(name) for name in names] or [say()], seq=10 * (index + 2)))
    return rows


def display_findings(rows: Sequence[Row], version: int) -> set[tuple[str, str, int, Any]]:
    """Findings on calls and results, by loop and place in display order."""
    place: dict[int | None, tuple[str, int]] = {}
    for loop in {row.loop for row in rows}:
        shown = sorted((row for row in rows if row.loop == loop), key=_key)
        place |= {row.seq: (loop, index) for index, row in enumerate(shown)}
    with tempfile.TemporaryDirectory() as folder:
        reported = places(agent(Path(folder) / "a.adf", *rows, version=version))
    return {(rule, *place[seq], pointer) for rule, seq, pointer in reported if rule not in {"ADF602", "ADF610"}}


def _key(row: Row) -> tuple[int, int]:
    assert row.seq is not None
    return (row.seq if row.ord is None else row.ord, row.seq)


def modelled(rows: Sequence[Row]) -> set[tuple[str, int | None, str]]:
    """ADF603, ADF604 and ADF618 by their definitions."""
    shown = sorted(rows, key=_key)
    reported = set()
    begun = False
    for place, row in enumerate(shown):
        later = shown[place + 1 :]
        following = [one.role for one in later]
        end = following.index("assistant") if "assistant" in following else len(later)
        before = next((one for one in reversed(shown[:place]) if one.role == "assistant"), None)
        since = [one for one in shown[:place] if before is None or _key(one) > _key(before)]
        for index, block in enumerate(row.content):
            if block["type"] == "tool_use":
                results = [other for one in later[:end] for other in one.content if other["type"] == "tool_result"]
                if block["id"] not in {other["tool_use_id"] for other in results}:
                    reported.add(("ADF603" if end < len(later) else "ADF618", row.seq, f"/{index}"))
            elif block["type"] == "tool_result" and begun:
                name = block["tool_use_id"]
                calls = before is not None and name in {one.get("id") for one in before.content}
                answered = any(name == one.get("tool_use_id") for other in since for one in other.content)
                if not calls or answered:
                    reported.add(("ADF604", row.seq, f"/{index}"))
        begun = begun or row.role == "assistant" or any(one["type"] == "text" for one in row.content)
    return reported


class TestLoops:
    @pytest.mark.parametrize(
        ("loop", "expected"), [("main", set()), ("gardener", set()), ("drafter", {"ADF608"}), ("Main", set())]
    )
    def test_rows_belong_to_loops_that_are_declared(self, tmp_path: Path, loop: str, expected: set[str]) -> None:
        """A name that no loop can have is an error of its own (ADF304)."""
        assert found(tmp_path, user(say(), loop=loop)) == expected

    def test_without_a_readable_configuration_no_loop_is_blamed(self, tmp_path: Path) -> None:
        broken = "UPDATE adf_config SET config_json = '{'"
        rows = (user(say("[from loop:drafter] x"), loop="drafter"),)
        assert found(tmp_path, *rows, more=[broken]) == set()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("[from loop:gardener] x", set()),
            ("[from loop:main] x", set()),
            ("[from loop:drafter] x", {"ADF613"}),
            ("[from loop:] x", {"ADF613"}),
            ("[from loop:drafter", {"ADF613"}),
            ("see [from loop:drafter] x", set()),
        ],
    )
    def test_a_stamp_names_a_loop(self, tmp_path: Path, text: str, expected: set[str]) -> None:
        assert found(tmp_path, user(say(text))) == expected
        assert found_on_28(tmp_path, user(say(text))) == set()


def found_on_28(tmp_path: Path, *rows: Row) -> set[str]:
    return rules(agent(tmp_path / "28.adf", *rows, version=28), transcript)


class TestMessages:
    @pytest.mark.parametrize(
        ("block", "role"),
        [
            (call("a"), "user"),
            ({"type": "thinking", "thinking": "hm"}, "user"),
            ({"type": "image_url", "image_url": {"url": "data:,"}}, "assistant"),
            ({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}, "assistant"),
            ({"type": "video_url", "video_url": {"url": "data:,"}}, "assistant"),
            (result("a"), "assistant"),
        ],
    )
    def test_blocks_stand_in_rows_of_their_role(self, tmp_path: Path, block: dict[str, Any], role: str) -> None:
        other = "assistant" if role == "user" else "user"
        before = user(say("x"))
        assert "ADF607" in rules(agent(tmp_path / "a.adf", before, Row(role, [say(), block])), transcript)
        assert "ADF607" not in rules(agent(tmp_path / "b.adf", before, Row(other, [say(), block])), transcript)

    @pytest.mark.parametrize(
        ("text", "right"),
        [
            ("[Context: system_prompt] x", True),
            ("[Context: dynamic_instructions] x", True),
            ("[Context: mind] x", True),
            ("[Context: System] Compaction failed", True),
            ("[Context: loop_inject | loop_inject=v2 | origin=lambda:lib/api.ts] x", True),
            ("[Context: a.b_c-1 | loop_inject=v2 | origin=A:b/c.d-e_f | key=K:1.a-b_c] x", True),
            (f"[Context: {'a' * 64} | loop_inject=v2 | origin={'o' * 128} | key={'k' * 128}] x", True),
            (f"[Context: {'a' * 65} | loop_inject=v2 | origin=o] x", False),
            (f"[Context: a | loop_inject=v2 | origin={'o' * 129}] x", False),
            (f"[Context: a | loop_inject=v2 | origin=o | key={'k' * 129}] x", False),
            ("[Context: A | loop_inject=v2 | origin=o] x", False),
            ("[Context: a | loop_inject=v2 | origin=] x", False),
            ("[Context: a | loop_inject=v2 | key=k] x", False),
            ("[Context: a | loop_inject=v2 | origin=o | key=a b] x", False),
            ("[Context: a | loop_inject=v3 | origin=o] x", False),
            ("[Context: ] x", False),
            ("[Context: open", False),
            ("[Context: two\nlines] x", False),
        ],
    )
    def test_a_context_row_has_a_header(self, tmp_path: Path, text: str, right: bool) -> None:
        assert found(tmp_path, user(say(text))) == (set() if right else {"ADF611"})

    def test_an_answer_does_not_look_like_a_context_row(self, tmp_path: Path) -> None:
        rows = (user(say()), assistant(say("[Context: system_prompt] x")))
        assert found(tmp_path, *rows) == {"ADF620"}

    @pytest.mark.parametrize(
        ("source", "loop", "expected"),
        [
            ("loop:main", "main", set()),
            ("loop", "main", set()),
            ("loop:gardener", "gardener", set()),
            ("loop:gardener", "main", {"ADF612"}),
            ("loop", "gardener", {"ADF612"}),
            ("file", "main", {"ADF612"}),
        ],
    )
    def test_an_audited_summary_has_a_snapshot_of_its_loop(
        self, tmp_path: Path, source: str, loop: str, expected: set[str]
    ) -> None:
        """CMP-028; a bare `loop` stands for main."""
        row = user(say(SUMMARY), loop=loop, model="m", tokens='{"input":1}')
        assert found(tmp_path, row, more=[ARCHIVE.format(source)]) == expected

    def test_a_summary_that_claims_nothing_needs_no_snapshot(self, tmp_path: Path) -> None:
        assert found(tmp_path, user(say("[Loop Compacted] x"))) == set()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("[Loop Compacted] (Summary generation failed: 529 overloaded)\n\n---\nYour loop", {"ADF621"}),
            ("[Loop Compacted] (Summary generation returned no text)", {"ADF621"}),
            ("[Loop Compacted, audited] (Summary generation failed)", {"ADF612", "ADF621"}),
            ("[Loop Compacted] The agent saw (Summary generation failed)", set()),
        ],
    )
    def test_a_placeholder_is_no_summary(self, tmp_path: Path, text: str, expected: set[str]) -> None:
        """CMP-040: history was cleared behind it."""
        assert found(tmp_path, user(say(text))) == expected

    @pytest.mark.parametrize(
        ("role", "text", "right"),
        [
            ("assistant", "[S137] done", False),
            ("assistant", "[2026-01-01 00:00:00 UTC] [S137] done", False),
            ("assistant", "done [S137]", True),
            ("assistant", "[S] done", True),
            ("user", "[2026-01-01 00:00:00 UTC] [S137] hello", False),
            ("user", "[S137] was wrong", True),
            ("user", "[2026-01-01 00:00:00 UTC] hello", True),
        ],
    )
    def test_markers_of_a_request_are_not_stored(self, tmp_path: Path, role: str, text: str, right: bool) -> None:
        """ROW-010, BUG-19; a user may cite a row."""
        assert found(tmp_path, user(say()), Row(role, [say(text)])) == (set() if right else {"ADF614"})

    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (user(say(), model="m"), {"ADF616"}),
            (user(say(), tokens='{"input":1}'), {"ADF616"}),
            (user(say("[Loop Compacted] x"), model="m", tokens='{"input":1}'), set()),
            (assistant(say(), model="m", tokens='{"input":1}'), set()),
        ],
    )
    def test_usage_belongs_to_calls(self, tmp_path: Path, row: Row, expected: set[str]) -> None:
        """CMP-029: the summary's is that of the summarizer."""
        assert found(tmp_path, user(say()), row) == expected

    @pytest.mark.parametrize("text", ["[Inbox notification] x", "[System notice: y", "[USER INTERRUPT", "[", "[]", ""])
    def test_other_beginnings_are_free_text(self, tmp_path: Path, text: str) -> None:
        """ROW-032."""
        assert found(tmp_path, user(say(text))) == set()

    @pytest.mark.parametrize("content", ["[]", "[1,null,[]]", '[{"type":7}]', '[{"type":"text"}]', '[{"text":"x"}]'])
    def test_odd_blocks_are_passed_over(self, tmp_path: Path, content: str) -> None:
        assert found(tmp_path, user(say()), Row("user", content), Row("assistant", content)) == set()


class TestCounter:
    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ("UPDATE sqlite_sequence SET seq = 2", set()),
            ("UPDATE sqlite_sequence SET seq = 99", set()),
            ("UPDATE sqlite_sequence SET seq = 1", {"ADF601"}),
            ("UPDATE sqlite_sequence SET seq = 'x'", {"ADF601"}),
            ("UPDATE sqlite_sequence SET seq = NULL", {"ADF601"}),
            ("DELETE FROM sqlite_sequence", {"ADF601"}),
            ("DELETE FROM sqlite_sequence; DELETE FROM adf_loop", set()),
        ],
    )
    def test_the_counter_is_not_below_any_row(self, tmp_path: Path, change: str, expected: set[str]) -> None:
        assert found(tmp_path, user(say()), user(say()), more=[change]) == expected

    def test_a_table_without_a_counter_is_a_matter_of_the_schema(self, tmp_path: Path) -> None:
        loose = (
            "DROP TABLE adf_loop; CREATE TABLE adf_loop (seq INTEGER PRIMARY KEY, role TEXT, content_json TEXT,"
            " model TEXT, tokens TEXT, created_at INTEGER, ord INTEGER, loop TEXT);"
            "INSERT INTO adf_loop VALUES (1, 'user', '[]', NULL, NULL, 1, NULL, 'main')"
        )
        assert found(tmp_path, more=[loose]) == set()


class TestTimes:
    @pytest.mark.parametrize(
        ("times", "expected"),
        [
            ((10**12, 10**12 + 5, 10**12 + 3), set()),
            ((10**12, 10**12 - 3_600_001, 10**12), {("ADF615", 2, None)}),
            ((10**12, 10**12 - 3_600_000, 10**12), set()),
            ((10**12, 0, 10**12 - 1), set()),
            ((10**12, 10**11, 10**11), {("ADF615", 2, None)}),
        ],
    )
    def test_a_jump_back_is_noted_once_in_depth(
        self, tmp_path: Path, times: tuple[int, ...], expected: set[tuple[str, int, None]]
    ) -> None:
        path = agent(tmp_path / "a.adf", *(user(say(), created_at=time) for time in times))
        assert places(path, Depth.DEEP) == expected
        assert places(path) == set()

    def test_each_loop_has_its_own_clock(self, tmp_path: Path) -> None:
        rows = (user(say(), created_at=10**12), user(say(), created_at=10**11, loop="gardener"))
        assert places(agent(tmp_path / "a.adf", *rows), Depth.DEEP) == set()


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here")
class TestRealFiles:
    @pytest.mark.parametrize("path", sorted(REAL.glob("*.adf")), ids=lambda path: path.stem)
    def test_real_transcripts_are_right(self, path: Path) -> None:
        """At most that one begins inside a turn, which a partial clear leaves behind."""
        assert rules(path, transcript) <= {"ADF617"}
