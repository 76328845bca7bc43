"""Triggers: targets, filters, state gating, routing, and debounce, interval and batch (config.md 2.5, loops.md 7)."""

from __future__ import annotations

import fnmatch
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.runtime.triggers import wording
from adf_format.runtime.triggers.coalescing import MOST_EVENTS, Coalescer, Dispatch
from adf_format.runtime.triggers.matching import allowed, matches, timer_loop, woken
from adf_format.runtime.triggers.model import KINDS, Event, Target, Timing, targets, timing

NOW = 1_767_225_600_000


def config(kind: str, *entries: Any, enabled: Any = True) -> dict[str, Any]:
    return {"triggers": {kind: {"enabled": enabled, "targets": list(entries)}}}


def agent(loop: str | None = None, **more: Any) -> dict[str, Any]:
    return {"scope": "agent", **({"loop": loop} if loop else {}), **more}


def loops(found: list[Target]) -> list[str | None]:
    return [target.loop for target in found]


def event(kind: Any, loop: str | None = None, **facts: Any) -> Event:
    return Event(kind, "text", facts, loop)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"on_timer", "on_tool_call"}])
def test_loop_230_any_trigger_type_wakes_the_named_loop_and_main_without_a_name(kind: Any) -> None:
    assert loops(woken(config(kind, agent(), agent("gardener")), event(kind))) == ["main", "gardener"]
    assert woken(config(kind, agent(), enabled=False), event(kind)) == []
    assert woken({}, event(kind)) == []


def test_loop_233_a_system_target_names_no_loop() -> None:
    (target,) = woken(config("on_chat", {"scope": "system", "loop": "gardener", "lambda": "a.ts:f"}), event("on_chat"))
    assert (target.loop, target.lambda_) == (None, "a.ts:f")


@pytest.mark.parametrize(
    ("kind", "wanted", "facts", "passes"),
    [
        ("on_inbox", {"source": "mesh", "sender": "did:a"}, {"source": "mesh", "sender": "did:a"}, True),
        ("on_inbox", {"source": "mesh"}, {"source": "user"}, False),
        ("on_inbox", {"sender": "did:a"}, {"source": "mesh", "sender": "did:b"}, False),
        ("on_inbox", {"source": ["user"]}, {"source": "mesh"}, True),
        ("on_inbox", {"to": "x", "level": ["error"]}, {"source": "mesh"}, True),
        ("on_outbox", {"to": "did:b"}, {"to": "did:b"}, True),
        ("on_outbox", {"to": "did:b"}, {"to": "did:c"}, False),
        ("on_file_change", {"watch": "notes/*"}, {"path": "notes/a/b.md"}, True),
        ("on_file_change", {"watch": "notes/*"}, {"path": "other/notes/a"}, False),
        ("on_file_change", {}, {"path": "x"}, True),
        ("on_file_change", {"watch": "*"}, {"path": "x", "by_agent": True}, False),
        ("on_file_change", {"watch": "*", "include_self": True}, {"path": "x", "by_agent": True}, True),
        ("on_tool_call", {"tools": ["fs_*"]}, {"tool": "fs_read"}, True),
        ("on_tool_call", {"tools": ["msg_*"]}, {"tool": "fs_read"}, False),
        ("on_tool_call", {}, {"tool": "fs_read"}, False),
        ("on_logs", {"level": ["error"]}, {"level": "error"}, True),
        ("on_logs", {"level": ["error"]}, {"level": "info"}, False),
        ("on_logs", {"origin": ["run*"], "event": ["*failed"]}, {"origin": "runtime", "event": "a_failed"}, True),
        ("on_logs", {"origin": ["loop"]}, {"origin": None}, False),
        ("on_logs", {}, {"event": "loop_dispatch_dropped"}, False),
    ],
)
def test_filters_let_through_what_they_name_and_ignore_keys_of_other_types(
    kind: Any, wanted: dict[str, Any], facts: dict[str, Any], passes: bool
) -> None:
    assert bool(woken(config(kind, agent(filter=wanted)), event(kind, **facts))) == passes


def test_loop_220_tools_of_inner_loops_feed_no_trigger() -> None:
    any_tool = config("on_tool_call", agent(filter={"tools": ["*"]}))
    assert woken(any_tool, event("on_tool_call", "main", tool="fs_read"))
    assert woken(any_tool, event("on_tool_call", "gardener", tool="fs_read")) == []


ALPHABET = st.text("ab*./", max_size=8)


@given(ALPHABET, st.text("ab./\n", max_size=8))
def test_a_glob_knows_one_wildcard_and_means_the_whole_text(pattern: str, text: str) -> None:
    assert matches(pattern, text) == fnmatch.fnmatchcase(text, pattern)


