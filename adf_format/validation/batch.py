"""Validate many files: one at a time per worker process, with a memory and a time limit for each.

Whatever a file does to its worker (crash, hang, out of memory) becomes the error line of that file; the batch goes on
with a new worker. Results come in the order of the files. Workers die with their parent.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as mp_connection
from multiprocessing import get_context
from typing import Any, Protocol

from adf_format.validation.engine import Options, validate_file
from adf_format.validation.isolation import confine, kill
from adf_format.validation.report import FileReport, Stats

TASKS_PER_WORKER = 1000  # so that nothing can pile up in one process
GRACE_S = 2.0  # between the deadline that a check keeps by itself and the kill
AHEAD = 1000  # reports kept waiting for a slow file before them
SMALL = 1 << 18  # bytes: while a worker checks such a file, the next one may wait at its door


@dataclass(frozen=True)
class Job:
    """One file to validate, and how."""

    path: str
    options: Options


@dataclass(frozen=True)
class Resources:
    """What a batch may use.

    :ivar jobs: worker processes; 0 validates in this process, unprotected
    :ivar seconds: wall-clock limit for one file
    :ivar megabytes: memory limit for one worker (Linux only)
    """

    jobs: int = 1
    seconds: float | None = 300.0
    megabytes: int | None = 512


Check = Callable[[str, Options], FileReport]


class Worker(Protocol):
    """A process of `multiprocessing`, as far as it is used here."""

    pid: int | None
    exitcode: int | None
    sentinel: int

    def start(self) -> None:
        """Start it."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""


def validate_many(
    jobs: Iterable[Job],
    resources: Resources = Resources(),
    check: Check = validate_file,
) -> Iterator[FileReport]:
    """Yield one report per job, in the order of the jobs. Closing the iterator ends all workers."""
    if resources.jobs == 0:
        for job in jobs:
            yield _checked(check, job, resources)
        return
    pool = _Pool(resources, check)
    try:
        yield from pool.run(iter(jobs))
    finally:
        pool.close()


def available_cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass
class _Seat:
    """One worker process and what it is doing."""

    process: Worker
    pipe: mp_connection.Connection
    given: deque[tuple[int, Job]] = field(default_factory=deque)  # the first is being checked, a second waits
    ends: float | None = None
    tasks: int = 0
    options: Options | None = None  # the last that the worker was told; most files share theirs

    @property
    def open(self) -> bool:
        """Whether another job may wait here: only small ones, lest a file waits for a large one before it."""
        return len(self.given) == 1 and self.tasks < TASKS_PER_WORKER and _is_small(self.given[0][1])


