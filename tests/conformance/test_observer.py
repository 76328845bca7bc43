"""The observer reads files by itself, every byte of them, and leaves none changed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from adf_conformance import files
from adf_conformance.observe import AgentFile, Family, Unreadable

REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"


def text(seq: int, said: str, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "role": "user", "blocks": [{"type": "text", "text": said}], **more}


def made(place: Path, **plan: Any) -> Path:
    path = place / "a.adf"
    files.write({"version": 32, **plan}, path)
    return path


def test_a_transcript_is_in_display_order(tmp_path: Path) -> None:
    path = made(tmp_path, entries=[text(3, "a"), text(4, "b", ord=3), text(9, "s", ord=-1), text(2, "c", ord=3)])
    assert [entry.seq for entry in AgentFile(path).transcript()] == [9, 2, 3, 4]


def test_reading_changes_nothing_and_sees_the_log(tmp_path: Path) -> None:
    path = made(tmp_path, entries=[text(1, "a")], log=2)
    before = Family.of(path)
    with AgentFile(path) as view:
        assert len(view.entries) == 3
        assert view.integrity() == "ok"
    assert Family.of(path).changes(before) == []
    assert list(before.members) == ["a.adf", "a.adf-wal"]


def test_frames_that_were_not_committed_are_not_seen(tmp_path: Path) -> None:
    assert len(AgentFile(made(tmp_path, log=3, log_cut=True)).entries) == 2


def test_a_file_in_use_is_read_as_of_one_moment(tmp_path: Path) -> None:
    path = made(tmp_path)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    for number in range(1, 30):
        writer.execute("INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', '[]', 0)")
        assert len(AgentFile(path).entries) == number
        if number % 10 == 0:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute("BEGIN")
    writer.execute("DELETE FROM adf_loop")
    assert len(AgentFile(path).entries) == 29
    writer.close()


def test_snapshots_are_decoded_whatever_their_shape(tmp_path: Path) -> None:
    message = {"id": "m", "payload": {"content": "héllo 😀"}}
    snapshots = [
        {"source": "loop:main", "entries": [text(1, "a"), text(2, "😀")]},
        {"source": "inbox_message", "value": message},
    ]
    snapshots += [{"source": "loop", "entries": [text(3, "x")], "damage": "noise"}, {"source": "loop:r", "entries": []}]
    with AgentFile(made(tmp_path, entries=[text(9, "z")], snapshots=snapshots)) as view:
        first, second, third, fourth = view.snapshots
        assert [entry.text for entry in first.entries] == ["a", "😀"]
        assert first.units == first.row["size_bytes"]
        assert second.items == [message]
        assert (second.loop, second.units) == (None, len('{"id":"m","payload":{"content":"héllo 😀"}}') + 1)
        assert (third.value, third.items, third.loop) == (None, [], "main")
        assert (fourth.loop, fourth.entries) == ("r", [])
        assert view.coverage() == {1: "audit", 2: "audit", 9: "loop"}
        assert view.sequence["adf_loop"] == 9


def test_questions_are_answered_over_decoded_tables(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        entries=[text(2, "b"), text(1, "a\ud83d")],
        snapshots=[{"source": "loop:main", "entries": [text(1, "x")]}],
    )
    with AgentFile(path) as view:
        assert view.query("SELECT pos, seq, text FROM transcript") == [[0, 1, "a?"], [1, 2, "b"]]
        assert view.query("SELECT loop, seq, text FROM archived") == [["main", 1, "x"]]
        with pytest.raises(Unreadable, match="no such column"):
            view.query("SELECT colour FROM transcript")


@pytest.mark.parametrize("content", [b"", b"a letter" * 100])
def test_what_is_no_database_cannot_be_read(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.adf").write_bytes(content)
    with pytest.raises(Unreadable):
        AgentFile(tmp_path / "a.adf").rows("adf_meta") or AgentFile(tmp_path / "gone.adf")


def test_a_damaged_file_is_told_as_such(tmp_path: Path) -> None:
    path = made(tmp_path, entries=[text(1, "a")], fault="damaged-page")
    with AgentFile(path) as view, pytest.raises(Unreadable, match="adf_loop"):
        view.rows("adf_loop")


def test_a_family_tells_every_change(tmp_path: Path) -> None:
    path = made(tmp_path)
    (tmp_path / "a.adf.bak").write_bytes(b"1")
    before = Family.of(path)
    (tmp_path / "a.adf.bak").write_bytes(b"2")
    (tmp_path / "a.adf-shm").write_bytes(b"")
    path.unlink()
    after = Family.of(path)
    assert before.changes(after) == ["a.adf-shm appeared", "a.adf is gone", "a.adf.bak changed"]
    assert after.sidecars(path) == ["a.adf-shm"]


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here: they are private")
def test_real_files_are_read_as_their_manifest_says() -> None:
    import json

    manifest = json.loads((REAL / "manifest.json").read_text(encoding="utf-8"))
    assert manifest
    for path in sorted(REAL.glob("*.adf")):
        with AgentFile(path) as view:
            assert view.integrity() == "ok"
            damaged = [one.id for one in view.snapshots if one.value is None]
            assert bool(damaged) == ("corrupt" in path.name)
