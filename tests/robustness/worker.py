"""Validates files named on stdin, one JSON answer per line on stdout; run as a program, with a memory limit.

The answer says what was found, or the traceback of whatever came out that should not have.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ADDRESS_SPACE = 3 << 30


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        path, depth = json.loads(line)
        sys.stdout.write(json.dumps(_answer(path, depth)) + "\n")
        sys.stdout.flush()


def _answer(path: str, depth: int) -> dict[str, Any]:
    from adf_format.validation.context import Depth
    from adf_format.validation.engine import Options, validate_file

    began = time.monotonic()
    try:
        report = validate_file(path, Options(depth=Depth(depth)))
        answer = report.as_json()
        answer["text"] = json.dumps(answer)[:2_000_000].count("\n")
    except BaseException:  # noqa: BLE001
        answer = {"traceback": traceback.format_exc()}
    answer["seconds"] = time.monotonic() - began
    answer["megabytes"] = max(_peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    answer["children"] = _children()
    return answer


def _peak() -> float:
    """Return the most memory that this program ever had; `ru_maxrss` also counts the process that started it."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) / 1024


def _children() -> int:
    return len(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split())


if __name__ == "__main__":
    main()
