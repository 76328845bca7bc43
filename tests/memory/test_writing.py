"""Changing files: locked, atomic, and never over something that was not read (MEM-014, MEM-053, MEM-062)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from adf_format.errors import LimitError, LockedError, UnreadableError, UsageError
from adf_format.memory import writing


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


NS = 1_700_000_000_123_456_789


def test_an_edit_keeps_the_mode_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    done = writing.edit(file, lambda content: (content or b"") + b"+new")
    assert (done.before, done.after, done.changed) == (b"old", b"old+new", True)
    assert file.read_bytes() == b"old+new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a.md"]


def test_an_edit_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"same")
    os.utime(file, ns=(NS, NS))
    before = file.stat()
    assert not writing.edit(file, lambda content: content or b"").changed
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, NS)


def test_an_edit_of_a_missing_file_makes_it(tmp_path: Path) -> None:
    assert writing.edit(tmp_path / "a.md", lambda content: b"made" if content is None else b"?").before is None
    assert (tmp_path / "a.md").read_bytes() == b"made"


def test_what_somebody_writes_meanwhile_is_not_lost(tmp_path: Path) -> None:
    """A program that ignores the lock writes between our reading and our writing: we read again."""
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    seen: list[bytes | None] = []

    def change(content: bytes | None) -> bytes:
        seen.append(content)
        if len(seen) == 1:
            file.write_bytes(b"from an editor")
        return (content or b"") + b"+ours"

    writing.edit(file, change)
    assert seen == [b"old", b"from an editor"]
    assert file.read_bytes() == b"from an editor+ours"


def test_a_file_that_comes_or_goes_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    calls: list[bytes | None] = []

    def change(content: bytes | None) -> bytes:
        calls.append(content)
        if len(calls) == 1:
            file.write_bytes(b"came")
        elif len(calls) == 2:
            file.unlink()
        return b"ours"

    writing.edit(file, change)
    assert calls == [None, b"came", None]


def test_somebody_who_never_stops_writing(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"")

    def change(content: bytes | None) -> bytes:
        file.write_bytes((content or b"") + b"x")
        return b"ours"

    with pytest.raises(LockedError):
        writing.edit(file, change)
    assert b"ours" not in file.read_bytes()
    assert names(tmp_path) == ["a.md"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_bytes(b"old")
    (tmp_path / "link.md").symlink_to("real.md")
    writing.edit(tmp_path / "link.md", lambda _: b"new")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new"


def test_creating_never_overwrites(tmp_path: Path) -> None:
    """MEM-062: any kind of thing under the name counts, a dangling link too."""
    assert writing.create(tmp_path / "a", b"one")
    assert not writing.create(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"
    (tmp_path / "dangling").symlink_to("nowhere")
    assert not writing.create(tmp_path / "dangling", b"x")
    assert names(tmp_path) == ["a", "dangling"]


def test_a_race_for_a_name_has_one_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEM-062: the name is taken after we looked."""
    monkeypatch.setattr(writing.os.path, "lexists", lambda _: False)
    (tmp_path / "a").write_bytes(b"theirs")
    assert not writing.create(tmp_path / "a", b"ours")
    assert (tmp_path / "a").read_bytes() == b"theirs"


def test_putting_keeps_time_and_mode(tmp_path: Path) -> None:
    """MEM-184."""
    file = tmp_path / "a"
    writing.put(file, b"x", mode=0o604, mtime_ns=NS)
    assert (file.read_bytes(), file.stat().st_mode & 0o777, file.stat().st_mtime_ns) == (b"x", 0o604, NS)
    with pytest.raises(UsageError):
        writing.put(file, b"y", mode=0o600, mtime_ns=NS)
    writing.put(file, b"z", mode=0o600, mtime_ns=NS + 1, replace=True)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (b"z", NS + 1)
    assert names(tmp_path) == ["a"]


def test_reading(tmp_path: Path) -> None:
    assert writing.read(tmp_path / "none") is None
    with pytest.raises(UnreadableError):
        writing.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableError):
        writing.read(tmp_path / "pipe")


def test_a_file_too_large_to_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_BYTES", 3)
    (tmp_path / "a").write_bytes(b"1234")
    with pytest.raises(LimitError):
        writing.edit(tmp_path / "a", lambda _: b"")


def test_leftovers_of_killed_writers_go(tmp_path: Path) -> None:
    (tmp_path / ".a.md.0123456789ab.adf-format-draft").write_bytes(b"half")
    (tmp_path / ".b.md.0123456789ab.adf-format-draft").write_bytes(b"of another file")
    (tmp_path / ".adf-format-draft.md").write_bytes(b"somebody's")
    writing.edit(tmp_path / "a.md", lambda _: b"x")
    assert names(tmp_path) == [".adf-format-draft.md", "a.md"]
    assert writing.is_draft(".b.md.0123456789ab.adf-format-draft")
    assert not writing.is_draft("b.md")


def test_an_edit_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")

    def change(_: bytes | None) -> bytes:
        raise UsageError("no")

    with pytest.raises(UsageError):
        writing.edit(tmp_path / "a.md", change)
    assert (tmp_path / "a.md").read_bytes() == b"old"
    assert names(tmp_path) == ["a.md"]


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft goes, the old file stays."""
    (tmp_path / "a.md").write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    for work in (
        lambda: writing.edit(tmp_path / "a.md", lambda _: b"new"),
        lambda: writing.create(tmp_path / "b", b""),
    ):
        with pytest.raises(LimitError, match="no room"):
            work()
    with pytest.raises(LimitError, match="no room"):
        writing.put(tmp_path / "b", b"", mode=0o600, mtime_ns=0)
    assert names(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_bytes() == b"old"


def test_two_threads_take_turns(tmp_path: Path) -> None:
    """Threads of one process exclude each other too."""
    file = tmp_path / "count"
    file.write_bytes(b"")

    def work() -> None:
        for _ in range(25):
            with writing.locked(tmp_path):
                writing.edit(file, lambda content: (content or b"") + b"x")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() == b"x" * 100


def test_a_lock_that_is_held(tmp_path: Path) -> None:
    """Another process holds it: an error in time, and nothing is left in the folder."""
    code = "import sys, pathlib\nfrom adf_format.memory import writing\n"
    code += "with writing.locked(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdin=-1, stdout=-1) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(LockedError), writing.locked(tmp_path, wait_s=0.05):
            raise AssertionError
        child.kill()
        child.stdin.close()
    with writing.locked(tmp_path, wait_s=5):
        assert names(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError), writing.locked(tmp_path / "none"):
        raise AssertionError
