"""Benchmark of validation, as ratios against the bare limit measured in the same run.

    python tools/bench/validate.py                 # the stated limits; exit 1 if one is missed
    python tools/bench/validate.py --rows 10000    # a quick look

Each figure is the median of several pairs, bare and validated in turn, each in a fresh process.
"""

from __future__ import annotations

import argparse
import compileall
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import files

ROOT = Path(__file__).parents[2]
TASKS = Path(__file__).with_name("tasks.py")


@dataclass(frozen=True)
class Result:
    """One figure against its limit."""

    name: str
    figure: float
    limit: float
    unit: str

    def __str__(self) -> str:
        verdict = "ok" if self.figure <= self.limit else "MISSED"
        return f"{self.name:<58} {self.figure:>8.2f} {self.unit:<3} limit {self.limit:g}  {verdict}"


def measure(task: str, *paths: Path) -> dict[str, float]:
    """Run one task in a fresh process; return seconds and peak memory in KB."""
    done = subprocess.run(
        [sys.executable, str(TASKS), task, *map(str, paths)], capture_output=True, text=True, check=True
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def ratio(task: str, paths: list[Path], pairs: int) -> float:
    """Return the median ratio of a task to the bare limit, in turn."""
    measure("bare", *paths)
    return statistics.median(
        measure(task, *paths)["seconds"] / measure("bare", *paths)["seconds"] for _ in range(pairs)
    )


def command_ratio(pairs: int) -> float:
    """Return the median time of `adf-format --version` over that of importing click."""
    script = Path(sys.executable).with_name("adf-format")
    ours, theirs = [str(script), "--version"], [sys.executable, "-c", "import click"]
    return statistics.median(_wall(ours) / _wall(theirs) for _ in range(pairs))


def _wall(command: list[str]) -> float:
    import time

    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def run(folder: Path, rows: int, many: int, pairs: int) -> list[Result]:
    """Measure everything; bytecode is compiled first, as an installation does."""
    compileall.compile_dir(ROOT / "adf_format", quiet=2)
    big = files.transcript(folder, rows)
    small, large = files.transcript(folder, rows // 10), files.transcript(folder, rows * 10)
    peaks = [measure("validate", path)["peak_kb"] / 1024 for path in (small, big, large)]
    copies = files.many(folder, many)
    first, last = measure("validate", *copies[: many // 10]), measure("validate", *copies)
    per_file = (last["seconds"] / many) / (first["seconds"] / (many // 10))
    return [
        Result(f"validate {rows:,} rows / bare", ratio("validate", [big], pairs), 4, "x"),
        Result(f"peak memory at {rows // 10:,} rows", peaks[0], 150, "MB"),
        Result(f"peak memory at {rows:,} rows", peaks[1], 150, "MB"),
        Result(f"peak memory at {rows * 10:,} rows", peaks[2], 150, "MB"),
        Result(f"peak memory, {rows * 10:,} rows / {rows // 10:,} rows", peaks[2] / peaks[0], 1.25, "x"),
        Result(f"validate {many:,} small files in one call / bare", ratio("batch", [copies[0].parent], pairs), 5, "x"),
        Result("time per file, all files / first tenth", per_file, 1.25, "x"),
        Result("adf-format --version / import click", command_ratio(pairs * 3), 3, "x"),
    ]


def main() -> None:
    """Parse arguments, measure, print, and fail if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="keep the built files here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = run(chosen.folder or Path(scratch), chosen.rows, chosen.files, chosen.pairs)
    print(*results, sep="\n")
    sys.exit(any(result.figure > result.limit for result in results))


if __name__ == "__main__":
    main()
