"""The process of a driver: its pipes, its group, its end. It knows lines of bytes and nothing of JSON.

One thread serves all three pipes without blocking, so a driver that reads nothing, floods, or leaves grandchildren
that hold its pipes open can never hang the suite.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adf_conformance.protocol.errors import CannotStart

LINE_LIMIT = 64 * 2**20  # bytes of one line; what is longer is reported as malformed
STDERR_KEPT = 64 * 2**10  # bytes of the end of stderr
MARK = "ADF_CONFORMANCE_PROCESS"  # environment variable that every descendant inherits
GRACE = 0.3  # seconds that pipes of a dead process are still read
_CHUNK = 1 << 16


class DriverProcess:
    """A running driver.

    :param on_line: called in the thread of the pipes with each line of stdout, without its newline, and whether it is
        whole (a line longer than `LINE_LIMIT` or without a newline at the end of the stream is not)
    :param on_end: called once, when the process is gone and its pipes are read
    """

    def __init__(
        self,
        command: Sequence[str],
        on_line: Callable[[bytes, bool], None],
        on_end: Callable[[int], None],
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._mark = uuid.uuid4().hex
        self._on_line, self._on_end = on_line, on_end
        self._out, self._err = bytearray(), deque[bytes]()
        self._err_size, self.stderr_bytes = 0, 0
        self._skipping = False
        self._to_write: deque[memoryview] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._process = self._start(command, {**os.environ, **(env or {}), MARK: self._mark})
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._thread = threading.Thread(target=self._serve, daemon=True, name=f"driver {self._process.pid}")
        self._thread.start()

    @staticmethod
    def _start(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(  # noqa: S603 - running the driver that the user names is the point
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True, env=env
            )
        except OSError as error:
            raise CannotStart(f"{command[0]}: {error.strerror or 'cannot be started'}") from None
        except ValueError as error:
            raise CannotStart(f"{command[0]!r}: {error}") from None

    @property
    def pid(self) -> int:
        """Process id, which is the id of its group too."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Exit code or minus the number of a signal; None while it runs."""
        return self._process.poll()

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        with self._lock:
            return b"".join(self._err)[-STDERR_KEPT:].decode("utf-8", "backslashreplace")

    def write(self, line: bytes) -> None:
        """Queue one line for its stdin; never blocks."""
        with self._lock:
            self._to_write.append(memoryview(line + b"\n"))
        self._wake()

    def wait(self, seconds: float) -> bool:
        """Wait for its end; say whether it came."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def kill(self) -> None:
        """End the whole group with SIGKILL, and whatever escaped from it; return when all is gone."""
        self._end_group()
        self._closing.set()
        self._wake()
        self._process.wait()
        self._thread.join(10)
        self._end_escaped()

    def _end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end_escaped(self) -> None:
        """End descendants that left the group: they still carry our mark in their environment (Linux)."""
        mark = f"{MARK}={self._mark}".encode()
        with contextlib.suppress(OSError):
            for entry in Path("/proc").iterdir():
                with contextlib.suppress(OSError):
                    if entry.name.isdecimal() and mark in (entry / "environ").read_bytes().split(b"\0"):
                        os.kill(int(entry.name), signal.SIGKILL)

    def _wake(self) -> None:
        with self._lock, contextlib.suppress(OSError):  # full: it is awake anyway
            if self._wake_write >= 0:
                os.write(self._wake_write, b"!")

    # --- the thread of the pipes

    def _serve(self) -> None:
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None  # noqa: S101 - PIPE was asked for
        assert stdout is not None  # noqa: S101
        assert stderr is not None  # noqa: S101
        for stream in (stdin, stdout, stderr):
            os.set_blocking(stream.fileno(), False)
        with selectors.DefaultSelector() as chosen:
            chosen.register(stdout, selectors.EVENT_READ, self._read_out)
            chosen.register(stderr, selectors.EVENT_READ, self._read_err)
            chosen.register(self._wake_read, selectors.EVENT_READ, self._read_wake)
            self._until_gone(chosen, stdin.fileno())
        status = self._process.wait()
        if self._out:
            self._on_line(bytes(self._out), False)
        for stream in (stdin, stdout, stderr):
            with contextlib.suppress(OSError):
                stream.close()
        with self._lock:  # from now on nobody may write to these numbers: others will get them
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_write = -1
        self._on_end(status)

    def _until_gone(self, chosen: selectors.BaseSelector, stdin: int) -> None:
        gone_at: float | None = None
        while len(chosen.get_map()) > 1 or self._process.poll() is None:
            for key, _ in chosen.select(0.05):
                if not key.data():
                    chosen.unregister(key.fileobj)
            self._write_in(stdin)
            if gone_at is None and self._process.poll() is not None:
                gone_at = time.monotonic()
                self._end_group()  # grandchildren would keep the pipes open
            if self._closing.is_set() or (gone_at is not None and time.monotonic() - gone_at > GRACE):
                return

    def _read_wake(self) -> bool:
        os.read(self._wake_read, _CHUNK)
        return True

    def _read_err(self) -> bool:
        chunk = self._read(self._process.stderr)
        if chunk:
            with self._lock:
                self._err.append(chunk)
                self._err_size += len(chunk)
                self.stderr_bytes += len(chunk)
                while self._err_size - len(self._err[0]) > STDERR_KEPT:
                    self._err_size -= len(self._err.popleft())
        return chunk != b""

    def _read_out(self) -> bool:
        chunk = self._read(self._process.stdout)
        if not chunk:
            return chunk is None
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            if not self._skipping:
                self._on_line(bytes(self._out) + part, True)
            self._skipping = False
            self._out.clear()
        if not self._skipping:
            self._out += rest
        if len(self._out) > LINE_LIMIT:
            self._on_line(bytes(self._out), False)
            self._skipping = True
            self._out.clear()
        return True

    @staticmethod
    def _read(stream: object) -> bytes | None:
        """Return bytes, b"" at the end of the stream, None if there is nothing yet."""
        try:
            return os.read(stream.fileno(), _CHUNK)  # type: ignore[attr-defined]
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _write_in(self, stdin: int) -> None:
        while True:
            with self._lock:
                if not self._to_write:
                    return
                pending = self._to_write[0]
            try:
                sent = os.write(stdin, pending)
            except BlockingIOError:
                return  # full: tried again at the next round
            except OSError:
                sent = len(pending)  # it closed its stdin: its end, or the missing answer, will tell
            with self._lock:
                self._to_write[0] = pending[sent:]
                if not self._to_write[0]:
                    self._to_write.popleft()
