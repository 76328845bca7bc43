"""Whatever happens: the file is the old one or that of a completed step, and a second run finishes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from migration_support import NOW, ask, digest_of, names_in, run, sample, version_of

from adf_format.container import backup as backups
from adf_format.container import open_for_change, open_readonly, writer
from adf_format.digest import digest
from adf_format.errors import AdfError, LimitError, LockedError, UnreadableError, VerificationError
from adf_format.migration import Order, compare, migrate
from adf_format.migration.ladder import climb, wanted
from adf_format.migration.rehearsal import Rehearsal
from adf_format.migration.work import Work
from adf_format.schemas import LATEST

KILLS = int(os.environ.get("ADF_TEST_KILLS", "100"))  # of each of two files; there are about 450 instants in each
ORDER = Order(now=NOW)
DESCRIPTORS = Path("/proc/self/fd")


# --- killed


SYSTEM_CALLS = ("open", "link", "rename", "replace", "unlink", "fsync", "ftruncate", "fchmod", "write")


class Killer:
    """Counts every call that changes something on disk, and kills the process at one of them, half done if it writes.

    SQLite's calls are met in its VFS, all others in the module `os`: nothing in between can be seen from outside, so
    these instants are all there are.
    """

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.kinds: list[str] = []

    def tick(self, kind: str, half: Callable[[], object] = lambda: None) -> None:
        self.kinds.append(kind)
        if len(self.kinds) == self.at:
            half()
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> Any:
        """Only in a process that ends soon."""
        for name in SYSTEM_CALLS:
            setattr(os, name, self._watched(name, getattr(os, name)))
        return self._vfs()

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if name != "open" or given[1] & os.O_CREAT:
                self.tick(name, lambda: name == "write" and real(given[0], bytes(given[1])[: len(given[1]) // 2]))
            return None if name == "fsync" else real(*given, **named)

        return call

    def _vfs(self) -> Any:
        killer, base = self, apsw.vfs_names()[0]

        class File(apsw.VFSFile):
            def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
                killer.tick("sqlite write", lambda: super(File, self).xWrite(data[: len(data) // 2], offset))
                super().xWrite(data, offset)

            def xSync(self, flags: int) -> None:  # noqa: N802, ARG002
                killer.tick("sqlite sync")  # a killed process loses nothing that was written, synced or not

            def xTruncate(self, size: int) -> None:  # noqa: N802
                killer.tick("sqlite truncate")
                super().xTruncate(size)

        class System(apsw.VFS):
            def __init__(self) -> None:
                super().__init__("killing", base, makedefault=True)

            def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802
                return File(base, name, flags)

            def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
                killer.tick("sqlite delete")
                super().xDelete(name, sync)

        return System()


def in_child(work: Callable[[], None]) -> int:
    """Run something in a fork; gives its exit code, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            work()
            code = 0
        except AdfError as error:
            sys.stderr.write(f"{error}\n")
            code = 3
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def legacy(folder: Path, kind: str) -> Path:
    """A file of version 21 or 27 whose last rows are still in a log, or in rollback mode."""
    folder.mkdir(exist_ok=True)
    path = sample(folder, 21 if kind == "rollback" else 27)
    if kind == "log":
        connection = apsw.Connection(str(path))
        connection.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0").fetchall()
        connection.execute("INSERT INTO adf_logs (level, message, created_at) VALUES ('info', 'in the log', 1)")
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", folder / f"copy{suffix}")
        connection.close()
        for suffix in ("", "-wal"):
            (folder / f"copy{suffix}").replace(f"{path}{suffix}")
    return path


def states(path: Path) -> dict[int, str]:
    """Digest by version, for the file as it is and after each step of a migration."""
    found: dict[int, str] = {}
    with open_readonly(path) as container, Rehearsal(container) as place:
        work = Work(place, now=NOW, final=LATEST)
        steps = wanted(version_of(path), LATEST, path)

        def note(name: str, _done: int) -> None:
            source, arrow, _ = name.partition("->")
            if arrow:
                found[int(source)] = digest(place.connection).sha256

        climb(work, steps, note)
        found[LATEST] = digest(place.connection).sha256
    return found


