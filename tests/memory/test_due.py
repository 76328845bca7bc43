"""When a distillation is due: zones, changes of the clocks, boundaries (MEM-090 to MEM-094, MEM-100)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.memory.distill.due import Last, Note, Recorded, Thresholds, due, key, unprocessed

BERLIN, TOKYO, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")
LAST = datetime(2026, 4, 1, 10, 0, tzinfo=UTC)


def note(day: str, *, sha: str = "a", changed: datetime = LAST, empty: bool = False) -> Note:
    return Note(f"memory/{day}.md", date.fromisoformat(day[:10]), sha, 1, changed, empty)


def waiting(notes: list[Note], last: Last, now: datetime) -> dict[str, str]:
    return {key(one.note): one.why for one in unprocessed(notes, last, now)}


def test_without_a_last_time_all_notes_up_to_today_wait() -> None:
    """MEM-091 (a): fires for every note that is not empty and not dated in the future."""
    notes = [note("2026-04-03"), note("2025-01-01"), note("2026-04-02"), note("2026-04-01", empty=True)]
    assert waiting(notes, Last(), datetime(2026, 4, 2, 12, tzinfo=UTC)) == {"2025-01-01": "new", "2026-04-02": "new"}


def test_notes_after_the_last_day_wait() -> None:
    """MEM-091 (b), and silent on older ones without a record."""
    notes = [note("2026-03-31", changed=LAST + timedelta(days=3)), note("2026-04-02")]
    assert waiting(notes, Last(LAST), LAST + timedelta(days=2)) == {"2026-04-02": "new"}


def test_what_is_appended_on_the_day_of_a_distillation_is_not_lost() -> None:
    """MEM-092: distilled at 10:00, appended at 15:00; silent if nothing was appended."""
    now = LAST + timedelta(hours=6)
    assert waiting([note("2026-04-01", changed=LAST + timedelta(hours=5))], Last(LAST), now) == {
        "2026-04-01": "changed"
    }
    assert waiting([note("2026-04-01", changed=LAST - timedelta(hours=1))], Last(LAST), now) == {}


def test_a_recorded_hash_counts_more_than_a_time() -> None:
    """MEM-091 (c): a touched file with the same text does not wait; an altered one with an old time does."""
    last, now = Last(LAST, {"2026-04-01": Recorded("a", 1)}), LAST + timedelta(hours=6)
    assert waiting([note("2026-04-01", sha="a", changed=now)], last, now) == {}
    assert waiting([note("2026-04-01", sha="b", changed=LAST - timedelta(days=1))], last, now) == {
        "2026-04-01": "changed"
    }


def test_late_edits_are_found_by_their_hash() -> None:
    """MEM-091 (d): only a recorded hash tells; an equal one and an unrecorded note are silent."""
    last, now = Last(LAST, {"2026-03-20": Recorded("a", 1), "2026-03-21": Recorded("a", 1)}), LAST + timedelta(days=1)
    notes = [note("2026-03-20", sha="b"), note("2026-03-21", sha="a"), note("2026-03-22", sha="c", changed=now)]
    assert waiting(notes, last, now) == {"2026-03-20": "late-edit"}


def test_the_day_is_that_of_the_zone() -> None:
    """MEM-094: 23:30 UTC is tomorrow in Tokyo and yesterday's evening in New York."""
    last = Last(datetime(2026, 4, 1, 23, 30, tzinfo=UTC))
    notes = [note("2026-04-01", changed=LAST), note("2026-04-02", changed=LAST)]
    later = datetime(2026, 4, 2, 20, 0, tzinfo=UTC)
    assert waiting(notes, last, later.astimezone(TOKYO)) == {}
    assert waiting(notes, last, later.astimezone(NEW_YORK)) == {"2026-04-02": "new"}


def test_exactly_the_same_text_never_waits_again_after_a_move_to_another_zone() -> None:
    """Distilled in Tokyo on the 2nd, which is still the 1st in New York."""
    last = Last(datetime(2026, 4, 1, 23, 30, tzinfo=UTC), {"2026-04-02": Recorded("a", 1)})
    now = datetime(2026, 4, 2, 20, 0, tzinfo=UTC).astimezone(NEW_YORK)
    assert waiting([note("2026-04-02", sha="a")], last, now) == {}
    assert waiting([note("2026-04-02", sha="b")], last, now) == {"2026-04-02": "new"}


def test_today_begins_with_the_zone() -> None:
    """MEM-091: a note of tomorrow never counts, and what is tomorrow is said by the zone."""
    now = datetime(2026, 4, 1, 23, 0, tzinfo=UTC)
    assert waiting([note("2026-04-02")], Last(), now) == {}
    assert waiting([note("2026-04-02")], Last(), now.astimezone(BERLIN)) == {"2026-04-02": "new"}


def three(day: int = 1) -> list[Note]:
    return [note(f"2026-04-{number:02}") for number in range(day + 1, day + 4)]


@pytest.mark.parametrize(
    ("since", "expected"),
    [(timedelta(hours=48), True), (timedelta(hours=47, minutes=59), False), (timedelta(hours=47, seconds=3599), False)],
)
def test_the_heartbeat_needs_48_hours(since: timedelta, expected: bool) -> None:
    """MEM-090, MEM-094: exactly 48 hours count, a minute or a second less does not."""
    notes = [note(f"2026-03-{day}", sha="b") for day in (20, 21, 22)]
    last = Last(LAST, {key(one): Recorded("a", 1) for one in notes})
    found = due(notes, last, LAST + since)
    assert (found.heartbeat, found.due) == (expected, expected)


