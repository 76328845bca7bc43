"""Benchmark of migration, as a ratio against the bare limit measured in the same run.

    python tools/bench/migrate.py                  # the stated limits; exit 1 if one is missed
    python tools/bench/migrate.py --rows 10000 --snapshots 200

The bare limit is what nobody can do without: a durable copy of the file, and decoding every snapshot once (brotli
and JSON). A receipt vouches for every value of two files, so its limit stands against more: also hashing both files,
and twice reading every value, with JSON parsed and written in one spelling, and hashing it. Each figure is the median
of several pairs, bare and migrated in turn, each in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

LIMIT = 3.0
RECEIPT_LIMIT = 3.0  # times what a receipt cannot do without
MEMORY_MB = 150
ENTRIES = 50  # transcript rows in one snapshot
START = 1767225600000
_LETTERS = Random(1)
WORDS = ["".join(_LETTERS.choices("etaoinshrdlucmfw", k=_LETTERS.randint(2, 10))) for _ in range(5000)]
_TASKS = ("bare", "migrate", "bare-receipt", "receipt")


def build(folder: Path, rows: int, snapshots: int) -> Path:
    """Return a file of version 27 with so many transcript rows of about 1 KB, and snapshots of 50 such rows.

    The words are drawn at random, so that they compress about as well as real text does (three to four times).
    """
    import apsw

    from adf_format.creation import new

    path = folder / f"legacy-{rows}-{snapshots}.adf"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    new(draft, name="Bench", schema_version=27)
    random = Random(27)
    connection = apsw.Connection(str(draft))
    with connection:
        live = ((_role(at), _content(random, at), START + at * 1000) for at in range(rows))
        connection.executemany("INSERT INTO adf_loop (role, content_json, created_at) VALUES (?, ?, ?)", live)
        columns = "source, start_at, end_at, entry_count, size_bytes, data, created_at"
        archived = (_snapshot(random, index * ENTRIES) for index in range(snapshots))
        connection.executemany(f"INSERT INTO adf_audit ({columns}) VALUES ('loop', ?, ?, ?, ?, ?, ?)", archived)
    connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    connection.close()
    draft.rename(path)
    return path


def _role(at: int) -> str:
    return "assistant" if at % 2 else "user"


def _content(random: Random, at: int) -> str:
    text = " ".join(random.choices(WORDS, k=130))
    if at % 2:
        call = {"type": "tool_use", "id": f"toolu_{random.getrandbits(60):015x}", "name": "fs_write"}
        return json.dumps([{**call, "input": {"path": f"notes/{at}.md", "content": text}}], separators=(",", ":"))
    return json.dumps([{"type": "text", "text": text}], separators=(",", ":"))


def _snapshot(random: Random, first: int) -> tuple[object, ...]:
    from adf_format.audit import compress

    entries = [
        f'{{"seq":{at},"role":"{_role(at)}","content_json":{_content(random, at)},"created_at":{START + at * 1000}}}'
        for at in range(first + 1, first + ENTRIES + 1)
    ]
    text = f"[{','.join(entries)}]"
    start, end = START + (first + 1) * 1000, START + (first + ENTRIES) * 1000
    return start, end, ENTRIES, len(text), compress(text), end


def bare(path: Path) -> None:
    """Copy the file durably, and decode every snapshot once."""
    import apsw
    import brotli
    import orjson

    copy = path.with_suffix(".copy")
    with path.open("rb") as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
        target.flush()
        os.fsync(target.fileno())
    connection = apsw.Connection(f"file:{path}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    for (data,) in connection.execute("SELECT data FROM adf_audit"):
        orjson.loads(brotli.decompress(data))
    connection.close()


def bare_receipt(path: Path) -> None:
    """Do what a receipt cannot do without, both files being the same one."""
    import hashlib

    from bench import reading

    bare(path)
    for _ in range(2):
        with path.open("rb") as stream:
            hashlib.file_digest(stream, "sha256")
        reading.read_through(path)


def task(name: str, path: Path) -> None:
    """Do one task, and print `{"seconds", "peak_kb"}`."""
    import resource

    start = time.perf_counter()
    if name in ("bare", "bare-receipt"):
        (bare if name == "bare" else bare_receipt)(path)
    else:
        from adf_format.cli.main import invoke

        report = ["--report", str(path.with_suffix(".json"))] if name == "receipt" else []
        if invoke(["migrate", str(path), "-q", *report]):
            raise SystemExit("the migration failed")
    seconds = time.perf_counter() - start
    usage = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"seconds": seconds, "peak_kb": usage}))


def measure(name: str, origin: Path, scratch: Path) -> tuple[float, int]:
    """Run one task on a fresh copy in a fresh process; gives seconds and peak memory in KB."""
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / "agent.adf"
    shutil.copyfile(origin, path)
    os.sync()
    try:
        command = [sys.executable, __file__, "--task", name, str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        return found["seconds"], found["peak_kb"]
    finally:
        shutil.rmtree(scratch)


def main() -> int:
    """Measure, print, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--snapshots", type=int, default=2_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/adf-bench"))  # noqa: S108
    parser.add_argument("--task", nargs=2, metavar=("NAME", "PATH"))
    given = parser.parse_args()
    if given.task:
        task(given.task[0], Path(given.task[1]))
        return 0
    origin = build(given.folder, given.rows, given.snapshots)
    print(f"{origin.stat().st_size / 1e6:.0f} MB, {given.rows} transcript rows, {given.snapshots} snapshots")
    runs = [[measure(name, origin, given.folder / "scratch") for name in _TASKS] for _ in range(given.pairs)]
    seconds = [statistics.median(run[at][0] for run in runs) for at in range(len(_TASKS))]
    peaks = [max(run[at][1] for run in runs) / 1000 for at in range(len(_TASKS))]
    for at, (name, one, peak) in enumerate(zip(_TASKS, seconds, peaks, strict=True)):
        print(f"{name:<12} {one:6.2f} s   {one / seconds[at - at % 2]:5.2f} x its bare limit   peak {peak:4.0f} MB")
    missed = seconds[1] > LIMIT * seconds[0] or seconds[3] > RECEIPT_LIMIT * seconds[2]
    missed = missed or max(peaks[1], peaks[3]) > MEMORY_MB
    limits = f"{LIMIT:g} x bare without a receipt, {RECEIPT_LIMIT:g} x with one, {MEMORY_MB} MB"
    print(f"limits: {limits}: {'MISSED' if missed else 'held'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
