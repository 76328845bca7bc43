"""Benchmark of the logical digest: time per transcript row of about 1 KB, and memory at two sizes.

python tools/bench/digest.py                # exit 1 if a limit is missed
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import files

MICROSECONDS = 10
MEGABYTES = 150


def measure(path: Path) -> dict[str, float]:
    """Digest a file in a fresh process: seconds of processor time and peak memory."""
    command = [sys.executable, __file__, "--task", str(path)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def task(path: str) -> None:
    """Digest one file, and print what it took."""
    from adf_format.container import open_readonly
    from adf_format.digest import digest

    with open_readonly(path) as container:
        start = time.process_time()
        digest(container)
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


def main() -> None:
    """Measure, print, and fail if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="keep the built files here")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        task(chosen.task)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        small, large = (measure(files.transcript(folder, rows)) for rows in (chosen.rows // 10, chosen.rows))
    per_row = large["seconds"] / chosen.rows * 1e6
    print(f"per row      {per_row:.1f} us  limit {MICROSECONDS}")
    print(f"peak memory  {small['peak_mb']:.0f} MB and {large['peak_mb']:.0f} MB  limit {MEGABYTES}")
    sys.exit(per_row > MICROSECONDS or large["peak_mb"] > MEGABYTES)


if __name__ == "__main__":
    main()
