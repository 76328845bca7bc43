"""A batch: whatever one file does to its worker stays its own trouble, and nothing is left running."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from adf_format.validation import batch
from adf_format.validation.batch import AHEAD, TASKS_PER_WORKER, Job, Resources, available_cpus, validate_many
from adf_format.validation.engine import Options
from adf_format.validation.report import FileReport

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and parent death signals are Linux's")
MB = 1 << 20


@pytest.fixture(autouse=True, params=[False, True], ids=["one-at-a-time", "next-at-the-door"])
def waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every law holds whether or not the next file already waits at a worker (as small ones do)."""
    monkeypatch.setattr(batch, "_is_small", lambda _: request.param)


def jobs(*paths: str) -> list[Job]:
    return [Job(path, Options()) for path in paths]


def behave(path: str, options: Options) -> FileReport:
    """Do what the name of the file says."""
    report = FileReport(path)
    match path.split(":"):
        case ["pid"]:
            report.schema_version = os.getpid()
        case ["sleep", seconds]:
            time.sleep(float(seconds))
        case ["signal", name]:
            faulthandler.disable()
            os.kill(os.getpid(), getattr(signal, name))
        case ["exit", code]:
            os._exit(int(code))
        case ["memory", size]:
            report.schema_version = len(bytearray(int(size) * MB))
        case ["raise"]:
            raise LookupError("no such thing")
        case ["print"]:
            os.write(1, b"noise")
            os.write(2, b"noise")
    return report


def run(*paths: str, resources: Resources = Resources(2, 60, 512)) -> list[FileReport]:  # noqa: B008
    return list(validate_many(jobs(*paths), resources, behave))


def test_reports_come_in_the_order_of_the_files() -> None:
    paths = ["sleep:0.3", *(f"a{number}" for number in range(50)), "sleep:0.1", "b"]
    assert [report.path for report in run(*paths)] == paths


def tell(path: str, options: Options) -> FileReport:
    return FileReport(path, error=f"{options.deadline}")


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_each_file_is_checked_with_its_own_options(workers: int) -> None:
    """Options are told to a worker only where they change."""
    few = [Options(deadline=float(number)) for number in range(3)]
    asked = [Job(f"a{number}", few[number % 7 % 3]) for number in range(40)]
    reports = validate_many(asked, Resources(workers, 60), tell)
    assert [report.error for report in reports] == [f"{job.options.deadline}" for job in asked]


def test_a_report_comes_as_soon_as_those_before_it_are_there() -> None:
    reports = validate_many(jobs("a", "sleep:30"), Resources(2, 60), behave)
    started = time.monotonic()
    assert next(reports).path == "a"
    reports.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("signal:SIGSEGV", "its process died of SIGSEGV"),
        ("signal:SIGKILL", "perhaps for lack of memory"),
        ("exit:7", "its process ended with code 7"),
        ("raise", "internal error: LookupError"),
    ],
)
def test_a_crash_is_the_error_line_of_one_file(path: str, words: str) -> None:
    reports = run("a", path, "b", "c")
    assert [report.path for report in reports] == ["a", path, "b", "c"]
    assert [bool(report.error) for report in reports] == [False, True, False, False]
    assert words in str(reports[1].error)
    assert str(reports[1].error).startswith(f"{path}: ")
    assert "\n" not in str(reports[1].error)


def test_a_file_that_waited_behind_a_crash_is_checked_by_the_next_worker() -> None:
    reports = run("signal:SIGKILL", "a", "exit:3", "exit:3", "b", resources=Resources(1, 60, 512))
    assert [report.path for report in reports] == ["signal:SIGKILL", "a", "exit:3", "exit:3", "b"]
    assert [bool(report.error) for report in reports] == [True, False, True, True, False]


def test_the_time_of_a_file_begins_when_it_is_its_turn() -> None:
    """Files that wait behind a slow one have their whole time still before them."""
    reports = run("sleep:2", "sleep:2", "sleep:2", resources=Resources(1, 1.5))
    assert [report.error for report in reports] == [None, None, None]


def test_a_file_that_takes_too_long_is_stopped() -> None:
    started = time.monotonic()
    reports = run("a", "sleep:60", "b", resources=Resources(1, 0.5))
    assert time.monotonic() - started < 20
    assert [report.error is None for report in reports] == [True, False, True]
    assert "took longer than 0.5 s" in str(reports[1].error)


@linux
def test_a_file_that_needs_too_much_memory_is_stopped() -> None:
    small, large, after = run("memory:50", "memory:400", "a", resources=Resources(1, 60, 300))
    assert small.error is None
    assert "more than 300 MB" in str(large.error)
    assert after.error is None


def test_workers_print_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("print")[0].error is None
    assert capfd.readouterr() == ("", "")


def test_a_worker_serves_many_files_and_is_replaced_in_time() -> None:
    pids = [report.schema_version for report in run(*["pid"] * (TASKS_PER_WORKER + 10), resources=Resources(1))]
    assert len(set(pids[:TASKS_PER_WORKER])) == 1
    assert len(set(pids)) == 2
    assert os.getpid() not in pids


def test_no_jobs_means_in_this_process() -> None:
    reports = run("pid", "raise", resources=Resources(0))
    assert reports[0].schema_version == os.getpid()
    assert "internal error" in str(reports[1].error)


def test_a_slow_file_holds_back_a_bounded_number_of_reports() -> None:
    taken: list[int] = []

    def endless() -> object:
        for number in range(10**6):
            taken.append(number)
            yield Job("sleep:1.5" if number == 0 else "a", Options())

    reports = validate_many(endless(), Resources(2, 60), behave)  # type: ignore[arg-type]
    assert next(reports).path == "sleep:1.5"
    reports.close()  # type: ignore[attr-defined]
    assert len(taken) <= AHEAD + 2


def gone(pid: int) -> bool:
    """Whether a process is no more, or only waits to be reaped."""
    try:
        return f"{Path(f'/proc/{pid}/stat').read_text('ascii').rpartition(') ')[2][0]}" in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def eventually(condition: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.05)
    return False


SCRIPT = """
import os, sys, time
from pathlib import Path
from adf_format.validation.batch import Job, Resources, validate_many
from adf_format.validation.engine import Options

def check(path, options):
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)

if __name__ == "__main__":
    list(validate_many([Job(path, Options()) for path in sys.argv[1:]], Resources(2, 60), check))
"""


@linux
@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_no_worker_outlives_its_parent(tmp_path: Path, end: str) -> None:
    notes = [tmp_path / "one", tmp_path / "two"]
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT, *map(str, notes)], stderr=subprocess.PIPE)
    try:
        assert eventually(
            lambda: parent.poll() is not None or all(note.exists() and note.read_text() for note in notes)
        )
        assert parent.poll() is None, parent.communicate()
        pids = [int(note.read_text()) for note in notes]
        assert not any(map(gone, pids))
    finally:
        parent.send_signal(getattr(signal, end))
        parent.communicate(timeout=30)
    assert eventually(lambda: all(map(gone, pids)))


@linux
def test_closing_the_iterator_ends_the_workers(tmp_path: Path) -> None:
    reports = validate_many(jobs("pid", "sleep:60", "sleep:60"), Resources(3, 60), behave)
    pid = next(reports).schema_version
    assert pid is not None
    reports.close()  # type: ignore[attr-defined]
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert eventually(lambda: gone(pid))


def test_at_least_one_processor_is_available() -> None:
    assert available_cpus() >= 1