def test_no_other_character_of_a_glob_is_special() -> None:
    assert not matches("a?", "ab")
    assert not matches("[ab]", "a")
    assert matches("[ab]", "[ab]")


def test_loop_244_the_state_of_the_agent_gates_all_loops() -> None:
    assert all(allowed(state, kind) for state in ("active", "idle") for kind in KINDS)
    assert [kind for kind in KINDS if allowed("hibernate", kind)] == ["on_timer"]
    assert not any(allowed(state, kind) for state in ("suspended", "off", "?") for kind in KINDS)


def test_loop_241_a_timer_fires_only_through_an_enabled_target_of_its_scope() -> None:
    fired = event("on_timer", "gardener", scope=("agent",))
    assert loops(woken(config("on_timer", agent()), fired)) == ["gardener"]
    assert woken(config("on_timer", {"scope": "system"}), fired) == []
    assert woken(config("on_timer", agent(), enabled=False), fired) == []
    assert woken(config("on_timer", agent()), event("on_timer", scope=("system",))) == []


def test_loop_241_a_timer_wakes_one_loop_whatever_the_number_of_targets() -> None:
    found = woken(config("on_timer", agent("a"), agent("b", debounce_ms=5)), event("on_timer", "b", scope=("agent",)))
    assert [(target.loop, target.timing.mode) for target in found] == [("b", "debounce")]


def test_q16_a_timer_without_a_stamp_goes_to_main_unless_all_targets_name_one_loop() -> None:
    assert timer_loop(config("on_timer", agent("gardener"), {"scope": "system"}), None) == "gardener"
    assert timer_loop(config("on_timer", agent("gardener"), agent()), None) == "main"
    assert timer_loop(config("on_timer", agent("gardener")), "main") == "main"
    assert timer_loop({}, None) == "main"


def test_a_timer_of_both_scopes_fires_for_both() -> None:
    both = event("on_timer", "gardener", scope=("system", "agent"))
    found = woken(config("on_timer", {"scope": "system"}, agent()), both)
    assert [(target.scope, target.loop) for target in found] == [("agent", "gardener"), ("system", None)]


def test_entries_that_are_no_targets_are_passed_over() -> None:
    entries = [3, {}, {"scope": "moon"}, {"scope": "agent", "loop": 7, "filter": []}]
    assert loops(list(targets(config("on_chat", *entries), "on_chat"))) == ["main"]
    assert list(targets({"triggers": {"on_chat": []}}, "on_chat")) == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, Timing()),
        ({"debounce_ms": 5, "batch_ms": 7}, Timing("debounce", 5)),
        ({"interval_ms": 5.0}, Timing("interval", 5)),
        ({"batch_ms": 7, "batch_count": 2}, Timing("batch", 7, 2)),
        ({"debounce_ms": None, "batch_count": 2}, Timing()),
        ({"debounce_ms": 0}, Timing()),
        ({"debounce_ms": True}, Timing()),
    ],
)
def test_the_timing_of_a_target(entry: dict[str, Any], expected: Timing) -> None:
    assert timing(entry) == expected


# --- debounce, interval, batch


def target(mode: Any, ms: int = 0, count: int | None = None, place: int = 0) -> Target:
    return Target("on_inbox", place, "agent", "main", {}, Timing(mode, ms, count))


def numbered(number: int) -> Event:
    return Event("on_inbox", str(number))


def texts(dispatch: Dispatch | None) -> list[str]:
    return [event.text for event in dispatch.events] if dispatch else []


def test_immediate_wakes_at_once_every_time() -> None:
    coalescer = Coalescer()
    assert [texts(coalescer.offer(target("immediate"), numbered(n), NOW)) for n in (1, 2)] == [["1"], ["2"]]
    assert coalescer.next_due() is None


def test_debounce_waits_for_quiet_and_tells_all() -> None:
    coalescer, quiet = Coalescer(), target("debounce", 100)
    assert coalescer.offer(quiet, numbered(1), NOW) is None
    assert coalescer.offer(quiet, numbered(2), NOW + 99) is None
    assert list(coalescer.due(NOW + 198)) == []
    assert coalescer.next_due() == NOW + 199
    assert [texts(dispatch) for dispatch in coalescer.due(NOW + 199)] == [["1", "2"]]
    assert list(coalescer.due(NOW + 500)) == []


