"""A long past takes no more memory than a short one."""

from __future__ import annotations

import tracemalloc
from collections import deque
from pathlib import Path

import apsw
import pytest

from adf_format.audit import encode_loop
from adf_format.container import open_readonly
from adf_format.history import coverage, transcript
from tests.history.past_support import agent, row

PIECE = 1000
TEXT = "beans " * 40


@pytest.fixture(scope="module", params=["one loop", "two loops by turns"])
def long_past(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 rows, half of them archived."""
    path = agent(tmp_path_factory.mktemp("long") / "a.adf", version=32)
    turns = request.param != "one loop"
    connection = apsw.Connection(str(path))
    with connection:
        for start in range(1, 10_001, PIECE):
            for loop, step in (("main", 2), ("side", 2)) if turns else (("main", 1),):
                first = start + (loop == "side")
                made = encode_loop([row(seq, TEXT) for seq in range(first, start + PIECE, step)])
                connection.execute(
                    "INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, 1)",
                    (f"loop:{loop}", made.start_seq, made.end_seq, made.entry_count, made.size_bytes, made.data),
                )
        connection.executemany(
            "INSERT INTO adf_loop (seq, role, content_json, created_at, loop) VALUES (?, ?, ?, ?, ?)",
            (
                (one["seq"], one["role"], one["content_json"], one["created_at"], loop)
                for one, loop in (
                    (row(seq, TEXT), "side" if turns and seq % 2 == 0 else "main") for seq in range(10_001, 20_001)
                )
            ),
        )
    connection.close()
    return path


def test_coverage_and_transcripts_stay_flat(long_past: Path) -> None:
    """The rows hold 6 MB of text; intervals take 16 bytes each, a row is gone when the next one comes."""
    with open_readonly(long_past) as container:
        deque(transcript(container, "main", history=True, last=1), maxlen=0)  # imports and caches
        tracemalloc.start()
        found = coverage(container)
        after_coverage = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        count = 0
        for loop in found.loops:
            for _ in transcript(container, loop, history=True):
                count += 1
            for _ in transcript(container, loop):
                count += 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert count == 30_000
    assert found.complete
    assert after_coverage < 2_000_000
    assert peak < 4_000_000
