from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from container_support import beside, make, make_live, running, untouched

from adf_format.container import Limits, leftovers, locate, open_readonly, private_copy, reader
from adf_format.container.snapshot import copying, locks
from adf_format.container.snapshot.main import Request, main, snapshot
from adf_format.container.snapshot.problem import SnapshotError
from adf_format.errors import LimitError, UnreadableError

HOLD = """
import os, sys
if "named" in sys.argv: del os.O_TMPFILE
from adf_format.container import open_readonly
with open_readonly(sys.argv[1]) as container:
    print("ready", flush=True)
    sys.stdin.read()
"""
COPYING = """
import os, sys
if "named" in sys.argv: del os.O_TMPFILE
from adf_format.container import open_readonly, Limits
print("ready", flush=True)
open_readonly(sys.argv[1], Limits(lock_timeout_s=600))
"""
EXCLUSIVE = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
    "c.executescript('PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t (b) VALUES (1)'); print('ready', flush=True);"
    "sys.stdin.read()"
)


def wait_until(check: object, seconds: float = 100.0) -> None:
    end = time.monotonic() + seconds
    while not check():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


def stop(process: subprocess.Popen[str], number: int) -> None:
    """Signal until it ends: Python misses a signal that comes just before a blocking read."""

    def ended() -> bool:
        process.send_signal(number)
        return process.poll() is not None

    wait_until(ended)


