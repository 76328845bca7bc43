"""Runs the validator on hostile files in a process of its own, and holds it to its limits."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SECONDS = 20.0
MEGABYTES = 512
WORKER = Path(__file__).with_name("worker.py")
ROOT = Path(__file__).resolve().parents[2]


class Arena:
    """One worker process, started anew after it died.

    :ivar scratch: folder for its temporary files; empty unless something was left behind
    """

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def judge(self, path: Path, depth: int = 1) -> dict[str, Any]:
        """Validate a file; what breaks a limit comes back as `traceback`, so that a caller needs one check."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps([str(path), depth]) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], self._seconds)
            line = process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line, ready = "", [0]
        if not line:
            code = process.poll()
            self._stop()
            return {"traceback": f"the worker died with {code}" if ready else f"no answer in {self._seconds} s"}
        answer: dict[str, Any] = json.loads(line)
        return answer | self._broken_limits(answer)

    def _broken_limits(self, answer: dict[str, Any]) -> dict[str, Any]:
        broken = []
        if answer["megabytes"] > MEGABYTES:
            broken.append(f"used {answer['megabytes']:.0f} MB")
            self._stop()
        if answer["children"]:
            broken.append(f"left {answer['children']} processes behind")
        if left := [entry.name for entry in self.scratch.iterdir()]:
            broken.append(f"left {left} behind")
        said = str(answer.get("error")) + json.dumps(answer.get("stats", {}).get("not_checked", []))
        if "internal error" in said:
            broken.append(said)
        return {"traceback": "; ".join(broken)} if broken and "traceback" not in answer else {}

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self._stop()  # closes the pipes of a worker that died between two files
        if self._process is None:
            paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
            environment = os.environ | {"TMPDIR": str(self.scratch), "PYTHONPATH": paths}
            command = [sys.executable, str(WORKER)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()
            self._process = None