def test_the_heartbeat_needs_three_notes_that_say_something() -> None:
    """MEM-094: three notes of which one is empty do not count."""
    now = LAST + timedelta(days=4)
    notes = three()
    assert due(notes, Last(LAST), now).heartbeat
    assert not due([*notes[:2], note("2026-04-04", empty=True)], Last(LAST), now).due


def test_a_week_needs_one_note() -> None:
    """MEM-093: seven days and one note; silent without a note, and a second before."""
    one = [note("2026-04-02")]
    assert due(one, Last(LAST), LAST + timedelta(days=7)).weekly
    assert not due(one, Last(LAST), LAST + timedelta(days=7, seconds=-1)).due
    assert not due([], Last(LAST), LAST + timedelta(days=70)).due


def test_never_distilled() -> None:
    """MEM-093: one note is due by the week, three by the heartbeat too, none not at all."""
    now = datetime(2026, 4, 9, tzinfo=UTC)
    assert (due(three()[:1], Last(), now).weekly, due(three()[:1], Last(), now).heartbeat) == (True, False)
    assert due(three(), Last(), now).heartbeat
    assert due([], Last(), now).document()["hoursSince"] is None
    assert not due([], Last(), now).due


def test_a_last_time_in_the_future_is_an_error_and_means_no() -> None:
    """MEM-094."""
    found = due(three(), Last(datetime(2026, 5, 1, tzinfo=UTC)), datetime(2026, 4, 20, tzinfo=UTC))
    assert (found.due, found.heartbeat, found.weekly) == (False, False, False)
    assert found.error is not None
    assert "future" in found.error


@pytest.mark.parametrize(
    ("zone", "before"),
    [(BERLIN, datetime(2026, 3, 28, 12, tzinfo=BERLIN)), (NEW_YORK, datetime(2026, 10, 31, 12, tzinfo=NEW_YORK))],
)
def test_a_change_of_the_clocks_alters_no_hour(zone: ZoneInfo, before: datetime) -> None:
    """MEM-094: two days by the wall clock are 47 hours in spring and 49 in autumn."""
    two_days = datetime(before.year, before.month, before.day, 12, tzinfo=zone) + timedelta(days=2)  # wall clock
    real = (two_days.astimezone(UTC) - before.astimezone(UTC)) / timedelta(hours=1)
    assert real != 48
    found = due([], Last(before.astimezone(UTC)), two_days)
    assert found.hours == real
    assert (
        due([], Last(before.astimezone(UTC)), (before.astimezone(UTC) + timedelta(hours=48)).astimezone(zone)).hours
        == 48
    )


def test_both_times_in_one_zone_are_compared_as_instants() -> None:
    """MEM-094: Python subtracts two times of one zone by the wall clock; we must not."""
    before = datetime(2026, 3, 28, 12, tzinfo=BERLIN)
    assert due([], Last(before), datetime(2026, 3, 30, 12, tzinfo=BERLIN)).hours == 47


def test_thresholds_are_honoured_even_zero() -> None:
    """MEM-093."""
    now = LAST + timedelta(minutes=1)
    one = [note("2026-04-01", changed=now)]
    assert not due(one, Last(LAST), now).due
    assert due(one, Last(LAST), now, Thresholds(hours=0, notes=1)).heartbeat
    assert due([], Last(LAST), now, Thresholds(hours=0, notes=0)).heartbeat
    assert due(one, Last(LAST), now, Thresholds(weekly_days=0)).weekly


def test_overdue_only_with_notes() -> None:
    """MEM-100: 96 hours since the last one; silent without notes, before, and if there never was one."""
    one = [note("2026-04-02")]
    assert due(one, Last(LAST), LAST + timedelta(hours=96)).overdue
    assert not due(one, Last(LAST), LAST + timedelta(hours=95, minutes=59)).overdue
    assert not due([], Last(LAST), LAST + timedelta(hours=96)).overdue
    assert not due(one, Last(), LAST).overdue


def test_a_variant_has_a_record_of_its_own() -> None:
    """D10: `2026-04-01-standup.md` is another note of that day."""
    variant = note("2026-04-01-standup", sha="b", changed=LAST - timedelta(days=1))
    last = Last(LAST, {"2026-04-01": Recorded("a", 1), "2026-04-01-standup": Recorded("b", 1)})
    assert key(variant) == "2026-04-01-standup"
    assert waiting([variant], last, LAST) == {}


def test_the_document() -> None:
    """MEM-093: the keys that scripts read."""
    found = due(three(), Last(LAST), LAST + timedelta(days=4)).document()
    assert found["unprocessed"] == ["memory/2026-04-02.md", "memory/2026-04-03.md", "memory/2026-04-04.md"]
    assert (found["due"], found["hoursSince"], found["triggers"]) == (True, 96, {"heartbeat": True, "weekly": False})


seconds = st.integers(1_577_836_800, 1_893_456_000)
moments = st.builds(datetime.fromtimestamp, seconds, st.sampled_from([UTC, BERLIN, TOKYO]))


@given(st.lists(st.dates(date(2020, 1, 1), date(2030, 1, 1)), max_size=6), moments, moments)
def test_due_follows_from_what_it_says(days: list[date], last: datetime, now: datetime) -> None:
    """Whatever the times: the reasons and the verdict agree, and nothing of the future waits."""
    notes = [Note(f"memory/{day}.md", day, "x", 1, now, False) for day in days]
    found = due(notes, Last(last), now)
    assert found.due == (found.heartbeat or found.weekly)
    assert all(one.note.day <= now.date() for one in found.unprocessed)
    assert found.due <= bool(found.unprocessed)
    assert found.hours == pytest.approx((now.timestamp() - last.timestamp()) / 3600)
