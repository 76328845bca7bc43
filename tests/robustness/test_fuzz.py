"""Arbitrary values in every column: never an internal error, whatever JSON, text or bytes stand there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adf_format.sample import build
from adf_format.schemas import Column, Table, storage_version
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file

VERSION = 32
WORDS = ("type", "text", "tool_use", "tool_result", "id", "tool_use_id", "name", "input", "content", "mode", "cron",
         "every_ms", "at", "seq", "role", "content_json", "loops", "tools", "model", "triggers", "enabled", "serving",
         "api", "lambda", "mcp", "servers", "slots", "v", "schema", "path", "size", "from", "payload")  # fmt: skip
TEXTS = st.sampled_from(WORDS) | st.text(max_size=8)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
RAW = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=20) | st.binary(max_size=40)
HARD = ("", "\0", "[", '"\\ud800"', "{}", "[[]]", "null", "1e999", '{"a":1,"a":2}', "[" * 5000, "9" * 5000)
FUZZ = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


class Target:
    """One file that is changed in one place, looked at, and changed back."""

    def __init__(self, path: Path) -> None:
        build(path, VERSION, "rich")
        self.path = path
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF").fetchall()
        self._connection.execute("PRAGMA ignore_check_constraints = ON")

    def close(self) -> None:
        self._connection.close()

    def try_value(self, table: Table, column: Column, value: Any) -> None:
        """Store a value in every row, or only in the first where it must be unique."""
        first = f"WHERE rowid = (SELECT min(rowid) FROM {table.name})" if column.primary_key else ""
        sql = f'UPDATE OR IGNORE {table.name} SET "{column.name}" = ? {first}'
        before = self._connection.execute(f'SELECT rowid, "{column.name}" FROM {table.name} ORDER BY rowid').fetchall()
        try:
            self._connection.execute(sql, (value,))
        except (apsw.ConstraintError, apsw.MismatchError):
            return
        self.look()
        restore = f'UPDATE {table.name} SET "{column.name}" = ? WHERE rowid = ?'
        if column.primary_key and column.type == "INTEGER":
            restore = (
                f'UPDATE {table.name} SET "{column.name}" = ?1 WHERE rowid = (SELECT min(rowid) FROM {table.name})'
            )
            self._connection.execute(restore, (before[0][0],))
            return
        for rowid, old in before:
            self._connection.execute(restore, (old, rowid))

    def look(self) -> None:
        """Validate the file; an internal error would be the file's error."""
        report = validate_file(self.path, Options(depth=Depth.DEEP))
        assert report.error is None or "internal error" not in report.error, report.error
        for finding in report.findings:
            assert len(finding.message) < 1000
            finding.message.encode()
        json.dumps(report.as_json())


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    found = Target(tmp_path_factory.mktemp("fuzz") / "fuzz.adf")
    yield found
    found.close()


COLUMNS = [(table, column) for table in storage_version(VERSION).tables.values() for column in table.columns]
JSON_COLUMNS = [(table, column) for table, column in COLUMNS if column.is_json or column.name == "config_json"]


def name_of(value: object) -> str:
    return str(getattr(value, "name", value))


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=name_of)
@FUZZ
@given(value=RAW)
@example(value=b"\xff\xfe")
@example(value=-(2**63))
@example(value=float("inf"))
@example(value="\x1b[31m\u202e")
def test_any_value_in_any_column_is_no_internal_error(target: Target, table: Table, column: Column, value: Any) -> None:
    target.try_value(table, column, value)


@pytest.mark.parametrize(("table", "column"), JSON_COLUMNS, ids=name_of)
@FUZZ
@given(value=JSON)
def test_any_json_in_any_json_column_is_no_internal_error(
    target: Target, table: Table, column: Column, value: Any
) -> None:
    target.try_value(table, column, json.dumps(value, ensure_ascii=True))


@pytest.mark.parametrize("text", HARD, ids=lambda text: text[:8])
@pytest.mark.parametrize(("table", "column"), JSON_COLUMNS, ids=name_of)
def test_awkward_text_in_any_json_column_is_no_internal_error(
    target: Target, table: Table, column: Column, text: str
) -> None:
    target.try_value(table, column, text)


PATHS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)


@settings(FUZZ, max_examples=300)
@given(path=PATHS, value=JSON)
def test_any_json_anywhere_in_the_configuration_is_no_internal_error(
    target: Target, path: list[str], value: Any
) -> None:
    """Values replace parts of a full configuration, so that rules across its sections meet them too."""
    table = storage_version(VERSION).tables["adf_config"]
    config = json.loads(target._connection.execute("SELECT config_json FROM adf_config").get)
    *parents, last = path
    place: Any = config
    for part in parents:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place
    if isinstance(place, dict):
        place[last] = value
    target.try_value(table, table.column["config_json"], json.dumps(config))


@settings(FUZZ, max_examples=300)
@given(value=JSON, source=st.sampled_from(("loop:main", "loop", "file", "inbox_message", "outbox_message", "inbox")))
def test_any_json_in_any_snapshot_is_no_internal_error(target: Target, value: Any, source: str) -> None:
    from adf_format.audit import compress

    connection = target._connection
    kept = connection.execute("SELECT source, data FROM adf_audit WHERE id = 1").fetchone()
    data = compress(json.dumps(value), quality=1)
    connection.execute("UPDATE adf_audit SET source = ?, data = ? WHERE id = 1", (source, data))
    target.look()
    connection.execute("UPDATE adf_audit SET source = ?, data = ? WHERE id = 1", kept)