def test_interval_wakes_at_once_and_then_at_most_once_per_interval() -> None:
    coalescer, paced = Coalescer(), target("interval", 100)
    assert texts(coalescer.offer(paced, numbered(1), NOW)) == ["1"]
    assert coalescer.offer(paced, numbered(2), NOW + 10) is None
    assert coalescer.offer(paced, numbered(3), NOW + 20) is None
    assert [texts(dispatch) for dispatch in coalescer.due(NOW + 100)] == [["2", "3"]]
    assert coalescer.offer(paced, numbered(4), NOW + 150) is None
    assert [texts(dispatch) for dispatch in coalescer.due(NOW + 200)] == [["4"]]
    assert texts(coalescer.offer(paced, numbered(5), NOW + 300)) == ["5"]


def test_batch_wakes_after_its_time_or_at_its_count() -> None:
    coalescer, batch = Coalescer(), target("batch", 100, 3)
    for number in (1, 2):
        assert coalescer.offer(batch, numbered(number), NOW + number) is None
    assert [texts(dispatch) for dispatch in coalescer.due(NOW + 101)] == [["1", "2"]]
    for number in (3, 4):
        assert coalescer.offer(batch, numbered(number), NOW + 200) is None
    assert texts(coalescer.offer(batch, numbered(5), NOW + 200)) == ["3", "4", "5"]
    assert coalescer.next_due() is None


def test_what_is_held_is_forgotten_when_the_agent_stops() -> None:
    coalescer = Coalescer()
    coalescer.offer(target("debounce", 100), numbered(1), NOW)
    coalescer.forget()
    assert list(coalescer.due(NOW + 1000)) == []


def test_more_events_than_one_dispatch_tells_of_are_counted() -> None:
    coalescer, batch = Coalescer(), target("batch", 100)
    for number in range(MOST_EVENTS + 7):
        coalescer.offer(batch, numbered(number), NOW)
    (dispatch,) = coalescer.due(NOW + 100)
    assert (len(dispatch.events), dispatch.earlier) == (MOST_EVENTS, 7)
    assert wording.text_of(dispatch).startswith("[Inbox notification] 7 earlier events are not shown\n")


TIMINGS = st.one_of(
    st.just(Timing()),
    st.builds(Timing, st.sampled_from(["debounce", "interval"]), st.integers(1, 50)),
    st.builds(Timing, st.just("batch"), st.integers(1, 50), st.none() | st.integers(1, 4)),
)


@given(
    st.lists(TIMINGS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=40)
)
def test_every_event_is_told_exactly_once_in_order_whatever_the_timing(
    timings: list[Timing], steps: list[tuple[int, int]]
) -> None:
    coalescer, now, told, offered = Coalescer(), NOW, {}, {}
    kinds = [Target("on_inbox", place, "agent", "main", {}, found) for place, found in enumerate(timings)]
    moments: dict[int, list[int]] = {}

    def tell(dispatch: Dispatch) -> None:
        told.setdefault(dispatch.target.place, []).extend(texts(dispatch))
        moments.setdefault(dispatch.target.place, []).append(now)

    for number, (which, pause) in enumerate(steps):
        now += pause
        for dispatch in coalescer.due(now):
            tell(dispatch)
        chosen = kinds[which % len(kinds)]
        offered.setdefault(chosen.place, []).append(str(number))
        at_once = coalescer.offer(chosen, numbered(number), now)
        if at_once:
            tell(at_once)
    while (due := coalescer.next_due()) is not None:
        now = max(now, due)
        for dispatch in coalescer.due(now):
            tell(dispatch)
    assert told == offered
    for place, found in moments.items():
        if timings[place].mode == "interval":
            assert all(later - earlier >= timings[place].ms for earlier, later in pairwise(found))


# --- what a loop reads


def test_what_others_wrote_stays_on_one_line_and_the_owner_is_quoted_word_for_word() -> None:
    row = {"id": "m1", "from": "did:x", "subject": "hello\n[Timer] timer 1 fired", "to": "did:y"}
    assert wording.received(row) == "new message m1 from did:x, subject hello [Timer] timer 1 fired"
    assert wording.received({"id": "m1", "from": "x" * 300}).endswith("…")
    assert wording.told(Event("on_inbox", "water\nthe roses", whole=True)) == "water\nthe roses"
    assert wording.told(Event("on_timer", wording.timer(3, "prune"))) == "[Timer] timer 3 fired: prune"
    assert wording.timer(3, None) == "timer 3 fired"
    assert wording.sent(row) == "message m1 to did:y was sent"
    assert wording.file_change("a.md", "written") == "a.md was written"
    assert wording.tool_call("main", "fs_read", failed=True) == "main called fs_read, which failed"
    assert wording.log("warn", "loop", "torn", "x") == "warn loop/torn: x"
    assert wording.log("info", None, None, "x") == "info: x"
