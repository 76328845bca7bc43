"""VEC-3 and VEC-4, replayed: two compactions of one loop, and what every reader then makes of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format.audit import encode_loop
from adf_format.container import open_readonly
from adf_format.history import Item, coverage, resolve, trace, transcript
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file
from tests.history.past_support import START, agent, row

ORDER = "SELECT * FROM adf_loop WHERE loop = 'main' ORDER BY COALESCE(ord, seq), seq"
AUDIT_ON = "UPDATE adf_config SET config_json = json_set(config_json, '$.context.audit', json('{\"loop\":true}'))"


class Runtime:
    """Does to a file what a runtime does, by the rules of the fact sheet and with no code of theirs or of a sibling."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START + 100_000

    def _rows(self, connection: apsw.Connection) -> list[dict[str, Any]]:
        found = connection.execute(ORDER)
        return [dict(zip([name for name, _ in found.get_description()], one, strict=True)) for one in found]

    def append(self, *texts: str) -> None:
        connection = apsw.Connection(str(self.path))
        for text in texts:
            self.now += 1000
            one = row(0, text)
            values = (one["content_json"], self.now)
            connection.execute("INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', ?, ?)", values)
        connection.close()

    def compact(self, preserved: set[int], text: str) -> None:
        """CMP-020 to CMP-027: archive and delete all but the preserved rows, and put a summary before them."""
        connection = apsw.Connection(str(self.path))
        with connection:
            rows = self._rows(connection)
            gone = [one for one in rows if one["seq"] not in preserved]
            made = encode_loop(gone)
            self.now += 1000
            connection.execute(
                "INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at)"
                " VALUES ('loop:main', ?, ?, ?, ?, ?, ?)",
                (made.start_seq, made.end_seq, made.entry_count, made.size_bytes, made.data, self.now),
            )
            for one in gone:
                connection.execute("DELETE FROM adf_loop WHERE seq = ?", (one["seq"],))
            keys = [one["seq"] if one["ord"] is None else one["ord"] for one in rows if one["seq"] in preserved]
            summary = row(0, f"[Loop Compacted, audited] {text}")["content_json"]
            connection.execute(
                "INSERT INTO adf_loop (role, content_json, created_at, ord) VALUES ('user', ?, ?, ?)",
                (summary, self.now, min(keys) - 1 if keys else None),
            )
        connection.close()

    def keys(self) -> list[tuple[int, int | None]]:
        connection = apsw.Connection(str(self.path))
        try:
            return [(one["seq"], one["ord"]) for one in self._rows(connection)]
        finally:
            connection.close()

    def ranges(self) -> list[tuple[int, int, int]]:
        connection = apsw.Connection(str(self.path))
        try:
            return connection.execute("SELECT start_seq, end_seq, entry_count FROM adf_audit ORDER BY id").fetchall()
        finally:
            connection.close()


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    path = agent(tmp_path / "a.adf", [row(seq, f"row {seq}") for seq in range(1, 5)], (), AUDIT_ON, version=32)
    found = Runtime(path)
    found.compact({3, 4}, "rows one and two [S1]")
    assert (found.keys(), found.ranges()) == ([(5, 2), (3, None), (4, None)], [(1, 2, 2)])
    return found


@pytest.fixture
def twice(runtime: Runtime) -> Runtime:
    runtime.append("row 6", "row 7")
    assert runtime.keys() == [(5, 2), (3, None), (4, None), (6, None), (7, None)]
    runtime.compact({6, 7}, "rows one to four [S3]")
    assert (runtime.keys(), runtime.ranges()) == ([(8, 5), (6, None), (7, None)], [(1, 2, 2), (3, 5, 3)])
    return runtime


def test_a_summary_that_is_preserved_is_preceded_by_the_next(runtime: Runtime) -> None:
    """VEC-4: summary 5 with key 2 and row 3 preserved: the new key is 1."""
    runtime.compact({5, 3}, "row four")
    assert runtime.keys() == [(6, 1), (5, 2), (3, None)]


def test_the_validator_has_nothing_to_say(twice: Runtime) -> None:
    report = validate_file(twice.path, Options(depth=Depth.DEEP))
    assert [one for one in report.findings if one.rule[:4] in ("ADF5", "ADF6")] == []


def test_nothing_is_gone_and_every_seq_is_in_one_place(twice: Runtime) -> None:
    with open_readonly(twice.path) as container:
        known = coverage(container)
        assert (known.complete, known.highest, known.gone) == (True, 8, [])
        assert list(known.loops["main"].live) == [(6, 8)]
        assert list(known.loops["main"].archived) == [(1, 5)]
        assert not known.loops["main"].both
        for seq in range(1, 9):
            places = resolve(container, None, seq).places
            assert [place.audit_id for place in places] == [1 if seq <= 2 else 2 if seq <= 5 else None]


def test_the_whole_life_is_by_seq_with_each_summary_where_it_was_made(twice: Runtime) -> None:
    with open_readonly(twice.path) as container:
        items = list(transcript(container, "main", history=True))
    rows = [item for item in items if isinstance(item, Item)]
    assert [item.place.entry.seq for item in rows] == list(range(1, 9))
    assert [(item.place.entry.seq, item.match.audit_id) for item in rows if item.match] == [(5, 1), (8, 2)]


def test_a_line_is_traced_through_both_summaries(twice: Runtime) -> None:
    with open_readonly(twice.path) as container:
        found = trace(container, 1)
    assert [(step.seq, step.match.audit_id) for step in found.steps if step.match] == [(1, 1), (5, 2)]
    assert found.steps[-1].seq == 8


def test_rows_by_the_order_of_display_are_those_of_the_vector(twice: Runtime) -> None:
    """The key 5 of summary 8 equals the seq of the archived summary: legal, since that row is gone."""
    with open_readonly(twice.path) as container:
        shown = [item.place.entry.seq for item in transcript(container, "main") if isinstance(item, Item)]
    assert shown == [8, 6, 7]
