"""Slices: those of Python over the rows in display order, and what real v0.4.2 did with the same arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clearing_support import agent, rows
from hypothesis import given
from hypothesis import strategies as st

from adf_format.clearing import Request, Slice, clear, plan
from adf_format.errors import UsageError

ORACLE = Path(__file__).parents[3] / "shared" / "real-files" / "slice_oracle.json"
BOUND = st.none() | st.integers(-30, 30)


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        (None, None, []),
        (None, 5, [5, 6, 7, 8, 9]),
        (None, -5, [5, 6, 7, 8, 9]),
        (-10, None, []),
        (-3, None, [0, 1, 2, 3, 4, 5, 6]),
        (2, 8, [0, 1, 8, 9]),
        (12, None, list(range(10))),
        (-99, 1, list(range(1, 10))),
        (5, 5, list(range(10))),
        (8, 2, list(range(10))),
        (None, -10, list(range(10))),
        (None, 0, list(range(10))),
    ],
)
@pytest.mark.parametrize("version", [21, 28, 32])
def test_the_cases_of_the_format(
    tmp_path: Path, version: int, start: int | None, end: int | None, kept: list[int]
) -> None:
    path = agent(tmp_path / "a.adf", version, [(seq, None) for seq in range(10, 20)])
    outcome = clear(path, Request("loop", slice=Slice(start, end)))
    assert rows(path, "SELECT seq - 10 FROM adf_loop ORDER BY seq") == [(position,) for position in kept]
    assert outcome.cleared[0].entries == 10 - len(kept)
    assert outcome.cleared[0].archived == (len(kept) < 10)


@given(BOUND, BOUND, st.integers(0, 12))
def test_positions_are_those_of_python(start: int | None, end: int | None, count: int) -> None:
    items = list(range(count))
    assert [items[position] for position in Slice(start, end).positions(count)] == items[start:end]


@given(BOUND, BOUND)
def test_text_and_slice_are_one(start: int | None, end: int | None) -> None:
    assert Slice.parse(str(Slice(start, end))) == Slice(start, end)


@pytest.mark.parametrize("text", ["", "5", "1:2:3", "a:", "1.0:", "1_0:", "\u0663:", " 1:2", "None:", "1" * 30 + ":"])
def test_what_is_no_slice_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Slice.parse(text)


def _cases() -> list[Any]:
    if not ORACLE.exists():
        return []
    tables = json.loads(ORACLE.read_text())["tables"]
    return [pytest.param(table, id=table["name"]) for table in tables]


@pytest.mark.skipif(not ORACLE.exists(), reason="the real files are not here")
@pytest.mark.parametrize("table", _cases())
def test_the_reference_runtime_does_the_same(tmp_path: Path, table: dict[str, Any]) -> None:
    keys = [(row["seq"], row["ord"]) for row in table["before"]]
    original = agent(tmp_path / "original.adf", 28, keys).read_bytes()
    seen = 0
    for row in table["rows"]:
        if row["isError"]:
            continue
        path = tmp_path / "a.adf"
        path.write_bytes(original)
        part = Slice(row["args"].get("start"), row["args"].get("end"))
        planned = plan(path, Request("loop", slice=part)).cleared[0]
        done = clear(path, Request("loop", slice=part), backup=False).cleared[0]
        order = "SELECT seq FROM adf_loop ORDER BY COALESCE(ord, seq), seq"
        assert [seq for (seq,) in rows(path, order)] == row["surviving_seqs"], row["args"]
        assert done.entries == planned.entries == row["deleted"]
        columns = "SELECT source, start_seq, end_seq, entry_count FROM adf_audit"
        expected = [
            tuple(audit[name] for name in ("source", "start_seq", "end_seq", "entry_count")) for audit in row["audit"]
        ]
        assert rows(path, columns) == expected, row["args"]
        seen += 1
    assert seen >= 4
