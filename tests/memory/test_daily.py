"""Starting a memory, notes, tasks, channels (MEM-010 to 016, MEM-040 to 042, MEM-050 to 064)."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from adf_format.errors import UnreadableError, UsageError
from adf_format.memory import notes, starting, tasks, zone
from adf_format.memory.folder import Folder, channel_file, role_of
from tests.memory import trees

NOW = datetime(2026, 4, 1, 10, 0, tzinfo=UTC)
TRACKER = "memory/pending_tasks.json"


def now() -> datetime:
    return NOW


@pytest.fixture
def work(tmp_path: Path) -> Path:
    starting.start_workspace(tmp_path / "work", NOW)
    return tmp_path / "work"


# ---- init


def test_a_fresh_workspace_has_the_full_set(work: Path) -> None:
    """MEM-060, MEM-061: three layers, tracker, state, folder of channels, with their headings."""
    assert set(trees.read(work)) == {
        "MEMORY.md", "memory/", "memory/2026-04-01.md", "memory/active_context.md", "memory/channel_context/",
        "memory/distillation-state.json", "memory/pending_tasks.json",
    }  # fmt: skip
    assert (work / "memory/2026-04-01.md").read_text() == (
        "# 2026-04-01\n\n## Tasks\n\n## Decisions\n\n## Learned\n\n## Blockers\n"
    )
    assert json.loads((work / TRACKER).read_text()) == {"lastUpdated": None, "tasks": []}
    assert json.loads((work / "memory/distillation-state.json").read_text()) == {"lastConsolidatedAt": None}
    assert "## Blocked / Waiting" in (work / "memory/active_context.md").read_text()
    assert Folder(work).recognised


def test_a_second_run_makes_nothing(work: Path) -> None:
    """MEM-062: bytes, time and mode of everything stay; all is reported as skipped."""
    (work / "MEMORY.md").write_text("mine")
    (work / "MEMORY.md").chmod(0o600)
    before = trees.read(work)
    done = starting.start_workspace(work, NOW)
    assert (done.created, done.errors) == ([], [])
    assert len(done.skipped) == 7
    assert trees.read(work) == before


def test_what_is_there_of_any_kind_is_skipped(tmp_path: Path) -> None:
    """MEM-062: a dangling link too."""
    (tmp_path / "MEMORY.md").symlink_to("nowhere.md")
    done = starting.start_workspace(tmp_path, NOW)
    assert "MEMORY.md" in done.skipped
    assert not (tmp_path / "nowhere.md").exists()


@pytest.mark.parametrize(
    ("blocker", "made"), [("memory", []), ("memory/channel_context", []), ("memory/active_context.md/", None)]
)
def test_the_wrong_kind_stops_the_work(tmp_path: Path, blocker: str, made: list[str] | None) -> None:
    """MEM-063: the path is named, and nothing after it is made."""
    place = tmp_path / blocker
    place.parent.mkdir(exist_ok=True)
    if blocker.endswith("/"):
        place.mkdir()
    else:
        place.write_text("file")
    done = starting.start_workspace(tmp_path, NOW)
    assert done.errors[0].startswith(blocker.rstrip("/"))
    assert not (tmp_path / TRACKER).exists()
    assert made is None or done.created == made


def test_a_dry_run_says_the_same(tmp_path: Path) -> None:
    """MEM-063."""
    shown = starting.start_workspace(tmp_path / "new", NOW, dry_run=True, agents=True)
    assert not (tmp_path / "new").exists()
    assert starting.start_workspace(tmp_path / "new", NOW, agents=True).document() == shown.document()


def test_the_order_of_loading_stands_between_markers(work: Path) -> None:
    """MEM-064: a second run replaces only what is between them."""
    (work / "AGENTS.md").write_text("# Mine\n")
    starting.start_workspace(work, NOW, agents=True)
    text = (work / "AGENTS.md").read_text()
    assert text.startswith("# Mine\n\n<!-- adf-format:memory begin -->\n")
    (work / "AGENTS.md").write_text(text.replace("active_context", "old") + "after\n")
    assert starting.start_workspace(work, NOW, agents=True).created == ["AGENTS.md"]
    assert (work / "AGENTS.md").read_text() == text + "after\n"
    assert starting.start_workspace(work, NOW, agents=True).created == []


def test_no_place_for_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "no" / "parent"):
        with pytest.raises(UnreadableError):
            starting.start_workspace(path, NOW)


def mind(path: Path) -> dict[str, bytes]:
    connection = apsw.Connection(str(path))
    found = dict(connection.execute("SELECT path, content FROM adf_files WHERE path GLOB 'mind*'").fetchall())
    connection.close()
    return found


@pytest.mark.parametrize(
    ("damage", "made"),
    [
        ("DELETE FROM adf_files WHERE path = 'mind/log.md'", ["mind/log.md"]),
        ("UPDATE adf_files SET content = x'EFBBBF0A20' WHERE path = 'mind.md'", ["mind.md"]),
        ("DELETE FROM adf_files WHERE path GLOB 'mind*'", ["mind.md", "mind/log.md"]),
        ("UPDATE adf_files SET content = x'' WHERE path = 'mind/log.md'", []),
        ("UPDATE adf_files SET content = 'mine' WHERE path = 'mind.md'", []),
    ],
)
def test_what_is_missing_of_a_mind_is_seeded(tmp_path: Path, damage: str, made: list[str]) -> None:
    """MEM-112: an absent log, an absent or blank index; nothing else is ever replaced."""
    path = trees.agent(tmp_path / "a.adf")
    connection = apsw.Connection(str(path))
    connection.execute(damage)
    connection.close()
    before = mind(path)
    assert starting.start_mind(path, NOW, dry_run=True).created == made
    assert mind(path) == before
    assert starting.start_mind(path, NOW, backup=False).created == made
    after = mind(path)
    assert {name: after[name] for name in before if name not in made} == {
        name: before[name] for name in before if name not in made
    }
    assert all(after[name] for name in made)
    content = path.read_bytes()
    assert starting.start_mind(path, NOW).created == []
    assert path.read_bytes() == content


# ---- notes


def test_a_note_is_added_under_its_section(work: Path) -> None:
    """MEM-014: no other byte changes."""
    added = notes.add_note(work, "Chose SQLite", now, section="Decisions")
    assert (added.path, added.line, added.created) == ("memory/2026-04-01.md", 7, False)
    assert (work / "memory/2026-04-01.md").read_text().splitlines()[4:9] == [
        "## Decisions", "", "- Chose SQLite", "", "## Learned",
    ]  # fmt: skip
    second = notes.add_note(work, "Chose uv", now, section="Decisions")
    assert second.line == 8


def test_a_note_of_a_new_day_has_its_title(work: Path) -> None:
    """MEM-010, MEM-011: file and section are made."""
    added = notes.add_note(work, "one", lambda: NOW + timedelta(days=1))
    assert added.created
    assert (work / "memory/2026-04-02.md").read_text() == "# 2026-04-02\n\n## Tasks\n\n- one\n"


def test_the_day_is_that_of_the_zone(work: Path) -> None:
    """MEM-014: 20:00 UTC is the next day in Tokyo."""
    moment = datetime(2026, 4, 1, 20, 0, tzinfo=UTC).astimezone(ZoneInfo("Asia/Tokyo"))
    assert notes.add_note(work, "x", lambda: moment).path == "memory/2026-04-02.md"


def test_an_earlier_day_but_no_later_one(work: Path) -> None:
    """MEM-016: the tool supplies the date; the future is refused."""
    assert notes.add_note(work, "x", now, day=date(2026, 3, 30)).path == "memory/2026-03-30.md"
    with pytest.raises(UsageError, match="future"):
        notes.add_note(work, "x", now, day=date(2026, 4, 2))


def test_a_secret_is_not_written(work: Path) -> None:
    """MEM-081, MEM-082: nor repeated in the message; a path to it is fine."""
    before = trees.read(work)
    secret = "gh" + "p_" + "A1b2" * 9
    for text in (f"token is {secret}", "password: Tr0ub4dor&3"):
        with pytest.raises(UsageError, match="secret") as caught:
            notes.add_note(work, text, now)
        assert secret not in str(caught.value)
    assert trees.read(work) == before
    notes.add_note(work, "Auth: see ~/.secrets/service.env; rotate the API key", now)


@pytest.mark.parametrize("section", ["", "a\nb", "a\0"])
def test_a_section_is_one_line(work: Path, section: str) -> None:
    with pytest.raises(UsageError):
        notes.add_note(work, "x", now, section=section)


def test_a_note_that_is_no_text_is_not_edited(work: Path) -> None:
    """MEM-006: reported, never rewritten."""
    (work / "memory/2026-04-01.md").write_bytes(b"# caf\xe9\n")
    with pytest.raises(UnreadableError, match="UTF-8"):
        notes.add_note(work, "x", now)
    assert (work / "memory/2026-04-01.md").read_bytes() == b"# caf\xe9\n"


def test_a_link_out_of_the_workspace_is_not_followed(work: Path, tmp_path: Path) -> None:
    """MEM-006."""
    (tmp_path / "outside.md").write_text("theirs")
    (work / "memory/2026-04-01.md").unlink()
    (work / "memory/2026-04-01.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(UnreadableError, match="leads out"):
        notes.add_note(work, "x", now)
    assert (tmp_path / "outside.md").read_text() == "theirs"


def test_a_channel_has_its_file(work: Path) -> None:
    """MEM-040, MEM-042: the name is kept in the title, a decision gets its date."""
    added = notes.add_to_channel(work, "#Ops Team", "CI approved\nfor all", now, section="Recent Decisions")
    assert added.path == "memory/channel_context/ops-team.md"
    notes.add_to_channel(work, "ops team", "migration", now, section="Current Topics")
    assert (work / added.path).read_text() == (
        "# Ops Team\n\n## Current Topics\n\n- migration\n\n"
        "## Recent Decisions\n\n- CI approved (2026-04-01)\n  for all\n"
    )


def test_two_channels_never_share_a_file(work: Path) -> None:
    """MEM-042: names that fold to one file are an error; names that differ by a digit are two files."""
    notes.add_to_channel(work, "a.b", "x", now, section="Current Topics")
    with pytest.raises(UnreadableError, match=r"of the channel 'a\.b'"):
        notes.add_to_channel(work, "a b", "x", now, section="Current Topics")
    assert notes.add_to_channel(work, "a.b2", "x", now, section="Current Topics").created


@pytest.mark.parametrize("name", ["", "#", "..", "/", "   "])
def test_a_channel_needs_a_name(name: str) -> None:
    with pytest.raises(UsageError):
        channel_file(name)


def test_roles_of_files() -> None:
    """MEM-002, MEM-010, MEM-043, D10."""
    roles = {
        "MEMORY.md": "long_term", "memory/2028-02-29.md": "daily", "memory/2026-02-30.md": "other",
        "memory/2026-04-01-standup.md": "daily", "memory/channel_context/README.md": "other",
        "memory/channel_context/ops.md": "channel", "memory/sub/2026-04-01.md": "other", "memory/x.md": "other",
        "memory/pending_tasks.json": "tasks", "memory/distillation-state.json": "state",
    }  # fmt: skip
    assert {path: role_of(path) for path in roles} == roles


def test_what_is_a_workspace(tmp_path: Path) -> None:
    """MEM-004: the folder and one of the core files."""
    for files, expected in (
        ({"memory/x.md": ""}, False),
        ({"MEMORY.md": ""}, False),
        ({"MEMORY.md": "", "memory/x": ""}, True),
        ({"memory/active_context.md": ""}, True),
        ({"memory/2026-04-01.md": ""}, True),
    ):
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        assert Folder(trees.write(root, files)).recognised is expected  # type: ignore[arg-type]


# ---- tasks


def test_a_task_is_added_and_listed(work: Path) -> None:
    """MEM-050, MEM-055: eight hex digits, UTC in whole seconds; the list hides what is done."""
    made = tasks.add(work, " Ship ", lambda: NOW.astimezone(ZoneInfo("Asia/Tokyo")), priority="high", note="soon")
    assert len(made["id"]) == 8
    assert made | {"id": ""} == {
        "id": "", "title": "Ship", "status": "pending", "priority": "high", "createdAt": "2026-04-01T10:00:00Z",
        "note": "soon",
    }  # fmt: skip
    document = json.loads((work / TRACKER).read_text())
    assert document == {"lastUpdated": "2026-04-01T10:00:00Z", "tasks": [made]}
    assert tasks.load(work).listed() == [made]


def test_the_list_has_the_most_urgent_and_oldest_first(work: Path) -> None:
    """MEM-054."""
    for title, priority, hour in (("a", "low", 1), ("b", "normal", 3), ("c", "critical", 5), ("d", "normal", 2)):
        tasks.add(work, title, lambda hour=hour: NOW.replace(hour=hour), priority=priority)  # type: ignore[misc]
    assert [one["title"] for one in tasks.load(work).listed()] == ["c", "d", "b", "a"]


FILE = (
    '{\r\n\t"x": 1.0,\r\n\t"tasks": [\r\n\t\t{"id": "ab1", "title": "T", "status": "pending", "z": 1e3,'
    ' "createdAt": "2026-03-01T00:00:00Z"},\r\n\t\t{"id": "ab2", "title": "U", "status": "blocked",'
    ' "createdAt": "2026-03-01T00:00:00Z"}\r\n\t],\r\n\t"lastUpdated": ""\r\n}'
)


def test_what_we_do_not_know_stays_byte_for_byte(work: Path) -> None:
    """MEM-053: order, layout, odd numbers, line endings, BOM; one value changes."""
    (work / TRACKER).write_bytes(b"\xef\xbb\xbf" + FILE.encode())
    tasks.set_status(work, "ab2", "in_progress", now)
    expected = FILE.replace('"blocked"', '"in_progress"').replace(
        '"lastUpdated": ""', '"lastUpdated": "2026-04-01T10:00:00Z"'
    )
    assert (work / TRACKER).read_bytes() == b"\xef\xbb\xbf" + expected.encode()


def test_done_is_dated_and_taken_up_again_is_not(work: Path) -> None:
    """MEM-050."""
    made = tasks.add(work, "x", now)
    done = tasks.set_status(work, made["id"][:4], "done", now)
    assert done["completedAt"] == "2026-04-01T10:00:00Z"
    assert tasks.load(work).listed() == []
    assert tasks.load(work).listed(done=True) == [done]
    before = (work / TRACKER).read_bytes()
    tasks.set_status(work, made["id"], "done", lambda: NOW + timedelta(days=1))
    assert (work / TRACKER).read_bytes() == before
    assert "completedAt" not in tasks.set_status(work, made["id"], "blocked", now)


def test_an_id_may_be_shortened_if_it_is_clear(work: Path) -> None:
    """MEM-054: several matches are an error, a whole id never is."""
    (work / TRACKER).write_text(FILE.replace("ab1", "ab"))
    assert tasks.set_status(work, "ab", "done", now)["title"] == "T"
    (work / TRACKER).write_text(FILE)
    for name in ("ab", "zz", ""):
        with pytest.raises(UsageError):
            tasks.set_status(work, name, "done", now)


@pytest.mark.parametrize("text", ["", "no", "[]", '{"tasks": {}}', '{"tasks": [1]}', '{"a": 1, "a": 2, "tasks": []}'])
def test_a_tracker_that_cannot_be_read_is_left_alone(work: Path, text: str) -> None:
    """MEM-053."""
    (work / TRACKER).write_text(text)
    with pytest.raises(UnreadableError, match="left as it is"):
        tasks.add(work, "x", now)
    assert (work / TRACKER).read_text() == text


def test_a_missing_tracker_is_made(work: Path) -> None:
    (work / TRACKER).unlink()
    assert tasks.load(work).tasks == ()
    assert tasks.prune(work, now, UTC) == []
    assert not (work / TRACKER).exists()
    tasks.add(work, "x", now)
    assert len(tasks.load(work).tasks) == 1


def test_only_what_was_done_long_ago_is_pruned(work: Path) -> None:
    """MEM-054: exactly seven days stay, and so does what is not dated or not done."""
    for title, days in (("old", 8), ("edge", 7), ("open", None)):
        made = tasks.add(work, title, now)
        if days is not None:
            tasks.set_status(work, made["id"], "done", lambda days=days: NOW - timedelta(days=days))  # type: ignore[misc]
    assert [one["title"] for one in tasks.prune(work, now, UTC)] == ["old"]
    assert [one["title"] for one in tasks.load(work).tasks] == ["edge", "open"]


def test_what_is_overdue(work: Path) -> None:
    """MEM-054: pending or in progress for more than 24 hours; blocked, young, and undated ones are silent."""
    document = {
        "lastUpdated": None,
        "tasks": [
            {"id": str(number), "title": "t", "status": status, "createdAt": created}
            for number, (status, created) in enumerate(
                [
                    ("pending", "2026-03-31T09:59:59Z"),
                    ("in_progress", "2026-03-31T09:59:59+00:00"),
                    ("blocked", "2026-03-01T00:00:00Z"),
                    ("pending", "2026-03-31T10:00:00Z"),
                    ("pending", None),
                    ("pending", "2026-03-31T11:00:00"),
                ]
            )
        ],
    }
    found = tasks.Tracker.parse(json.dumps(document).encode())
    assert [one["id"] for one in found.overdue(NOW, UTC)] == ["0", "1"]
    assert [one["id"] for one in found.overdue(NOW, ZoneInfo("Asia/Tokyo"))] == ["0", "1", "5"]


@pytest.mark.parametrize("title", ["", "a\nb", "token: abcDEF123456"])
def test_a_title_is_one_line_without_a_secret(work: Path, title: str) -> None:
    with pytest.raises(UsageError):
        tasks.add(work, title, now)
    with pytest.raises(UsageError):
        tasks.set_status(work, "x", "completed", now)


# ---- zones


def test_a_zone_is_named_configured_or_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """MEM-014: option, then setting, then TZ, then the system."""
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert str(zone.zone("Europe/Berlin", "Europe/Paris")) == "Europe/Berlin"
    assert str(zone.zone(None, "Europe/Paris")) == "Europe/Paris"
    assert str(zone.zone()) == "Asia/Tokyo"
    monkeypatch.delenv("TZ")
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/America/New_York")
    monkeypatch.setattr(zone, "_SYSTEM", tmp_path / "localtime")
    assert str(zone.zone()) == "America/New_York"
    monkeypatch.setattr(zone, "_SYSTEM", tmp_path / "none")
    assert str(zone.zone()) == "UTC"
    for wrong in ("Mars/Base", "../etc/passwd", "a\0"):
        with pytest.raises(UsageError):
            zone.zone(wrong)


def test_times() -> None:
    """MEM-055: with an offset; naive ones are of the zone; what is lax elsewhere is none here."""
    berlin = ZoneInfo("Europe/Berlin")
    assert zone.now(berlin, "2026-04-01T10:00").isoformat() == "2026-04-01T10:00:00+02:00"
    assert zone.now(berlin, "2026-04-01T10:00Z").isoformat() == "2026-04-01T12:00:00+02:00"
    assert zone.now(berlin).tzinfo is berlin
    with pytest.raises(UsageError):
        zone.now(berlin, "soon")
    parsed = zone.parse("2026-04-01T10:00:00", berlin)
    assert parsed is not None
    assert zone.stamp(parsed) == "2026-04-01T08:00:00Z"
    for wrong in ("2026-04-01", "2026-W14-3", "2026-04-01 10:00:00Z", "2026-13-01T00:00:00Z", 5, None, ""):
        assert zone.parse(wrong, berlin) is None
