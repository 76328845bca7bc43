"""Timers: schedules, firing, expiry, what is missed, and the loop stamp (loops.md 7, config.md 4.1)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import schemas
from adf_format.runtime.timers.model import Held, Timer, scope_of, stamp
from adf_format.runtime.timers.schedule import LATEST_MS, Schedule, ScheduleError

NOW = 1_767_225_600_000  # 2026-01-01T00:00:00Z, a Thursday
MINUTE = 60_000


def interval(every: int, **more: int) -> Schedule:
    return Schedule("interval", every_ms=every, **more)


def timer(number: int = 1, wake: int = NOW, schedule: str = '{"mode":"once","at":1}', **more: Any) -> Timer:
    return Timer(number, schedule, wake, ("agent",), **more)


TIMES = st.integers(1, LATEST_MS)
SCHEDULES = st.one_of(
    st.builds(Schedule, st.just("once"), at=TIMES),
    st.builds(
        Schedule,
        st.just("interval"),
        every_ms=st.integers(1, 10**12),
        start_at=st.none() | TIMES,
        end_at=st.none() | TIMES,
        max_runs=st.none() | st.integers(1, 5),
    ),
    st.builds(
        Schedule,
        st.just("cron"),
        cron=st.sampled_from(["* * * * *", "0 9 * * 1", "*/7 3 1 * *", "0 0 29 2 *"]),
        end_at=st.none() | TIMES,
        max_runs=st.none() | st.integers(1, 5),
    ),
)


@given(SCHEDULES)
def test_a_stored_schedule_is_read_back_and_keeps_its_schema(schedule: Schedule) -> None:
    stored = schedule.as_json()
    assert Schedule.stored(stored) == schedule
    assert schemas.checker("urn:adf-format:values:timer-schedule:21").is_valid(stored)
    assert None not in stored.values()


@given(SCHEDULES, TIMES, TIMES, st.integers(1, 6))
def test_a_firing_is_followed_by_a_later_one_or_by_none(schedule: Schedule, due: int, now: int, runs: int) -> None:
    due, now = min(due, now), max(due, now)
    following = schedule.following(due, now, runs)
    if following is not None:
        assert now < following <= LATEST_MS
        assert schedule.end_at is None or following <= schedule.end_at
        assert schedule.max_runs is None or runs < schedule.max_runs
    first = schedule.first(now)
    assert first is None or first >= now or schedule.mode == "once"


@given(st.integers(1, 10**9), TIMES, st.integers(0, 10**12))
def test_an_interval_keeps_its_rhythm_however_late_it_is_looked_at(every: int, due: int, late: int) -> None:
    following = interval(every).following(due, due + late, 1)
    assert following is None or ((following - due) % every == 0 and following - (due + late) <= every)


def test_an_interval_begins_after_one_period_or_at_its_start_or_on_the_grid_of_a_start_that_is_past() -> None:
    assert interval(MINUTE).first(NOW) == NOW + MINUTE
    assert interval(MINUTE, start_at=NOW + 5).first(NOW) == NOW + 5
    assert interval(MINUTE, start_at=NOW - 5).first(NOW) == NOW - 5 + MINUTE
    assert interval(MINUTE, end_at=NOW + 1).first(NOW) is None


def test_cron_is_read_in_utc_and_begins_after_now() -> None:
    nine = Schedule("cron", cron="0 9 * * 1").first(NOW)
    assert nine is not None
    assert datetime.fromtimestamp(nine / 1000, UTC) == datetime(2026, 1, 5, 9, tzinfo=UTC)
    assert Schedule("cron", cron="* * * * *").following(NOW, NOW + 5 * MINUTE, 1) == NOW + 6 * MINUTE


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"mode": "sometimes"},
        {"mode": "once"},
        {"mode": "once", "at": 0},
        {"mode": "once", "at": True},
        {"mode": "once", "at": 1.5},
        {"mode": "once", "at": LATEST_MS + 1},
        {"mode": "interval"},
        {"mode": "interval", "every_ms": "5"},
        {"mode": "interval", "every_ms": 5, "max_runs": 0},
        {"mode": "cron"},
        {"mode": "cron", "cron": ""},
        {"mode": "cron", "cron": "@daily"},
        {"mode": "cron", "cron": "0 0 0 * * *"},
        {"mode": "cron", "cron": "0 0 30 2 *"},
    ],
)
def test_what_is_no_schedule_is_refused(value: Any) -> None:
    with pytest.raises(ScheduleError):
        Schedule.stored(value)


def test_a_delay_becomes_a_moment_and_null_counts_as_absent() -> None:
    assert Schedule.asked({"type": "delay", "delay_ms": 500}, NOW) == Schedule("once", at=NOW + 500)
    assert Schedule.asked({"type": "once", "at": 7}, NOW) == Schedule("once", at=7)
    wish = {"type": "interval", "every_ms": 5, "start_at": None, "at": 3, "cron": "x"}
    assert Schedule.asked(wish, NOW).as_json() == {"mode": "interval", "every_ms": 5}
    for wrong in ({}, {"type": "delay"}, {"type": "delay", "delay_ms": -1}, {"mode": "once", "at": 5}):
        with pytest.raises(ScheduleError):
            Schedule.asked(wrong, NOW)


def test_a_once_timer_expires_when_it_fires_and_its_row_stays() -> None:
    (firing,) = Held().due([timer()], NOW, lambda _: None)
    assert firing.after == Timer(1, '{"mode":"once","at":1}', NOW, ("agent",), None, None, None, 1, NOW, False, True)
    assert list(Held().due([firing.after], NOW + 1, lambda _: None)) == []


def test_what_was_missed_fires_once_and_the_rhythm_goes_on() -> None:
    every = '{"mode":"interval","every_ms":1000}'
    (firing,) = Held().due([timer(schedule=every, wake=NOW)], NOW + 10_500, lambda _: None)
    assert (firing.after.next_wake_at, firing.after.run_count, firing.after.expired) == (NOW + 11_000, 1, False)


def test_a_recurring_timer_that_has_run_its_course_expires_and_stays() -> None:
    twice = '{"mode":"interval","every_ms":1000,"max_runs":2}'
    (first,) = Held().due([timer(schedule=twice)], NOW, lambda _: None)
    (second,) = Held().due([first.after], NOW + 1000, lambda _: None)
    assert [first.after.expired, second.after.expired] == [False, True]


def test_a_schedule_that_cannot_be_read_fires_once_and_no_more() -> None:
    for text in ("{", "[]", '{"mode":"cron","cron":"x"}'):
        (firing,) = Held().due([timer(schedule=text)], NOW, lambda _: "gone")
        assert firing.after.expired


def test_due_timers_come_in_the_order_of_their_moments() -> None:
    timers = [timer(1, NOW + 5), timer(2, NOW), timer(3, NOW + 5), timer(4, NOW + 50)]
    assert [firing.before.id for firing in Held().due(timers, NOW + 10, lambda _: None)] == [2, 1, 3]
    assert Held().next_due(timers) == NOW


def test_loop_242_a_dropped_once_timer_waits_unexpired_is_told_of_once_and_fires_later() -> None:
    held, waiting = Held(), timer(loop="gardener")
    (dropped,) = held.due([waiting], NOW, lambda _: "disabled")
    assert (dropped.dropped, dropped.after) == ("disabled", waiting)
    assert list(held.due([waiting], NOW + 1, lambda _: "disabled")) == []
    assert held.next_due([waiting]) is None
    assert list(held.due([waiting], NOW + 2, lambda _: "no such loop")) == []
    (fired,) = held.due([waiting], NOW + 3, lambda _: None)
    assert (fired.dropped, fired.after.expired) == (None, True)
    assert held.next_due([waiting]) == NOW


def test_loop_242_a_recurring_timer_loses_the_firing_that_is_dropped() -> None:
    (dropped,) = Held().due([timer(schedule='{"mode":"interval","every_ms":1000}')], NOW, lambda _: "disabled")
    assert (dropped.dropped, dropped.after.next_wake_at) == ("disabled", NOW + 1000)


def test_loop_235_only_agent_scope_keeps_the_loop() -> None:
    assert stamp(("system",), "gardener") is None
    assert stamp(("agent",), "gardener") == "gardener"
    assert stamp(("system", "agent"), "gardener") == "gardener"
    assert stamp(("agent",), None) is None


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ('["system"]', ("system",)),
        ('["agent","system","agent"]', ("agent", "system")),
        ("agent", ("agent",)),
        ("document", ("system",)),
        ('"agent"', ("agent",)),
        ("[]", ("system",)),
        ('["moon"]', ("system",)),
        (None, ("system",)),
    ],
)
def test_scopes_of_all_ages_are_read(text: Any, scope: tuple[str, ...]) -> None:
    assert scope_of(text) == scope
