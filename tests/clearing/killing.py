"""Killing a change in the middle: the child says when it begins, the parent kills it some time later."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import adf_format


def _start(code: str) -> subprocess.Popen[bytes]:
    program = f"import sys\n{code}\nprint('begin', flush=True)\nchange()\nprint('end', flush=True)"
    place = {**os.environ, "PYTHONPATH": str(Path(adf_format.__file__).parents[1])}
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=place)
    assert child.stdout is not None
    assert child.stdout.readline() == b"begin\n"
    return child


def duration(code: str) -> float:
    """Return how many seconds a change takes."""
    child = _start(code)
    begin = time.perf_counter()
    child.communicate()
    assert child.returncode == 0
    return time.perf_counter() - begin


def killed(code: str, longest: float, times: int, seed: int = 3) -> Iterator[bool]:
    """Run a change and kill it at seeded instants; yields each time, with whether it had ended before."""
    instants = random.Random(seed)
    for _ in range(times):
        child = _start(code)
        time.sleep(instants.uniform(0, longest))
        child.kill()
        output, _ = child.communicate()
        yield output == b"end\n"
