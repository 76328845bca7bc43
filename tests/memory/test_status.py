"""How a workspace is (MEM-024, MEM-043, MEM-101, MEM-103)."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adf_format.memory import status as module
from adf_format.memory.folder import Folder
from adf_format.memory.status import status
from tests.memory import trees

NOW = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)


def made(root: Path, files: dict[str, bytes | str], hours: dict[str, float]) -> dict[str, Any]:
    """Return the state of a workspace whose files were changed so many hours ago."""
    trees.write(root, files)
    for path, age in hours.items():
        moment = (NOW - timedelta(hours=age)).timestamp()
        os.utime(root / path, (moment, moment))
    return status(Folder(root), str(root), NOW)


NOTE, ACTIVE = "memory/2026-04-09.md", "memory/active_context.md"


@pytest.mark.parametrize(
    ("age", "note_age", "stale"), [(73, 10, True), (72, 10, False), (120, 130, False), (1, 0.5, False)]
)
def test_active_context_is_stale_only_if_notes_are_newer(
    tmp_path: Path, age: float, note_age: float, stale: bool
) -> None:
    """MEM-024: older than three days and a newer note; an idle agent is not stale."""
    found = made(tmp_path, {ACTIVE: "# A\n", NOTE: "- x\n"}, {ACTIVE: age, NOTE: note_age})
    assert found["activeContext"] == {"ageHours": age, "stale": stale, "empty": False}
    assert ("STALE" in str(list(module.lines(found)))) is stale


def test_an_empty_active_context_is_legal_and_told(tmp_path: Path) -> None:
    """MEM-025."""
    found = made(tmp_path, {ACTIVE: "", "MEMORY.md": "x"}, {ACTIVE: 1})
    assert found["activeContext"]["empty"]
    assert "empty" in str(list(module.lines(found)))


def test_the_whole_of_a_workspace(tmp_path: Path) -> None:
    """MEM-101: roles, last write, channels, tasks, others, what a session loads."""
    ship = {"id": "1", "title": "Ship", "status": "pending", "createdAt": "2026-04-01T00:00:00Z"}
    tasks = {"lastUpdated": None, "tasks": [ship, {"id": "2", "status": "odd"}]}
    files: dict[str, bytes | str] = {
        "MEMORY.md": "x\n" * 20_000,
        ACTIVE: "# A\n",
        NOTE: "- x\n",
        "memory/channel_context/ops.md": "# ops\n",
        "memory/channel_context/README.md": "",
        "memory/pending_tasks.json": json.dumps(tasks),
        "memory/distillation-state.json": '{"lastConsolidatedAt": "2026-04-01T00:00:00Z"}',
        "memory/DREAMS.md": "",
    }
    found = made(tmp_path, files, dict.fromkeys(files, 30) | {NOTE: 5, "memory/DREAMS.md": 1})
    assert (found["kind"], found["timezone"]) == ("adaptive", "UTC")
    assert found["lastMemoryWrite"] == {"path": NOTE, "at": "2026-04-10T07:00:00+00:00"}
    assert found["channels"] == [{"path": "memory/channel_context/ops.md", "ageHours": 30.0, "stale": True}]
    assert found["tasks"]["counts"] == {"pending": 1, "in_progress": 0, "blocked": 0, "done": 0, "odd": 1}
    assert found["tasks"]["overdue"] == [{"id": "1", "title": "Ship"}]
    assert found["other"] == ["memory/DREAMS.md", "memory/channel_context/README.md"]
    assert found["sessionPack"]["truncated"] == ["MEMORY.md"]
    assert "MEMORY.md" not in found["sessionPack"]["shared"]["sees"]
    assert found["distillation"]["overdue"]
    shown = dict(module.lines(found))
    assert shown["other files"] == "2, left alone"
    text = str(list(module.lines(found)))
    for said in ("TRUNCATED", "overdue: Ship (1)", "1 not updated for a day", "overdue: `adf-format"):
        assert said in text


def test_what_cannot_be_read_does_not_stop_a_status(tmp_path: Path) -> None:
    """MEM-103: a broken tracker and a broken state are told."""
    files: dict[str, bytes | str] = {
        "MEMORY.md": "x",
        "memory/pending_tasks.json": "no",
        "memory/distillation-state.json": "no",
    }
    found = made(tmp_path, files, {})
    assert found["tasks"]["error"]
    assert "not readable" in found["distillation"]["note"]
    assert "state: not readable" in str(list(module.lines(found)))


def test_late_edits_are_told(tmp_path: Path) -> None:
    """MEM-091 (d), MEM-101."""
    state = {"lastConsolidatedAt": "2026-04-09T12:00:00Z", "notes": {"2026-04-01": {"sha256": "0", "bytes": 1}}}
    files: dict[str, bytes | str] = {
        "MEMORY.md": "x",
        "memory/2026-04-01.md": "- x\n",
        "memory/distillation-state.json": json.dumps(state),
    }
    found = made(tmp_path, files, {})
    assert found["notes"]["lateEdits"] == ["memory/2026-04-01.md"]
    assert "edited after it was distilled" in str(list(module.lines(found)))


def test_an_empty_folder_is_no_workspace(tmp_path: Path) -> None:
    """MEM-004."""
    assert status(Folder(tmp_path), "x", NOW)["kind"] == "none"
    (tmp_path / "memory").mkdir()
    assert status(Folder(tmp_path), "x", NOW)["kind"] == "none"