@pytest.fixture(params=["rollback", "log"], scope="module")
def ground(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[int, str], list[str]]:
    """An original, its states, and the instants of a migration, by kind."""
    origin = legacy(tmp_path_factory.mktemp(request.param), request.param)
    expected = states(origin)
    trial = _copy(origin, tmp_path_factory.mktemp("count"))
    counted = trial.with_name("count")

    def count() -> None:
        killer = Killer(None)
        vfs = killer.install()
        migrate(trial, ORDER)
        kinds = list(killer.kinds)
        counted.write_text(json.dumps(kinds))
        del vfs

    assert in_child(count) == 0
    assert digest_of(trial) == expected[LATEST]
    kinds = json.loads(counted.read_text())
    assert {"sqlite write", "sqlite sync", "open", "write", "fsync", "link"} <= set(kinds)
    return origin, expected, kinds


def _copy(origin: Path, folder: Path) -> Path:
    for suffix in ("", "-wal"):
        if Path(f"{origin}{suffix}").exists():
            shutil.copyfile(f"{origin}{suffix}", folder / f"agent.adf{suffix}")
    return folder / "agent.adf"


def _killed_at(path: Path, at: int) -> int:
    def work() -> None:
        vfs = Killer(at).install()
        migrate(path, ORDER)
        del vfs

    return in_child(work)


def test_killed_at_any_instant_the_file_is_old_or_that_of_a_step(
    ground: tuple[Path, dict[int, str], list[str]], tmp_path: Path
) -> None:
    """The instants are all at which a kill has another effect than at the one before; some writes stand for all."""
    origin, expected, kinds = ground
    count, reached = len(kinds), set()
    for at in _instants(kinds):
        folder = tmp_path / str(at)
        folder.mkdir()
        path = _copy(origin, folder)
        assert _killed_at(path, at) == -signal.SIGKILL
        state = _demand_a_state(path, expected)
        reached.add(state)
        _demand_whole_backup(path, expected, min(expected))
        _finish(path)
        assert (version_of(path), digest_of(path)) == (LATEST, expected[LATEST]), f"instant {at} of {count}"
        left = {name for name in names_in(path.parent) if not name.startswith("agent.adf.bak")}
        # killed after the last step: there was nothing left to do, and the log is the file's own
        assert left - {"agent.adf"} <= ({"agent.adf-wal"} if state == LATEST else set())
        shutil.rmtree(folder)
    assert {min(expected), LATEST} <= reached
    assert len(reached) >= 4  # the instants do fall into different steps


def _instants(kinds: list[str]) -> list[int]:
    """Choose instants, seeded: the first and last of each kind of call, and then any."""
    rng = random.Random(20261130)
    chosen = {at for kind in set(kinds) for at in (kinds.index(kind) + 1, len(kinds) - kinds[::-1].index(kind))}
    others = sorted(set(range(1, len(kinds) + 1)) - chosen)
    return sorted({*chosen, *rng.sample(others, min(max(0, KILLS - len(chosen)), len(others)))})


