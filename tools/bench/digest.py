"""Benchmark of the logical digest, as a ratio against the bare limit measured in the same run; memory at two sizes.

    python tools/bench/digest.py                # exit 1 if a limit is missed

The bare limit is to read every value, to bring JSON into one spelling, and to hash it all. Each figure is the median
of several pairs, bare and digest in turn, each in a fresh process, in seconds of processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import files

LIMIT = 3.0
MEGABYTES = 150


def measure(name: str, path: Path) -> dict[str, float]:
    """Do a task in a fresh process: seconds of processor time and peak memory."""
    command = [sys.executable, __file__, "--task", name, str(path)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def task(name: str, path: str) -> None:
    """Read through or digest one file, and print what it took."""
    from bench import reading

    from adf_format.container import open_readonly
    from adf_format.digest import digest

    start = time.process_time()
    if name == "bare":
        reading.read_through(Path(path))
    else:
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
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        task(*chosen.task)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        small, path = (files.transcript(folder, rows) for rows in (chosen.rows // 10, chosen.rows))
        pairs = [(measure("bare", path), measure("digest", path)) for _ in range(chosen.pairs)]
        peaks = [measure("digest", small)["peak_mb"], max(large["peak_mb"] for _, large in pairs)]
    bare, seconds = (statistics.median(pair[at]["seconds"] for pair in pairs) for at in (0, 1))
    print(f"bare         {bare / chosen.rows * 1e6:.1f} us per row")
    print(f"digest       {seconds / chosen.rows * 1e6:.1f} us per row, {seconds / bare:.2f} x bare, limit {LIMIT:g}")
    print(f"peak memory  {peaks[0]:.0f} MB and {peaks[1]:.0f} MB, limit {MEGABYTES}")
    sys.exit(seconds > LIMIT * bare or peaks[1] > MEGABYTES)


if __name__ == "__main__":
    main()
