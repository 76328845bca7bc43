"""Any legacy file: what no rule changes is the same afterwards, and the receipt proves it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import apsw
import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from migration_support import NOW, ask

from adf_format.audit import javascript_json, utf16_length
from adf_format.container import open_readonly
from adf_format.digest import table_digest
from adf_format.jsontext import decode
from adf_format.migration import Order, migrate, receipt
from adf_format.migration.checking import check
from adf_format.migration.undo import undo
from adf_format.sample import build
from adf_format.schemas import Column, Table, storage_version

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SURROGATES = st.text(st.characters(), max_size=6) | st.sampled_from(["\ud83d", "a\udc00b", "\u2028", "\x00"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | SURROGATES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SURROGATES, inner, max_size=3),
    max_leaves=6,
)
SEQ = st.integers(0, 60) | INT64


def entry(seq: int, content: Any) -> dict[str, Any]:
    return {"seq": seq, "role": "user", "content_json": content, "created_at": 1}


ENTRIES = st.lists(st.builds(entry, SEQ, st.lists(JSON, max_size=2)), max_size=6)  # gaps, overlaps, any order, empty
DECODED = st.one_of(
    st.tuples(st.just("loop"), ENTRIES),
    st.tuples(
        st.sampled_from(["inbox_message", "outbox_message"]), st.fixed_dictionaries({"id": SURROGATES, "x": JSON})
    ),
    st.tuples(st.just("file"), st.fixed_dictionaries({"path": TEXT})),
    st.tuples(st.sampled_from(["inbox", "outbox", "own"]), st.lists(st.fixed_dictionaries({"id": TEXT}), max_size=3)),
    st.tuples(st.sampled_from(["loop", "file", "inbox_message"]), JSON),
)


@st.composite
def snapshots(draw: st.DrawFn) -> tuple[str, bytes, int]:
    """Source, blob and size: sound, damaged, or no snapshot at all."""
    source, value = draw(DECODED)
    text = javascript_json(value, exact=True)
    blob = brotli.compress(text.encode(), quality=draw(st.sampled_from([0, 5, 11])))
    kind = draw(st.sampled_from(["sound", "sound", "sound", "cut", "bytes"]))
    if kind == "cut":
        blob = blob[: draw(st.integers(0, len(blob) - 1))]
    elif kind == "bytes":
        blob = draw(st.binary(max_size=20))
    return source, blob, utf16_length(text)


def values(column: Column) -> st.SearchStrategy[Any]:
    """Values that a column can hold, from its schema."""
    schema = column.schema
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if column.check is not None:
        return st.just(column.default.strip("'") if column.default else 1)
    if column.type == "INTEGER":
        return st.integers(0, 1) if column.unit == "boolean" else INT64
    if column.type == "BLOB":
        return st.binary(max_size=30)
    return JSON.map(javascript_json) if column.is_json else TEXT


def rows(table: Table) -> st.SearchStrategy[list[dict[str, Any]]]:
    columns = {
        column.name: values(column) if column.not_null or column.primary_key else st.none() | values(column)
        for column in table.columns
        if not (column.primary_key and column.type == "INTEGER")
    }
    return st.lists(st.fixed_dictionaries(columns), max_size=3)


@st.composite
def legacy(draw: st.DrawFn) -> tuple[int, list[tuple[str, bytes, int]], dict[str, list[dict[str, Any]]]]:
    version = draw(st.integers(21, 28))
    tables = storage_version(version).tables
    filled = {name: draw(rows(tables[name])) for name in tables if name not in ("adf_meta", "adf_config", "adf_audit")}
    return version, draw(st.lists(snapshots(), max_size=6)), filled


def write(
    path: Path, version: int, blobs: list[tuple[str, bytes, int]], tables: dict[str, list[dict[str, Any]]]
) -> None:
    build(path, version)
    connection = apsw.Connection(str(path))
    with connection:
        for table, found in tables.items():
            for row in found:
                names = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
        times = ("start_at, end_at,", "1, 2,") if version < 28 else ("", "")
        for source, blob, size in blobs:
            connection.execute(
                f"INSERT INTO adf_audit (source, {times[0]} entry_count, size_bytes, data, created_at)"
                f" VALUES (?, {times[1]} 1, ?, ?, 3)",
                (source, size, blob),
            )
    connection.close()


def expected_locators(source: str, blob: bytes) -> tuple[Any, Any, Any]:
    """The table of MIG-044, spelled out once more."""
    try:
        value = decode(brotli.decompress(blob)).value
    except Exception:  # noqa: BLE001
        return None, None, None
    if (
        source == "loop"
        and isinstance(value, list)
        and value
        and all(isinstance(one, dict) for one in (value[0], value[-1]))
    ):
        ends = [one.get("seq") for one in (value[0], value[-1])]
        if all(type(end) in (int, float) and end == int(end) and abs(end) < 2**63 for end in ends):
            return int(ends[0]), int(ends[1]), None
    key = {"inbox_message": "id", "outbox_message": "id", "file": "path"}.get(source)
    if key and isinstance(value, dict) and isinstance(value.get(key), str) and value[key]:
        return None, None, value[key].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return None, None, None


SAME_BUT = {
    "adf_audit": frozenset({"start_at", "end_at", "start_seq", "end_seq", "ref"}),
    "adf_loop": frozenset({"loop"}),
    "adf_timers": frozenset({"expired"}),
}
BY_DESIGN = {"adf_meta", "adf_config", "adf_files", "adf_attestations", "sqlite_sequence"}


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("ADF_TEST_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(legacy())
def test_whatever_no_rule_changes_is_the_same_afterwards(made: Any) -> None:
    version, blobs, tables = made
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "agent.adf"
        write(path, version, blobs, tables)
        original = path.read_bytes()
        outcome = migrate(path, Order(now=NOW, hashing=True))
        old = outcome.backup
        assert old is not None
        assert old.read_bytes() == original
        _same_tables(old, path)
        _same_blobs(old, path)
        _located(version, path)
        entry = json.loads(json.dumps(receipt.entry(outcome, old), ensure_ascii=True))
        assert [answer for answer in check(entry) if answer.holds is not True] == []
        undo(path, sha256=entry["undo"]["sha256"])
        assert path.read_bytes() == original


def _same_tables(old: Path, new: Path) -> None:
    with open_readonly(old) as before, open_readonly(new) as after:
        names = [name for (name,) in before.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for name in names:
            if name not in BY_DESIGN:
                omit = SAME_BUT.get(str(name), frozenset())
                assert table_digest(before, str(name), omit=omit) == table_digest(after, str(name), omit=omit), name


def _same_blobs(old: Path, new: Path) -> None:
    query = "SELECT id, source, entry_count, size_bytes, data, created_at FROM adf_audit ORDER BY id"
    assert ask(old, query) == ask(new, query)


def _located(version: int, new: Path) -> None:
    if version < 28:
        for source, blob, *found in ask(new, "SELECT source, data, start_seq, end_seq, ref FROM adf_audit"):
            assert tuple(found) == expected_locators(source, blob)