def _finish(path: Path) -> None:
    """Run the migration again, without waiting for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(writer, "_PRAGMAS", writer._PRAGMAS.replace("FULL", "OFF"))
        migrate(path, ORDER)


def _demand_a_state(path: Path, expected: dict[int, str]) -> int:
    version = version_of(path)
    assert version in expected
    assert digest_of(path) == expected[version]
    return version


def _demand_whole_backup(path: Path, expected: dict[int, str], oldest: int) -> None:
    for backup in backups.backups(path):
        assert (version_of(backup), digest_of(backup)) == (oldest, expected[oldest])


def test_killed_from_outside_after_any_time(ground: tuple[Path, dict[int, str], list[str]]) -> None:
    origin, expected, _ = ground
    rng = random.Random(7)
    for _ in range(10):
        with tempfile.TemporaryDirectory() as scratch:
            path = _copy(origin, Path(scratch))
            pid = os.fork()
            if pid == 0:
                try:
                    migrate(path, ORDER)
                finally:
                    os._exit(0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _sleep(rng.random() * 0.12)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            _demand_a_state(path, expected)
            migrate(path, ORDER)
            assert digest_of(path) == expected[LATEST]


def _sleep(seconds: float) -> None:
    import time

    time.sleep(seconds)


# --- no room, no permission


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0, 1.2, 1.5])
def test_without_room_the_error_is_clear_and_nothing_is_lost(share: float, tmp_path: Path) -> None:
    """A limit on the size of any file stands for a full disk: the backup, the journal or the file meets it."""
    import resource

    path = legacy(tmp_path / "a", "rollback")
    expected, size = states(path), path.stat().st_size
    limit = int(size * share)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        migrate(path, ORDER)

    code = in_child(work)
    version = _demand_a_state(path, expected)
    assert (code == 0) == (version == LATEST)
    assert code in (0, 3)
    assert share > 1 or code == 3
    migrate(path, ORDER)
    assert digest_of(path) == expected[LATEST]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize("spare_kb", [8, 120, 200, 320])
def test_on_a_full_disk_the_file_is_old_or_that_of_a_step(spare_kb: int, tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    origin = legacy(tmp_path / "origin", "log")
    size_kb = sum(Path(f"{origin}{suffix}").stat().st_size for suffix in ("", "-wal")) // 1024
    options = f"size={size_kb + spare_kb}k"
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", place], check=False, capture_output=True
    ).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        path = _copy(origin, place)
        expected = states(path)
        try:
            migrate(path, ORDER)
        except (LimitError, UnreadableError) as error:
            assert "no room" in error.message  # noqa: PT017 - an error is not certain
        _demand_a_state(path, expected)
        assert not [name for name in names_in(place) if "draft" in name]
        subprocess.run(["mount", "-o", "remount,size=64m", place], check=True, capture_output=True)
        migrate(path, ORDER)
        assert digest_of(path) == expected[LATEST]
    finally:
        subprocess.run(["umount", place], check=True, capture_output=True)


@pytest.mark.parametrize(("file_mode", "folder_mode", "what"), [(0o644, 0o755, "file"), (0o666, 0o555, "folder")])
def test_without_permission_nothing_is_touched(file_mode: int, folder_mode: int, what: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = sample(folder, 27)
        path.chmod(file_mode)
        folder.chmod(folder_mode)
        before, told = path.read_bytes(), folder.with_name(folder.name + ".told")

        def work() -> None:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            try:
                migrate(path, ORDER)
            except UnreadableError as error:
                os._exit(3 if what in error.message else 4)

        code = in_child(work)
        folder.chmod(0o755)
        assert code == 3
        assert (path.read_bytes(), names_in(folder)) == (before, ["agent.adf"])
        assert not told.exists()


# --- others


HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute(sys.argv[2]).fetchall()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize(
    "statement",
    ["BEGIN; SELECT * FROM adf_meta", "BEGIN IMMEDIATE", "BEGIN IMMEDIATE; UPDATE adf_meta SET value = value"],
)
def test_a_file_that_another_process_uses_is_refused(journal: str, statement: str, tmp_path: Path) -> None:
    path = sample(tmp_path, 27)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA journal_mode={journal}").fetchall()
    connection.close()
    before = digest_of(path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path, statement], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(LockedError), open_for_change(path, wait_s=0.1):
            pass
        assert not [name for name in names_in(tmp_path) if ".bak" in name]
        other.communicate("")
    assert digest_of(path) == before
    migrate(path, ORDER)
    assert version_of(path) == LATEST


def test_an_idle_writer_of_a_log_is_noticed(tmp_path: Path) -> None:
    path = sample(tmp_path, 27)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path, "PRAGMA journal_mode=WAL; UPDATE adf_meta SET value = value"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(LockedError), open_for_change(path, wait_s=0.1):
            pass
        other.communicate("")


def test_nobody_sees_the_file_between_two_steps(tmp_path: Path) -> None:
    path = sample(tmp_path, 21)
    seen: list[str] = []
    look = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('SELECT 1 FROM adf_meta').fetchall()"

    def progress(what: str, _done: int) -> None:
        if what == "24->25":
            done = subprocess.run([sys.executable, "-c", look, path], capture_output=True, text=True, check=False)
            seen.append(done.stderr.strip().splitlines()[-1])

    migrate(path, ORDER, progress)
    assert len(seen) == 1
    assert "locked" in seen[0]


# --- the check in the end


def test_a_change_that_no_rule_asks_for_puts_the_old_file_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(tmp_path, 30)
    before = path.read_bytes()
    connection_of: list[apsw.Connection] = []

    def progress(what: str, _done: int) -> None:
        if what == "31->32":
            connection_of[0].execute("UPDATE adf_loop SET role = 'user' WHERE seq = 11")

    real = Work.__init__

    def spying(self: Work, place: Any, **facts: Any) -> None:
        connection_of.append(place.connection)
        real(self, place, **facts)

    monkeypatch.setattr(Work, "__init__", spying)
    with pytest.raises(VerificationError, match="row-changed in adf_loop 11") as caught:
        migrate(path, ORDER, progress)
    assert caught.value.hint == "the file is as it was before"
    assert (path.read_bytes(), names_in(tmp_path)) == (before, ["agent.adf"])


MUTATIONS = {
    "a value": "UPDATE adf_logs SET message = message || '!' WHERE id = 1",
    "the type of a value": "UPDATE adf_loop SET content_json = CAST(content_json AS BLOB) WHERE seq = 11",
    "a row less": "DELETE FROM adf_inbox WHERE id = 'inbox00001'",
    "a row more": "INSERT INTO local_notes SELECT 99, 'x', 1",
    "a blob": "UPDATE adf_audit SET data = x'00' WHERE id = 1",
    "a locator": "UPDATE adf_audit SET end_seq = 7 WHERE id = 1",
    "a stamp": "UPDATE adf_loop SET loop = 'other' WHERE seq = 11",
    "the configuration": "UPDATE adf_config SET config_json = json_set(config_json, '$.name', 'Eve')",
    "a time": "UPDATE adf_config SET updated_at = 'x'",
    "a counter": "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'adf_audit'",
    "a table": "CREATE TABLE more (a)",
    "a table gone": "DROP TABLE local_notes",
    "an index gone": "DROP INDEX idx_adf_inbox_status",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a file": "UPDATE adf_files SET content = x'41' WHERE path = 'soul.md'",
    "meta": "DELETE FROM adf_meta WHERE key = 'counter'",
    "protection": "UPDATE adf_meta SET protection = 'none' WHERE key = 'adf_name'",
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_comparison_sees(mutation: str, tmp_path: Path) -> None:
    path = sample(tmp_path, 27)
    outcome = migrate(path, ORDER)
    assert outcome.backup is not None
    with open_readonly(path) as container:
        compare.demand_explained(container, outcome.backup, outcome.record)
    run(path, MUTATIONS[mutation])
    with open_readonly(path) as container, pytest.raises(VerificationError):
        compare.demand_explained(container, outcome.backup, outcome.record)


# --- backups


def test_an_older_backup_is_never_overwritten(tmp_path: Path) -> None:
    path = sample(tmp_path, 21)
    (tmp_path / "agent.adf.bak").write_bytes(b"precious")
    old = path.read_bytes()
    outcome = migrate(path, ORDER)
    assert outcome.backup is not None
    assert (tmp_path / "agent.adf.bak").read_bytes() == b"precious"
    assert outcome.backup.name.startswith("agent.adf.bak.")
    assert outcome.backup.read_bytes() == old


def test_a_backup_holds_what_was_in_the_log(tmp_path: Path) -> None:
    path = legacy(tmp_path / "a", "log")
    before = digest_of(path)
    outcome = migrate(path, ORDER)
    assert outcome.backup is not None
    assert digest_of(outcome.backup) == before
    assert ask(outcome.backup, "SELECT count(*) FROM adf_logs WHERE message = 'in the log'") == [(1,)]


@pytest.fixture(autouse=True)
def no_descriptor_left() -> Iterator[None]:
    before = len(list(DESCRIPTORS.iterdir())) if DESCRIPTORS.exists() else 0
    yield
    if before:
        assert len(list(DESCRIPTORS.iterdir())) <= before