@dataclass
class _Pool:
    resources: Resources
    check: Check
    seats: list[_Seat] = field(default_factory=list)
    done: dict[int, FileReport] = field(default_factory=dict)
    waiting: deque[tuple[int, Job]] = field(default_factory=deque)

    def run(self, jobs: Iterator[Job]) -> Iterator[FileReport]:
        given = yielded = 0
        more = True
        while True:
            while more and len(self.waiting) < self.resources.jobs and given - yielded < AHEAD:
                job = next(jobs, None)
                more = job is not None
                if job is not None:
                    self.waiting.append((given, job))
                    given += 1
            self._assign()
            while yielded in self.done:
                yield self.done.pop(yielded)
                yielded += 1
            if yielded == given and not more:
                return
            if any(seat.given for seat in self.seats):
                self._collect()

    def _assign(self) -> None:
        for seat in [seat for seat in self.seats if not seat.given]:
            if self.waiting and seat.tasks >= TASKS_PER_WORKER:
                self._leave(seat)
            elif self.waiting:
                self._give(seat)
        while self.waiting and len(self.seats) < self.resources.jobs:
            self._give(self._hire())
        for seat in [seat for seat in self.seats if seat.open]:
            if self.waiting and _is_small(self.waiting[0][1]):
                self._give(seat)

    def _give(self, seat: _Seat) -> None:
        seat.given.append(self.waiting.popleft())
        seat.tasks += 1
        if len(seat.given) == 1:
            self._begin(seat)
        job = seat.given[-1][1]
        with suppress(OSError):  # a worker that is gone shows when its reports are collected
            seat.pipe.send((job.path, None if job.options is seat.options else job.options))
        seat.options = job.options

    def _begin(self, seat: _Seat) -> None:
        limit = self.resources.seconds
        seat.ends = None if limit is None or not seat.given else time.monotonic() + limit + GRACE_S

    def _collect(self) -> None:
        """Wait for a result, the end of a worker, or a deadline."""
        ends = min((seat.ends for seat in self.seats if seat.ends is not None), default=None)
        timeout = None if ends is None else max(0.0, ends - time.monotonic())
        ready = mp_connection.wait([seat.pipe for seat in self.seats if seat.given], timeout)
        for seat in list(self.seats):
            if seat.pipe in ready:
                self._receive(seat)
            elif seat.ends is not None and time.monotonic() > seat.ends:
                self._late(seat)

    def _receive(self, seat: _Seat) -> None:
        try:
            report: FileReport = seat.pipe.recv()
        except (EOFError, OSError):
            self._lost(seat)
            return
        index, _ = seat.given.popleft()
        self.done[index] = report
        self._begin(seat)

    def _late(self, seat: _Seat) -> None:
        self._fail(seat, f"took longer than {self.resources.seconds:g} s and was stopped", "--timeout allows more")

    def _lost(self, seat: _Seat) -> None:
        mp_connection.wait([seat.process.sentinel], GRACE_S)  # not join: a reaped process id may be given anew
        kill(seat.process.pid)
        seat.process.join()
        self._fail(seat, f"the check ended without a result: {_cause(seat.process.exitcode)}", "please report it")

    def _fail(self, seat: _Seat, what: str, hint: str) -> None:
        """Give up the file that is being checked; one that waited behind it goes to another worker."""
        if seat.given:
            index, job = seat.given.popleft()
            self.done[index] = _failure(job, what, hint)
        self.waiting.extendleft(reversed(seat.given))
        self._leave(seat)

    def _hire(self) -> _Seat:
        context: Any = get_context(_start_method())
        ours, theirs = context.Pipe()
        forked = context.get_start_method() == "fork"
        inherited = [ours, *(seat.pipe for seat in self.seats)] if forked else []
        process = context.Process(
            target=_work, args=(theirs, inherited, self.check, self.resources, os.getpid()), daemon=True
        )
        process.start()
        theirs.close()
        seat = _Seat(process, ours)
        self.seats.append(seat)
        return seat

    def _leave(self, seat: _Seat) -> None:
        self.seats.remove(seat)
        seat.pipe.close()
        if seat.process.exitcode is None:
            kill(seat.process.pid)
            seat.process.join()

    def close(self) -> None:
        for seat in list(self.seats):
            self._leave(seat)


def _is_small(job: Job) -> bool:
    try:
        return os.stat(job.path).st_size <= SMALL  # noqa: PTH116 - a Path costs more than the question
    except (OSError, ValueError):
        return False


def _start_method() -> str:
    """Fork where that is safe: a worker then costs a few milliseconds instead of all imports anew."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def _work(
    pipe: mp_connection.Connection,
    inherited: list[mp_connection.Connection],
    check: Check,
    resources: Resources,
    parent: int,
) -> None:
    """Live in a worker: take jobs until the pipe ends."""
    for other in inherited:
        other.close()
    if not confine(parent, resources.megabytes):
        return
    options = Options()
    while True:
        try:
            path, changed = pipe.recv()
            options = changed or options
            pipe.send(_checked(check, Job(path, options), resources))
        except (EOFError, OSError):
            return


def _checked(check: Check, job: Job, resources: Resources) -> FileReport:
    try:
        return check(job.path, job.options)
    except MemoryError:
        return _failure(job, f"needs more than {resources.megabytes} MB of memory", "--memory allows more")
    except Exception as error:
        if os.environ.get("ADF_FORMAT_DEBUG") and resources.jobs == 0:
            raise
        return _failure(job, f"internal error: {type(error).__name__}: {error}", "please report it")


def _failure(job: Job, what: str, hint: str) -> FileReport:
    stats = Stats(depth=job.options.depth.name.lower())
    return FileReport(job.path, stats=stats, error=f"{job.path}: {what} ({hint})")


def _cause(exitcode: int | None) -> str:
    if exitcode is None:
        return "its process does not answer"
    if exitcode < 0:
        import signal

        name = signal.Signals(-exitcode).name
        return f"its process died of {name}{', perhaps for lack of memory' if name in ('SIGKILL', 'SIGABRT') else ''}"
    return f"its process ended with code {exitcode}"
