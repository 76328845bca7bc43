"""Benchmark of the runtime, as ratios against the bare work measured in the same run.

    python tools/bench/runtime.py               # exit 1 if a limit is missed

- step: appending one row, against a bare insert and commit of the same row on a connection with the same settings.
- wake: from `send` with `wake` to the model request of an idle loop, against the SQL that it cannot do without (the
  row, the record of the turn); the same with 16 loops declared, against one.
- clear: 10,000 rows cleared with audit on, against bare brotli of the text that is archived.
- start: starting an agent with 2,000 live and 100,000 archived rows and reading its stream, against one with the live
  rows alone; and the memory of both.

Figures are medians; what is compared runs in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

LIMITS = {"step": 2.0, "wake": 3.0, "wake of 16": 1.25, "clear": 1.5, "start": 2.0, "start memory": 1.25}
BLOCKS = [{"type": "text", "text": "A line of text of ordinary length, as agents write them all day long. " * 6}]
INSERT = "INSERT INTO adf_loop (role, content_json, created_at, loop) VALUES (?, ?, ?, ?)"


class Quiet:
    """A model that answers at once; :ivar at: when it was last asked."""

    def __init__(self) -> None:
        self.at = 0.0

    async def complete(self, **_: Any) -> Any:
        """Answer."""
        from adf_format.models import Completion, Usage

        self.at = time.perf_counter()
        return Completion([{"type": "text", "text": "ok"}], "end_turn", Usage(10, 1))


def agent(path: Path, loops: int = 1) -> Any:
    """A new agent with some loops; not started."""
    from adf_format import creation
    from adf_format.runtime.agent import Agent
    from adf_format.runtime.clock import VirtualClock

    declared = [{"name": f"l{number}", "goal": "Wait.", "enabled": True, "tools": []} for number in range(loops)]
    config = {"loops": declared, "model": {"provider": "p", "model_id": "m"}, "limits": {"max_active_turns": None}}
    creation.new(path, name="bench", config=config)
    return Agent(path, model=Quiet(), owner=None, clock=VirtualClock())  # type: ignore[arg-type]


def timed(action: Callable[[], object]) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def step(folder: Path, rounds: int) -> float:
    """Ratio of a step against a bare insert and commit."""
    from adf_format.audit import javascript_json

    runtime = agent(folder / "step.adf")
    context = runtime.pool.loop("l0").context
    context.session()
    connection = runtime.store.connection
    content = javascript_json(BLOCKS)
    bare, made = [], []
    for number in range(rounds):
        bare.append(timed(partial(connection.execute, INSERT, ("user", content, number, "other"))))
        made.append(timed(partial(context.append, "user", BLOCKS)))
    runtime.store.close()
    return statistics.median(made) / statistics.median(bare)


def wake(folder: Path, rounds: int) -> tuple[float, float]:
    """Ratio of a wake against its SQL, and of a wake among 16 loops against one."""
    one, bare = asyncio.run(_wake(folder / "wake1.adf", 1, rounds))
    many, _ = asyncio.run(_wake(folder / "wake16.adf", 16, rounds))
    return one / bare, many / one


async def _wake(path: Path, loops: int, rounds: int) -> tuple[float, float]:
    runtime = agent(path, loops)
    await runtime.start()
    connection = runtime.store.connection
    record = (
        '{"id":"x","status":"in_progress","started_at":1767225600000,"updated_at":1767225600000,"event_type":"kick"}'
    )
    meta = "INSERT INTO adf_meta (key, value) VALUES ('k', ?1) ON CONFLICT DO UPDATE SET value = ?1"
    made, bare = [], []
    for number in range(rounds):
        begun = time.perf_counter()
        runtime.send("main", "l0", "wake up", wake=True)
        while runtime.pool.machine.is_busy("l0"):
            await asyncio.sleep(0)
        made.append(runtime.model.at - begun)
        begun = time.perf_counter()
        connection.execute(INSERT, ("user", '[{"type":"text","text":"wake up"}]', number, "other"))
        connection.execute(meta, (record,))
        bare.append(time.perf_counter() - begun)
    await runtime.stop()
    return statistics.median(made), statistics.median(bare)


def clear(folder: Path, rounds: int) -> float:
    """Ratio of an audited clear of 10,000 rows against bare brotli of the archived text."""
    import brotli

    from adf_format.audit import Blob, decompress_all

    ratios = []
    for number in range(rounds):
        runtime = agent(folder / f"clear{number}.adf")
        _fill(runtime, "l0", 10_000)
        spent = timed(partial(_cleared, runtime))
        text = decompress_all(Blob(runtime.store.connection, "adf_audit", "data", 1), limit_bytes=1 << 28)
        ratios.append(spent / timed(partial(brotli.compress, text, quality=5, lgwin=22)))
        runtime.store.close()
    return statistics.median(ratios)


def _cleared(runtime: Any) -> None:
    asyncio.run(runtime.clear("l0"))


def _run(path: Path) -> None:
    asyncio.run(_started(path))


def _fill(runtime: Any, loop: str, rows: int) -> None:
    """Rows of about 1 KB that compress as text does."""
    from random import Random

    chance = Random(7)
    words = ["".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 10))) for _ in range(5000)]
    with runtime.store.transaction() as connection:
        for number in range(rows):
            text = " ".join(chance.choices(words, k=150))
            connection.execute(
                INSERT, (("user", "assistant")[number % 2], f'[{{"type":"text","text":"{text}"}}]', 1, loop)
            )


def start(folder: Path, rounds: int) -> tuple[float, float]:
    """Ratio of a start with 100,000 archived rows beside 2,000 live ones against the live ones alone; time, memory."""
    paths = {}
    for name, archived in (("live", 0), ("both", 100_000)):
        runtime = agent(folder / f"{name}.adf")
        for _ in range(archived // 10_000):
            _fill(runtime, "main", 10_000)
            asyncio.run(runtime.clear("main"))
        _fill(runtime, "main", 2_000)
        runtime.store.close()
        paths[name] = folder / f"{name}.adf"
    spent: dict[str, list[float]] = {"live": [], "both": []}
    peaks: dict[str, float] = {}
    for _ in range(rounds):
        for name, path in paths.items():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            spent[name].append(timed(partial(_run, path)))
            peaks[name] = max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            gc.collect()
    ratio = statistics.median(spent["both"]) / statistics.median(spent["live"])
    return ratio, peaks["both"] / peaks["live"]


async def _started(path: Path) -> None:
    from adf_format.runtime.agent import Agent
    from adf_format.runtime.clock import VirtualClock

    runtime = Agent(path, model=Quiet(), owner=None, clock=VirtualClock())  # type: ignore[arg-type]
    await runtime.start()
    runtime.pool.loop("main").context.session()
    await runtime.stop()


def main() -> None:
    """Measure, print, and say whether every limit is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300, help="repetitions of what is short")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        figures = {"step": step(folder, rounds)}
        figures["wake"], figures["wake of 16"] = wake(folder, rounds)
        figures["clear"] = clear(folder, 3)
        figures["start"], figures["start memory"] = start(folder, 7)
    for name, figure in figures.items():
        verdict = "ok" if figure <= LIMITS[name] else "MISSED"
        print(f"{name:<14}{figure:6.2f} x  limit {LIMITS[name]:.2f}  {verdict}")
    sys.exit(any(figure > LIMITS[name] for name, figure in figures.items()))


if __name__ == "__main__":
    main()
