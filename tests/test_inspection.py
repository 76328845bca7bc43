"""An inspection tells what can be told, whatever the file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from adf_format import sample
from adf_format.inspection import inspect_file
from adf_format.inspection.file import whole
from adf_format.schemas import LATEST, OLDEST
from adf_format.schemas.store import document, registry

SCHEMA = "urn:adf-format:output:inspect:1"


def facts(path: Path) -> dict[str, Any]:
    found = inspect_file(path)
    full = {"$schema": SCHEMA, **found, "findings": {"depth": "quick"}}
    Draft202012Validator(document(SCHEMA), registry=registry()).validate(full)
    return found


def changed(path: Path, sql: str, version: int = LATEST) -> dict[str, Any]:
    sample.build(path, version)
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()
    return facts(path)


@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_every_storage_version_is_told_in_full(tmp_path: Path, version: int) -> None:
    sample.build(tmp_path / "a.adf", version)
    found = facts(tmp_path / "a.adf")
    assert found["unreadable"] == []
    assert found["schema_version"] == version
    assert found["identity"]["name"] == "Ada"
    assert (found["audit"]["coverage"] is not None) == (version >= 28)


def test_coverage_counts_live_rows_ranges_and_gaps(tmp_path: Path) -> None:
    found = changed(
        tmp_path / "a.adf",
        """
        DELETE FROM adf_loop; DELETE FROM adf_audit; DELETE FROM sqlite_sequence;
        INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES (4, 'user', '[]', 0), (9, 'user', '[]', 0);
        INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at) VALUES
          ('loop', 2, 5, 1, 1, x'', 0), ('loop:main', 3, 6, 1, 1, x'', 0), ('loop', 90, 80, 1, 1, x'', 0),
          ('loop', NULL, NULL, 1, 1, x'', 0), ('loop', 'a', 'b', 1, 1, x'', 0), ('file', 7, 8, 1, 1, x'', 0);
        """,
    )
    coverage = found["audit"]["coverage"]
    assert coverage == {"highest": 80, "live": 2, "by_ranges": 4, "neither": 74, "gaps": [[1, 1], [7, 8], [10, 80]]}


@given(
    live=st.sets(st.integers(1, 30)),
    ranges=st.lists(st.tuples(st.integers(-3, 30), st.integers(-3, 30)), max_size=5),
)
@example(live=set(), ranges=[(0, -1)])
@settings(max_examples=40, deadline=None)
def test_coverage_agrees_with_counting_one_by_one(live: set[int], ranges: list[tuple[int, int]]) -> None:
    from adf_format.inspection.file import File
    from adf_format.inspection.transcript import audit
    from adf_format.structure import read

    connection = apsw.Connection(":memory:")
    connection.deserialize("main", sample.content(LATEST))
    connection.execute("DELETE FROM adf_loop; DELETE FROM adf_audit; DELETE FROM sqlite_sequence")
    add = "INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES (?, 'user', '[]', 0)"
    connection.executemany(add, [(seq,) for seq in live])
    add = "INSERT INTO adf_audit (source, start_seq, end_seq, entry_count, size_bytes, data, created_at) "
    connection.executemany(f"{add} VALUES ('loop', ?, ?, 0, 0, x'', 0)", ranges)
    found = audit(File(connection, read(connection)))["coverage"]
    connection.close()
    high = max([*live, *(end for _, end in ranges)], default=0)
    archived = {seq for start, end in ranges for seq in range(start, end + 1)}
    counted = {seq for seq in range(1, high + 1) if seq in archived | live}
    assert found["highest"] == max(high, 0)
    assert found["live"] == len(live)
    assert found["by_ranges"] == len(counted - live)
    assert found["neither"] == max(high, 0) - len(counted)


@pytest.mark.parametrize(
    ("sql", "lost"),
    [
        ("DROP TABLE adf_loop", {"loops", "tokens"}),
        ("DROP TABLE adf_audit", {"audit"}),
        ("DROP TABLE adf_files", {"memory", "files"}),
        ("DROP TABLE adf_config", {"agent"}),
        ("DROP TABLE adf_inbox", {"messages"}),
        ("UPDATE adf_config SET config_json = '{'", {"agent", "loops"}),
        ("ALTER TABLE adf_timers RENAME COLUMN next_wake_at TO x", {"timers"}),
    ],
)
def test_a_part_that_cannot_be_read_is_named_and_the_rest_is_told(tmp_path: Path, sql: str, lost: set[str]) -> None:
    found = changed(tmp_path / "a.adf", sql)
    assert {entry["what"] for entry in found["unreadable"]} == lost
    assert all(found[name] is None for name in lost)
    assert found["identity"]["name"] == "Ada"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE adf_meta SET value = CAST(x'ff00fe' AS TEXT)",
        "UPDATE adf_meta SET value = zeroblob(1000000)",
        "UPDATE adf_loop SET tokens = '{', model = x'ff', loop = x'ff'",
        'UPDATE adf_loop SET tokens = \'{"input": 1e999, "output": "x"}\'',
        "UPDATE adf_loop SET tokens = x'00', model = CAST(x'ff' AS TEXT)",
        "UPDATE adf_loop SET loop = hex(randomblob(20))",
        "UPDATE adf_timers SET schedule_json = 7, next_wake_at = 'never', loop = x'00'",
        "UPDATE adf_timers SET next_wake_at = 9223372036854775807, expired = 'x'",
        "UPDATE adf_inbox SET status = CAST(x'ff' AS TEXT)",
        "UPDATE adf_audit SET source = x'ff', entry_count = 'many', start_seq = -9223372036854775808",
        "UPDATE adf_audit SET entry_count = 9223372036854775807, end_seq = 9223372036854775807",
        'UPDATE adf_config SET config_json = \'{"loops": [7, {"name": 8}], "model": 3, "tools": 4}\'',
        "UPDATE adf_config SET config_json = CAST(x'ff' AS TEXT)",
        "UPDATE sqlite_sequence SET seq = 'x'",
        'CREATE TABLE "a""b" (x); CREATE TABLE local_wr (x PRIMARY KEY) WITHOUT ROWID',
        "CREATE VIRTUAL TABLE local_v USING fts5(x)",
        "UPDATE adf_identity SET purpose = hex(randomblob(300))",
    ],
)
def test_hostile_values_neither_stop_an_inspection_nor_break_its_schema(tmp_path: Path, sql: str) -> None:
    found = changed(tmp_path / "a.adf", sql)
    assert found["schema_version"] is None or found["tables"]["adf_config"] == 1


def test_damaged_pages_cost_only_what_stands_on_them(tmp_path: Path) -> None:
    path = tmp_path / "a.adf"
    sample.build(path, LATEST)
    connection = apsw.Connection(str(path))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'adf_loop'").get
    size = connection.pragma("page_size")
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    found = facts(path)
    assert {entry["what"] for entry in found["unreadable"]} == {"tokens", "audit"}  # loops come from an index
    assert found["loops"][0]["rows"] == 10
    assert found["files"]["count"] == 9


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), (2.9, 2), ("3", 0), (None, 0), (True, 0), (float("inf"), 0), (float("nan"), 0)]
)
def test_numbers_of_a_file_are_taken_with_care(value: object, number: int) -> None:
    assert whole(value) == number
