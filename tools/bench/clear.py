"""Benchmark of clearing: a transcript of 10,000 rows (about 10.8 MB), archived, against bare brotli of the same bytes.

    python tools/bench/clear.py                 # exit 1 if the limit is missed

Each figure is the median of several pairs, bare and cleared in turn, each in a fresh process.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 1.5
ROW_BYTES = 1000


def transcript(path: Path, rows: int) -> None:
    """Make an agent whose transcript compresses like real text (about 3.5 to 1), not like one sentence repeated."""
    import apsw

    from adf_format.creation import new

    new(path, name="Bench", schema_version=28)
    chance = random.Random(5)
    parts = [first + second for first in "bcdfghklmnprstvwz" for second in ("a", "e", "i", "o", "u", "ea", "or", "an")]
    words = ["".join(chance.choices(parts, k=chance.choice((1, 1, 2, 2, 3)))) for _ in range(8000)]
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))

    def content(index: int) -> str:
        text = " ".join(chance.choices(words, cum_weights=weights, k=220))[:ROW_BYTES]
        call = {
            "type": "tool_use",
            "id": f"toolu_{index}",
            "name": "fs_write",
            "input": {"path": "a.md", "content": text},
        }
        return json.dumps([call if index % 4 == 1 else {"type": "text", "text": text}], separators=(",", ":"))

    connection = apsw.Connection(str(path))
    insert = "INSERT INTO adf_loop (role, content_json, created_at) VALUES (?, ?, ?)"
    with connection:
        made = ((("user", "assistant")[index % 2], content(index), index) for index in range(rows))
        connection.executemany(insert, made)
    connection.close()


def bare(path: Path) -> dict[str, float]:
    """Compress the text that a clear of this file would archive, at the same quality."""
    import apsw
    import brotli

    from adf_format.audit import loop_entry

    connection = apsw.Connection(str(path))
    names = ("seq", "role", "content_json", "model", "tokens", "created_at", "ord")
    found = connection.execute(f"SELECT {', '.join(names)} FROM adf_loop ORDER BY seq")
    text = f"[{','.join(loop_entry(dict(zip(names, row, strict=True))) for row in found)}]".encode()
    connection.close()
    start = time.perf_counter()
    brotli.compress(text, quality=5, lgwin=22)
    return {"seconds": time.perf_counter() - start, "bytes": len(text)}


def cleared(path: Path) -> dict[str, float]:
    """Clear the file: lock, backup, archive, delete, check."""
    from adf_format.clearing import Request, clear

    start = time.perf_counter()
    outcome = clear(path, Request("loop"))
    seconds = time.perf_counter() - start
    if not outcome.cleared[0].archived:
        raise SystemExit("nothing was archived")
    return {"seconds": seconds}


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
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        result = {"bare": bare, "cleared": cleared}[chosen.task[0]](Path(chosen.task[1]))
        print(json.dumps({**result, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "transcript.adf"
        transcript(path, chosen.rows)
        pairs = [(measure("bare", path), measure("cleared", path)) for _ in range(chosen.pairs)]
    ratio = statistics.median(two["seconds"] / one["seconds"] for one, two in pairs)
    print(f"{pairs[0][0]['bytes']:,} bytes of text")
    print(f"bare brotli {statistics.median(one['seconds'] for one, _ in pairs):.3f} s")
    print(f"clear       {statistics.median(two['seconds'] for _, two in pairs):.3f} s")
    print(f"peak memory {max(two['peak_mb'] for _, two in pairs):.0f} MB")
    print(f"ratio       {ratio:.2f} x  limit {LIMIT}  {'ok' if ratio <= LIMIT else 'MISSED'}")
    sys.exit(ratio > LIMIT)


if __name__ == "__main__":
    main()
