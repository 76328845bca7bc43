"""Benchmark of `memory status`: at most twice what it takes to read the metadata of all files, and the changed ones.

python tools/bench/memory_status.py [--notes 5000]        # exit 1 if the limit is missed

The workspace has notes of about 10 KB, all but the last days distilled. The bare work is a walk with `stat` of every
file, and reading, decoding and hashing what a status cannot do without: notes of the days since, the files that a
session loads, tracker and state. Both run in the same process, in turns; the best of several rounds counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from adf_format.memory.folder import Folder
from adf_format.memory.status import status

LIMIT = 2.0
ROUNDS = 15
CHANGED_DAYS = 4
NOW = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)
SESSION = ("MEMORY.md", "memory/active_context.md", "memory/pending_tasks.json", "memory/distillation-state.json")


def make(root: Path, notes: int) -> list[str]:
    """Write a workspace; returns the paths of the notes that wait."""
    (root / "memory/channel_context").mkdir(parents=True)
    recorded, waiting = {}, []
    distilled = NOW - timedelta(days=CHANGED_DAYS)
    for back in range(notes):
        day: date = NOW.date() - timedelta(days=back)
        content = (f"# {day}\n\n## Tasks\n\n" + f"- did {back} of what was planned for the day\n" * 240).encode()
        place = root / f"memory/{day}.md"
        place.write_bytes(content)
        moment = (datetime(day.year, day.month, day.day, 9, tzinfo=UTC)).timestamp()
        os.utime(place, (moment, moment))
        if back < CHANGED_DAYS:
            waiting.append(f"memory/{day}.md")
        else:
            recorded[day.isoformat()] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (root / "MEMORY.md").write_text("# Long-Term Memory\n\n" + "- an entry that justifies its space\n" * 200)
    (root / "memory/active_context.md").write_text("# Active Context\n\n" + "- **x**: in progress\n" * 40)
    tasks = [{"id": str(n), "title": "t", "status": "pending", "createdAt": "2026-03-01T00:00:00Z"} for n in range(50)]
    (root / SESSION[2]).write_text(json.dumps({"lastUpdated": None, "tasks": tasks}, indent=2))
    state = {"lastConsolidatedAt": distilled.isoformat(), "notes": recorded}
    (root / SESSION[3]).write_text(json.dumps(state, indent=2))
    return waiting


def bare(root: Path, waiting: list[str]) -> None:
    """Do the least that a status must."""
    for folder, _, names in os.walk(root):
        for name in names:
            os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118 - the least
    for path in (*SESSION, *waiting):
        content = (root / path).read_bytes()
        content.decode()
        hashlib.sha256(content).hexdigest()
        if path.endswith(".json"):
            json.loads(content)


def best(*works: Callable[[], object]) -> list[float]:
    """Return the shortest time of each work, in seconds; they run in turns."""
    found = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            found[number] = min(found[number], time.perf_counter() - start)
    return found


def main() -> int:
    """Measure, print, and compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=5000)
    notes = parser.parse_args().notes
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        waiting = make(root, notes)
        document = status(Folder(root), str(root), NOW)
        if sorted(document["notes"]["unprocessed"]) != sorted(waiting):
            raise SystemExit(f"expected {waiting}, got {document['notes']['unprocessed']}")
        least, taken = best(lambda: bare(root, waiting), lambda: status(Folder(root), str(root), NOW))
    ratio = taken / least
    print(f"{notes:,} notes: metadata and changed files {least * 1000:.1f} ms, status {taken * 1000:.1f} ms")
    print(f"ratio {ratio:.2f} (limit {LIMIT:g})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
