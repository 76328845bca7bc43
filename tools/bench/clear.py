"""Benchmark of clearing: a transcript of 10,000 rows (about 10.8 MB), archived, against bare brotli of the same bytes.

    python tools/bench/clear.py                 # exit 1 if the limit is missed

Each figure is the median of several pairs, bare and cleared in turn, each in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import files

LIMIT = 1.5


def bare(path: Path) -> float:
    """Compress the text that a clear of this file would archive, at the same quality; seconds."""
    import apsw
    import brotli

    from adf_format.audit import encode_loop

    connection = apsw.Connection(str(path))
    names = ("seq", "role", "content_json", "model", "tokens", "created_at", "ord")
    found = connection.execute(f"SELECT {', '.join(names)} FROM adf_loop ORDER BY seq")
    text = encode_loop(dict(zip(names, row, strict=True)) for row in found).text.encode()
    connection.close()
    print(f"{len(text):,} bytes", file=sys.stderr)
    start = time.perf_counter()
    brotli.compress(text, quality=5, lgwin=22)
    return time.perf_counter() - start


def cleared(path: Path) -> float:
    """Clear the file: lock, backup, archive, delete, check; seconds."""
    from adf_format.clearing import Request, clear

    start = time.perf_counter()
    outcome = clear(path, Request("loop"))
    seconds = time.perf_counter() - start
    assert outcome.cleared[0].archived
    return seconds


def measure(task: str, source: Path) -> dict[str, float]:
    """Run one task on a copy of the file in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.adf"
        shutil.copyfile(source, path)
        done = subprocess.run(
            [sys.executable, __file__, "--task", task, path], capture_output=True, text=True, check=True
        )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure, print, and fail if the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keep the built file here")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        seconds = {"bare": bare, "cleared": cleared}[chosen.task[0]](Path(chosen.task[1]))
        print(json.dumps({"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = files.transcript(chosen.folder or Path(scratch), chosen.rows)
        pairs = [(measure("bare", path), measure("cleared", path)) for _ in range(chosen.pairs)]
    ratio = statistics.median(two["seconds"] / one["seconds"] for one, two in pairs)
    print(f"bare brotli {statistics.median(one['seconds'] for one, _ in pairs):.3f} s")
    print(f"clear       {statistics.median(two['seconds'] for _, two in pairs):.3f} s")
    print(f"peak memory {max(two['peak_mb'] for _, two in pairs):.0f} MB")
    print(f"ratio       {ratio:.2f} x  limit {LIMIT}  {'ok' if ratio <= LIMIT else 'MISSED'}")
    sys.exit(ratio > LIMIT)


if __name__ == "__main__":
    main()
