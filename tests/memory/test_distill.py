"""A distillation that cannot lose anything (MEM-090 to MEM-100)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adf_format.errors import UnreadableError, UsageError
from adf_format.memory.distill import automatic, commit, state
from adf_format.memory.distill import plan as planning
from adf_format.memory.distill.commit import RefusedError, merge
from adf_format.memory.distill.due import unprocessed
from adf_format.memory.folder import Folder
from adf_format.models import Completion, ModelError
from tests.memory import trees

NOW = datetime(2026, 4, 3, 10, 0, 0, 500_000, tzinfo=UTC)
OLD = "# Long-Term Memory\n\n## Systems Built\n\n- **Pipeline**: nightly\n- stale entry\n"
NEW = OLD.replace("- stale entry\n", "- SQLite it is\n")
SECRET = "gh" + "p_" + "A1b2" * 9


def stamp(path: Path, when: datetime) -> None:
    os.utime(path, (when.timestamp(), when.timestamp()))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    root = trees.write(
        tmp_path / "work",
        {
            "MEMORY.md": OLD,
            "memory/2026-04-01.md": "# 2026-04-01\n\n## Decisions\n\n- SQLite\n",
            "memory/2026-04-02.md": "# 2026-04-02\n\n## Tasks\n",
            "memory/2026-04-03.md": "# 2026-04-03\n\n- morning\n",
            "memory/distillation-state.json": '{"x": 1, "lastConsolidatedAt": null}\n',
        },
    )
    for path in root.rglob("*.*"):
        stamp(path, NOW - timedelta(hours=1))
    return root


def gathered(root: Path, when: datetime = NOW) -> planning.Plan:
    plan, _ = planning.gather(root, when)
    planning.save(root, plan)
    return planning.load(root, plan.id, UTC)


def waiting(root: Path, when: datetime) -> list[str]:
    files = Folder(root)
    last, _ = state.last(files, UTC)
    return [one.note.path for one in unprocessed(state.candidates(files, last, when), last, when)]


def state_of(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "memory/distillation-state.json").read_text())
    return found


def test_a_plan_is_orient_and_gather(work: Path) -> None:
    """MEM-095, MEM-096: sections of both, hashes, budget, secrets; empty notes are none; nothing is written."""
    (work / "memory/2026-04-01.md").write_text(f"# 2026-04-01\n\n## Decisions\n\n- {SECRET}\n")
    before = trees.read(work)
    plan, document = planning.gather(work, NOW)
    assert trees.read(work) == before
    assert [note["path"] for note in document["notes"]] == ["memory/2026-04-01.md", "memory/2026-04-03.md"]
    assert document["memory"]["sections"][1] == {
        "title": "Systems Built",
        "text": "- **Pipeline**: nightly\n- stale entry",
    }
    assert document["memory"]["sha256"] == hashlib.sha256(OLD.encode()).hexdigest()
    assert document["budget"]["left"] == 10_000 - len(OLD)
    assert [(one["path"], one["line"], one["kind"]) for one in document["secrets"]] == [
        ("memory/2026-04-01.md", 5, "github-token")
    ]
    assert (plan.at, document["gatheredAt"]) == (NOW, "2026-04-03T10:00:00Z")


def test_a_commit_moves_the_state_to_the_gather_instant(work: Path) -> None:
    """MEM-097: not to the time of the commit; unknown keys stay, notes are recorded (MEM-052)."""
    plan = gathered(work)
    (work / "MEMORY.md").write_text(NEW)
    done = commit.commit(work, plan, NOW + timedelta(hours=3))
    assert state_of(work)["lastConsolidatedAt"] == "2026-04-03T10:00:00Z"
    assert state_of(work)["x"] == 1
    assert set(state_of(work)["notes"]) == {"2026-04-01", "2026-04-03"}
    assert waiting(work, NOW + timedelta(hours=3)) == []
    assert (done.removed, done.added) == (("- stale entry",), ("- SQLite it is",))
    assert done.delta == len(NEW) - len(OLD)


def test_what_is_appended_between_plan_and_commit_waits(work: Path) -> None:
    """MEM-097, MEM-092: on the day of the distillation and in older notes."""
    plan = gathered(work)
    for day in ("01", "03"):
        note = work / f"memory/2026-04-{day}.md"
        note.write_text(note.read_text() + "- afternoon\n")
    (work / "MEMORY.md").write_text(NEW)
    commit.commit(work, plan, NOW + timedelta(minutes=5))
    assert waiting(work, NOW + timedelta(hours=5)) == ["memory/2026-04-01.md", "memory/2026-04-03.md"]


def test_a_plan_alone_changes_nothing_of_the_state(work: Path) -> None:
    """MEM-097: a preview is no distillation."""
    gathered(work)
    assert state_of(work) == {"x": 1, "lastConsolidatedAt": None}
    assert waiting(work, NOW) == ["memory/2026-04-01.md", "memory/2026-04-03.md"]


def refused(work: Path, plan: planning.Plan, match: str, when: datetime = NOW, **options: Any) -> None:
    before = trees.read(work)
    with pytest.raises(RefusedError, match=match):
        commit.commit(work, plan, when, **options)
    assert trees.read(work) == before


def test_nothing_consolidated_is_refused(work: Path) -> None:
    """MEM-098: unless it is said that there is nothing to keep."""
    plan = gathered(work)
    refused(work, plan, "as it was")
    assert commit.commit(work, plan, NOW, nothing_to_keep=True).copy is None
    assert (work / "MEMORY.md").read_text() == OLD


def test_secrets_are_refused(work: Path) -> None:
    """MEM-082, MEM-098: in long-term memory and in a gathered note; a path reference is silent."""
    plan = gathered(work)
    (work / "MEMORY.md").write_text(NEW + f"- {SECRET}\n")
    refused(work, plan, "secret")
    (work / "MEMORY.md").write_text(NEW + "- Auth: see ~/.secrets/service.env\n")
    note = work / "memory/2026-04-01.md"
    note.write_text(note.read_text() + f"- {SECRET}\n")
    refused(work, plan, "secret")
    note.write_text("# 2026-04-01\n\n## Decisions\n\n- SQLite\n")
    commit.commit(work, plan, NOW)


@pytest.mark.parametrize("damage", ["shorter", "gone"])
def test_a_note_that_shrank_is_refused(work: Path, damage: str) -> None:
    """MEM-098: silent if it grew."""
    plan = gathered(work)
    (work / "MEMORY.md").write_text(NEW)
    note = work / "memory/2026-04-01.md"
    content = note.read_text()
    if damage == "gone":
        note.unlink()
    else:
        note.write_text(content[:-1])
    refused(work, plan, "shorter")
    note.write_text(content + "- more\n")
    commit.commit(work, plan, NOW)


def test_what_somebody_else_changed_is_not_overwritten(work: Path) -> None:
    """MEM-098: `--memory` on another base is refused; `--rebase` brings both together."""
    plan = gathered(work)
    theirs = OLD + "\n## Key Decisions\n\n- theirs\n"
    (work / "MEMORY.md").write_text(theirs)
    refused(work, plan, "somebody else", memory=NEW.encode())
    done = commit.commit(work, plan, NOW, memory=NEW.encode(), rebase=True)
    assert (work / "MEMORY.md").read_text() == NEW + "\n## Key Decisions\n\n- theirs\n"
    assert done.copy is not None
    assert (work / done.copy).read_text() == theirs


def test_the_new_text_may_be_given(work: Path) -> None:
    """MEM-098: silent where nobody else changed it."""
    commit.commit(work, gathered(work), NOW, memory=NEW.encode())
    assert (work / "MEMORY.md").read_text() == NEW


@pytest.mark.parametrize(
    ("last", "when"), [("2026-04-03T10:00:01Z", NOW), (None, NOW - timedelta(seconds=1)), ("nonsense", NOW)]
)
def test_the_state_only_moves_forward(work: Path, last: str | None, when: datetime) -> None:
    """MEM-098: not before the last one, not into the future, not over a state that cannot be read."""
    plan = gathered(work)
    (work / "MEMORY.md").write_text(NEW)
    (work / "memory/distillation-state.json").write_text(json.dumps({"lastConsolidatedAt": last}))
    refused(work, plan, "plan is older|state of the", when)


def test_old_texts_are_kept_and_notes_never_touched(work: Path) -> None:
    """MEM-099: the last ten copies; also of an edit in place."""
    notes = {path.name: path.read_bytes() for path in work.glob("memory/2026*.md")}
    for number in range(12):
        when = NOW + timedelta(minutes=number)
        plan = gathered(work, when)
        old = (work / "MEMORY.md").read_text()
        (work / "MEMORY.md").write_text(f"{NEW}- {number}\n")
        done = commit.commit(work, plan, when)
        assert done.copy is not None
        assert (work / done.copy).read_text() == old
    copies = sorted(path.name for path in (work / "memory/.history").iterdir())
    assert len(copies) == 10
    assert all(name.startswith("MEMORY-2026") for name in copies)
    assert {path.name: path.read_bytes() for path in work.glob("memory/2026*.md")} == notes


def test_two_commits_in_one_second_keep_both_texts(work: Path) -> None:
    for text in ("one\n", "two\n"):
        plan = gathered(work)
        (work / "MEMORY.md").write_text(text)
        commit.commit(work, plan, NOW)
    assert len(list((work / "memory/.history").iterdir())) == 2


def test_plans_have_names(work: Path) -> None:
    for wrong in ("../x", "abc", ""):
        with pytest.raises(UsageError):
            planning.load(work, wrong, UTC)
    plan = gathered(work)
    (work / f"memory/.history/plan-{plan.id}.json").write_text("{}")
    with pytest.raises(UnreadableError):
        planning.load(work, plan.id, UTC)


def test_the_state_of_old_versions_is_read(work: Path) -> None:
    """D4: only if the file of today is not there, and it says so."""
    (work / "memory/heartbeat-state.json").write_text(
        '{"lastConsolidatedAt": "2026-04-02T00:00:00Z", "lastChecks": {}}'
    )
    assert state.last(Folder(work), UTC)[0].at is None
    (work / "memory/distillation-state.json").unlink()
    last, note = state.last(Folder(work), UTC)
    assert last.at == datetime(2026, 4, 2, tzinfo=UTC)
    assert note is not None
    assert "heartbeat" in note


@pytest.mark.parametrize("text", ["no", "[]", '{"lastConsolidatedAt": 5}', '{"notes": []}', "{}"])
def test_a_state_that_cannot_be_read_means_never(work: Path, text: str) -> None:
    """MEM-091 (a)."""
    (work / "memory/distillation-state.json").write_text(text)
    assert state.last(Folder(work), UTC)[0].at is None


def test_a_naive_time_is_one_of_the_zone(work: Path) -> None:
    """MEM-055."""
    from zoneinfo import ZoneInfo

    (work / "memory/distillation-state.json").write_text('{"lastConsolidatedAt": "2026-04-01T10:00:00"}')
    last, _ = state.last(Folder(work), ZoneInfo("Asia/Tokyo"))
    assert last.at is not None
    assert last.at.astimezone(UTC).hour == 1


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("", True),
        ("# T\n\n## Tasks\n\n<!-- a\nb -->\n", True),
        ("# T\n<!-- open\n- x", True),
        ("\ufeff# T\r\n", True),
        ("# T\n- x\n", False),
        ("```\n# x\n```\n", False),
    ],
)
def test_what_an_empty_note_is(text: str, empty: bool) -> None:
    """MEM-015: no text besides headings, blank lines and comments."""
    assert state.is_empty(text.encode()) is empty


def test_only_notes_that_may_have_changed_are_read(work: Path) -> None:
    """MEM-103: an old, recorded note of the same size and an old time is settled without being read."""
    (work / "MEMORY.md").write_text(NEW)
    commit.commit(work, gathered(work), NOW, nothing_to_keep=True)
    read: list[str] = []

    class Counting(Folder):
        def read(self, path: str) -> bytes | None:
            read.append(path)
            return super().read(path)

    files = Counting(work)
    last, _ = state.last(files, UTC)
    state.candidates(files, last, NOW + timedelta(days=3))
    assert read == ["memory/distillation-state.json", "memory/2026-04-03.md"]
    note = work / "memory/2026-04-01.md"
    note.write_text(note.read_text().replace("SQLite", "sqlite"))
    assert waiting(work, NOW + timedelta(days=3)) == ["memory/2026-04-01.md"]


def test_merging_two_changes() -> None:
    base = b"a\nb\nc\nd\n"
    assert merge(base, b"a\nB\nc\nd\n", b"a\nb\nc\nd\ne\n") == b"a\nB\nc\nd\ne\n"
    assert merge(base, b"x\na\nb\nc\nd\n", b"a\nb\nd\n") == b"x\na\nb\nd\n"
    assert merge(base, base, base) == base
    assert merge(base, b"a\nB\nc\nd\n", b"a\nB\nc\nd\n") == b"a\nB\nc\nd\n"
    with pytest.raises(RefusedError):
        merge(base, b"a\nX\nc\nd\n", b"a\nY\nc\nd\n")


# ---- by a model


class Answers:
    """A model that gives one answer, and remembers what it was asked."""

    def __init__(self, text: str, stop: Any = "end_turn", error: bool = False) -> None:
        self.text, self.stop, self.error, self.asked = text, stop, error, ""

    async def complete(self, *, system: str, messages: Sequence[Mapping[str, Any]], **others: Any) -> Completion:
        assert set(others) == {"purpose", "loop", "tools", "model"}
        self.asked = system + json.dumps(messages)
        if self.error:
            raise ModelError("no network", transient=True)
        return Completion(
            [{"type": "thinking", "thinking": "<memory>no"}, {"type": "text", "text": self.text}], self.stop
        )


def auto(work: Path, model: Any, **options: Any) -> Any:
    return asyncio.run(automatic.run(work, lambda: NOW, model, **options))


def test_a_model_goes_through_the_same_checks(work: Path) -> None:
    """MEM-095, MEM-098: consolidated, the old text kept, the state moved."""
    done = auto(work, Answers(f"Here:\n<memory>\n{NEW}</memory>"))
    assert (work / "MEMORY.md").read_text() == NEW
    assert (work / done.copy).read_text() == OLD
    assert waiting(work, NOW) == []
    assert auto(work, Answers("")) == "there is nothing to distil"


def test_a_model_may_find_nothing(work: Path) -> None:
    auto(work, Answers("<memory></memory>"))
    assert (work / "MEMORY.md").read_text() == OLD
    assert waiting(work, NOW) == []


def test_a_dry_run_of_a_model_writes_nothing(work: Path) -> None:
    before = trees.read(work)
    assert auto(work, Answers(f"<memory>{NEW}</memory>"), dry_run=True) == NEW.encode()
    assert auto(work, Answers("<memory> </memory>"), dry_run=True) == "the model finds nothing to keep"
    assert trees.read(work) == before


LONG = OLD + "".join(f"- entry {number}\n" for number in range(100))


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (Answers("I cannot"), RefusedError),
        (Answers("<memory>no heading</memory>"), RefusedError),
        (Answers("<memory># T\n- short</memory>"), RefusedError),
        (Answers(f"<memory>{LONG}</memory>", "max_tokens"), RefusedError),
        (Answers(f"<memory>{LONG}- {SECRET}\n</memory>"), RefusedError),
        (Answers("", error=True), UnreadableError),
    ],
)
def test_a_bad_answer_changes_nothing(work: Path, model: Answers, error: type[Exception]) -> None:
    """MEM-098: no answer, a cut one, one that throws most away, one with a secret."""
    (work / "MEMORY.md").write_text(LONG)
    with pytest.raises(error):
        auto(work, model)
    assert (work / "MEMORY.md").read_text() == LONG
    assert state_of(work)["lastConsolidatedAt"] is None


def test_a_model_never_sees_a_secret(work: Path) -> None:
    """MEM-082: nor can it lose the line that was withheld."""
    (work / "MEMORY.md").write_text(OLD + f"- {SECRET}\n")
    model = Answers(f"<memory>{OLD}- [line withheld: it looks like a secret (github-token)]\n</memory>")
    with pytest.raises(RefusedError, match="withheld"):
        auto(work, model)
    assert SECRET not in model.asked
    assert "line withheld" in model.asked


def test_only_if_it_is_due(work: Path) -> None:
    """MEM-093."""
    (work / "memory/distillation-state.json").write_text('{"lastConsolidatedAt": "2026-04-02T10:00:00Z"}')
    assert str(auto(work, Answers(""), if_due=True)).startswith("not due")
    (work / "memory/distillation-state.json").write_text('{"lastConsolidatedAt": null}')
    assert auto(work, Answers(f"<memory>{NEW}</memory>"), if_due=True).copy is not None


def test_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="memory init"):
        planning.gather(tmp_path, NOW)
