"""What the benchmarks time, each in a process of its own: prints `{"seconds", "peak_kb"}` as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path


def bare(paths: list[str]) -> None:
    """Do the least that any validator must: open, integrity check, fetch every column of every row."""
    import apsw

    for path in paths:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"file:{path}?immutable=1", flags=flags)
        connection.execute("PRAGMA integrity_check").fetchall()
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            for _ in connection.execute(f'SELECT * FROM "{table}"'):
                pass
        connection.close()


def validate(paths: list[str]) -> None:
    """Validate each file in this process, at the default depth."""
    from adf_format.validation.engine import validate_file

    for path in paths:
        report = validate_file(path)
        if report.error:
            raise SystemExit(report.error)


def batch(paths: list[str]) -> None:
    """Validate all files of a folder with worker processes, as the command does."""
    from adf_format.cli.main import cli

    try:
        cli(["validate", *paths, "--format", "jsonl", "--output", "/dev/null", "--fail-on", "never"], "adf-format")
    except SystemExit as stop:
        if stop.code:
            raise


TASKS: dict[str, Callable[[list[str]], None]] = {"bare": bare, "validate": validate, "batch": batch}


def main() -> None:
    """Run one task: `tasks.py NAME PATH...`; a folder stands for the files in it."""
    name, *given = sys.argv[1:]
    paths = [
        str(file) for path in map(Path, given) for file in (sorted(path.glob("*.adf")) if path.is_dir() else [path])
    ]
    start = time.perf_counter()
    TASKS[name](given if name == "batch" else paths)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_kb": max(peak, children)}))


if __name__ == "__main__":
    main()