@pytest.mark.parametrize("how", ["nameless", "named"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_while_holding_a_copy(folder: Path, scratch: Path, how: str, number: int) -> None:
    path = make_live(folder / "a.adf")
    with untouched(folder), running(HOLD, path, how) as process:
        assert not list(scratch.iterdir())
        stop(process, number)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("how", ["nameless", "named"])
def test_killed_while_copying(folder: Path, scratch: Path, how: str) -> None:
    path = make(folder / "a.adf")
    live = make_live(folder / "b.adf")
    with running(EXCLUSIVE, path), running(COPYING, path, how) as process:
        wait_until(lambda: how == "nameless" or list(scratch.iterdir()))
        time.sleep(0.3)
        assert len(list(scratch.iterdir())) == (how == "named")
        process.kill()
        process.wait(100)
    assert how == "named" or not list(scratch.iterdir())
    open_readonly(live).close()
    assert not list(scratch.iterdir())


def test_without_a_list_of_descriptors(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(folder / "a.adf")
    monkeypatch.setattr(locate, "_DESCRIPTORS", folder / "nowhere")
    with open_readonly(path) as container:
        assert container.source.mode == "private-copy"
    monkeypatch.setattr(locate, "_OTHER_LIBRARIES", frozenset({"never"}))
    with open_readonly(path) as container:
        assert container.source.mode == "immutable"


def test_a_copy_can_be_demanded(folder: Path, scratch: Path) -> None:
    path = make(folder / "a.adf")
    with untouched(folder), open_readonly(path, private=True) as container:
        assert container.source.mode == "private-copy"
        assert not container.changed()


def test_a_write_during_opening_leads_to_a_copy(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(folder / "a.adf")
    whole = path.read_bytes()
    path.write_bytes(b"half written")
    monkeypatch.setattr(reader, "_connect", _connect_first_to(reader._connect, whole))
    with open_readonly(path) as container:
        assert container.source.mode == "private-copy"


def test_ctrl_c_while_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(folder / "a.adf")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reader, "secure", interrupted)
    before = descriptors()
    with pytest.raises(KeyboardInterrupt):
        open_readonly(path)
    assert descriptors() == before


def _connect_first_to(genuine: Callable[[Path], apsw.Connection], whole: bytes) -> Callable[[Path], apsw.Connection]:
    """Opens what is there, and lets a writer finish its work while the first page is awaited."""

    def connect(name: Path) -> apsw.Connection:
        if name.stat().st_size == len(whole):
            return genuine(name)
        name.write_bytes(whole)
        raise apsw.CantOpenError("as if")

    return connect


def test_only_the_dead_are_swept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (
        f"adf-format-{dead.pid}-abc",
        f"adf-format-{os.getpid()}-abc",
        "adf-format-x-1",
        f"other-{dead.pid}-a",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "copy.adf").touch()
    (tmp_path / f"adf-format-{dead.pid}-file").touch()
    (tmp_path / f"adf-format-{dead.pid}-link").symlink_to(tmp_path / "adf-format-x-1")
    assert leftovers.sweep(tmp_path) == [f"adf-format-{dead.pid}-abc"]
    assert len(list(tmp_path.iterdir())) == 5
    (tmp_path / f"adf-format-{dead.pid}-held").mkdir()
    with leftovers._held(tmp_path / f"adf-format-{dead.pid}-held") as ours:
        assert ours
        assert leftovers.sweep(tmp_path) == []
    assert leftovers.sweep(tmp_path / "nowhere") == []
    if os.geteuid() == 0:
        os.chown(tmp_path / f"adf-format-{dead.pid}-held", 65534, 65534)
        assert leftovers.sweep(tmp_path) == []


def test_without_nameless_files_and_links(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", _refuse)
        with open_readonly(path) as container:
            assert container.source.wal_frames > 0
    with monkeypatch.context() as patch:
        patch.delattr(os, "O_TMPFILE", raising=False)
        with open_readonly(path) as container:
            assert container.source.wal_frames > 0
            assert not list(scratch.iterdir())


def _refuse(*_arguments: object, **_options: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_without_an_interpreter_to_start(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    monkeypatch.setattr(sys, "executable", "")
    with untouched(folder), open_readonly(path) as container:
        assert container.source.wal_frames > 0


def test_an_interpreter_that_fails(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(UnreadableError, match="the copying process ended with 1"):
        open_readonly(path)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(UnreadableError, match="/nowhere/python cannot be started for copying: No such file"):
        open_readonly(path)
    assert not list(scratch.iterdir())


def test_a_child_that_hangs(folder: Path, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    script = tmp_path / "hang"
    script.write_text("#!/bin/sh\nexec sleep 100\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(private_copy, "_GRACE_S", 0.1)
    with pytest.raises(LimitError, match="time limit"):
        open_readonly(path, Limits(deadline_s=0.2))


def test_systems_without_pread(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    monkeypatch.delattr(os, "pread")
    with pytest.raises(UnreadableError, match="POSIX"):
        open_readonly(path)


FULL = """
import resource, sys
from adf_format.container import open_readonly
from adf_format.errors import LimitError
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    open_readonly(sys.argv[1])
except LimitError as exc:
    print(exc)
"""


def test_no_room_for_the_copy(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf", rows=40)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert "no room for a private copy: File too large (free some space or point TMPDIR" in done.stdout
    assert done.stdout.count("\n") == 1
    assert not list(scratch.iterdir())


def test_a_temporary_folder_that_is_gone(folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch / "gone"))
    with pytest.raises(UnreadableError):
        open_readonly(path)


def test_the_file_goes_away_meanwhile(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+b") as out, pytest.raises(SnapshotError) as caught:
        snapshot(Request(str(tmp_path / "gone")), out.fileno())
    assert caught.value.kind == "missing"


def test_the_child_answers_failures_too(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_live(folder / "a.adf")
    with (tmp_path / "out").open("w+b") as out:
        for arguments, word in (
            (["5", "-", "10", str(os.getppid())], "limit"),
            (["5", "0", "-", str(os.getppid())], "deadline"),
            (["5", "-", "-", "1" if os.getppid() != 1 else "2"], "deadline"),
            (["5", "60", "-", str(os.getppid())], "frames"),
        ):
            assert main([os.fsencode(path).hex(), str(out.fileno()), *arguments]) == 0
            assert word in capsys.readouterr().out


def test_a_log_that_is_restarted_all_the_time(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    beside(path, "-shm").unlink()
    genuine, passes = copying.copy_all, []

    def meddling(source: int, out: int, alive: object) -> int:
        passes.append(1)
        if len(passes) <= limit:
            with beside(path, "-wal").open("r+b") as stream:
                stream.seek(16)
                stream.write(os.urandom(8))
        return genuine(source, out, alive)  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "copy_all", meddling)
    with (tmp_path / "out").open("w+b") as out:
        limit = 2
        assert snapshot(Request(str(path)), out.fileno())["ended"] == "header"
        assert len(passes) == 3
        limit = 10**9
        with pytest.raises(SnapshotError, match="restarted faster"):
            snapshot(Request(str(path), lock_timeout_s=0.1), out.fileno())


def test_a_file_that_is_replaced_meanwhile(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_live(folder / "a.adf")
    make(tmp_path / "new.adf")

    def swap(fd: int) -> bool:
        (tmp_path / "new.adf").replace(path)
        return True

    monkeypatch.setattr(locks, "try_main", swap)
    with (tmp_path / "out").open("w+b") as out, pytest.raises(SnapshotError, match="replaced"):
        snapshot(Request(str(path)), out.fileno())


def test_copying_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").write_bytes(os.urandom(3_000_000))
    monkeypatch.setattr(copying, "_by_kernel", _refuse)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("w+b") as out:
        assert copying.copy_all(source.fileno(), out.fileno(), lambda: None) == 3_000_000
    assert (tmp_path / "in").read_bytes() == (tmp_path / "out").read_bytes()
    monkeypatch.setattr(copying, "_by_kernel", lambda *_: 0)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("w+b") as out:
        assert copying.copy_all(source.fileno(), out.fileno(), lambda: None) == 3_000_000
        with pytest.raises(OSError, match="Invalid argument"):
            copying.copy_all(source.fileno(), source.fileno(), lambda: None)


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_closing_gives_the_room_back(folder: Path, scratch: Path) -> None:
    path = make_live(folder / "a.adf")
    before = descriptors()
    for _ in range(3):
        container = open_readonly(path)
        assert descriptors() == before + 1
        container.close()
        with pytest.raises(apsw.ConnectionClosedError):
            container.connection.execute("SELECT 1")
    assert descriptors() == before
