"""Real files, migrated by the reference implementation and by us: the rows are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from migration_support import NOW, RF, ask, real, rows_of

from adf_format.audit import decompress_all
from adf_format.container import open_readonly
from adf_format.migration import Order, migrate
from adf_format.migration.jsondiff import differences
from adf_format.structure import read
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file

pytestmark = pytest.mark.skipif(not RF.is_dir(), reason="the real files are not here")
PAIRS = ("v0.1.5_audited", "v0.3.2_audited")
# Every value that differs, by decision: see "Held against the reference" in docs/migration.md
OWN_WORDS = {"content", "size", "created_at", "updated_at"}
OURS: dict[tuple[str, str], set[str]] = {
    ("adf_meta", "adf_clean_close"): {"key", "value", "protection"},  # a marker of the runtime, written when it closes
    ("adf_files", "mind.md"): {"content", "size", "updated_at"},
    ("adf_files", "mind/log.md"): OWN_WORDS,
    ("adf_files", "soul.md"): OWN_WORDS,
}
KEYS = {"adf_meta": "key", "adf_files": "path", "sqlite_sequence": "name"}


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """Our result at 28, and theirs."""
    ours = real(tmp_path, request.param)
    migrate(ours, Order(28, NOW))
    return ours, real(tmp_path, f"{request.param}_migrated_v28")


def test_every_row_of_every_table_is_the_one_that_the_reference_made(pair: tuple[Path, Path]) -> None:
    ours, theirs = pair
    for (table,) in ask(theirs, "SELECT name FROM sqlite_schema WHERE type = 'table'"):
        found, wanted = _keyed(ours, table), _keyed(theirs, table)
        for key in found.keys() | wanted.keys():
            one, other = found.get(key, {}), wanted.get(key, {})
            differing = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
            assert differing <= OURS.get((table, key), set()), (table, key)


def _keyed(path: Path, table: str) -> dict[Any, Any]:
    key = KEYS.get(table)
    rows = rows_of(path, table)
    return {row[key] if key else index: row for index, row in enumerate(rows)}


def test_seeded_files_exist_where_the_reference_seeds_them_with_the_same_protection(pair: tuple[Path, Path]) -> None:
    facts = "SELECT path, mime_type, protection, authorized FROM adf_files ORDER BY path"
    assert ask(pair[0], facts) == ask(pair[1], facts)


def test_the_blobs_are_those_of_the_old_file_byte_for_byte(pair: tuple[Path, Path], tmp_path: Path) -> None:
    query = "SELECT id, source, entry_count, size_bytes, data, created_at FROM adf_audit ORDER BY id"
    old = pair[0].with_name(pair[0].name + ".bak")
    assert ask(pair[0], query) == ask(old, query) == ask(pair[1], query)


def test_the_configuration_is_the_same_text(pair: tuple[Path, Path]) -> None:
    texts = [ask(path, "SELECT config_json, updated_at FROM adf_config")[0] for path in pair]
    assert list(differences(*(json.loads(text) for text, _ in texts))) == []
    assert texts[0] == texts[1]


def test_columns_and_indexes_are_those_of_the_reference(pair: tuple[Path, Path]) -> None:
    shapes = []
    for path in pair:
        with open_readonly(path) as container:
            tables = read(container.connection).tables
            shapes.append({name: (sorted(one.columns), sorted(one.indexes)) for name, one in tables.items()})
    assert shapes[0] == shapes[1]


LEGACY = ("v0.1.5_audited", "v0.1.5_worked", "v0.1.5_fresh", "v0.2.5_audited", "v0.3.2_audited", "v0.3.2_worked")
LATER = ("v0.4.2_audited", "v0.4.2_worked", "v0.4.2_compact_auto", "v0.4.2_compact_voluntary", "v0.4.2_crash_live")


@pytest.mark.parametrize("name", LEGACY + LATER)
def test_a_real_file_at_the_newest_version_has_no_error(name: str, tmp_path: Path) -> None:
    path = real(tmp_path, name)
    migrate(path, Order(now=NOW))
    report = validate_file(path, Options(depth=Depth.DEEP))
    assert report.error is None
    assert [(one.rule, one.message) for one in report.findings if one.severity.name == "ERROR"] == []


@pytest.mark.parametrize("name", LEGACY + LATER)
def test_a_migration_makes_no_finding_worse(name: str, tmp_path: Path) -> None:
    """What is new at 32 is only what 32 asks and nobody can know: ADF466 has no agreed value to write."""
    path = real(tmp_path, name)
    before = _severe(path)
    migrate(path, Order(now=NOW))
    assert {rule: count for rule, count in _severe(path).items() if count > before.get(rule, 0)}.keys() <= {"ADF466"}


def _severe(path: Path) -> dict[str, int]:
    report = validate_file(path, Options(depth=Depth.DEEP))
    found: dict[str, int] = {}
    for one in report.findings:
        if one.severity.name != "INFO":
            found[one.rule] = found.get(one.rule, 0) + one.count
    return found


@pytest.mark.parametrize("name", LEGACY + LATER)
def test_every_seq_that_could_be_resolved_before_can_be_after(name: str, tmp_path: Path) -> None:
    path = real(tmp_path, name)
    before = _resolvable(path, ranged=False)
    migrate(path, Order(now=NOW))
    assert _resolvable(path, ranged=True) == before


def _resolvable(path: Path, *, ranged: bool) -> set[int]:
    """Seqs that are live or in a snapshot; with ranges, only in a snapshot whose range holds them."""
    found = {seq for (seq,) in ask(path, "SELECT seq FROM adf_loop")}
    fields = "data, start_seq, end_seq" if ranged else "data, 0, 0"
    for data, start, end in ask(path, f"SELECT {fields} FROM adf_audit WHERE source = 'loop'"):
        entries = json.loads(decompress_all([data], limit_bytes=1 << 30))
        found |= {one["seq"] for one in entries if not ranged or start <= one["seq"] <= end}
    return found


def test_damaged_rows_stay_with_nothing_pointing_into_them(tmp_path: Path) -> None:
    path = real(tmp_path, "v0.3.2_audited_corrupt")
    before = ask(path, "SELECT id, data FROM adf_audit ORDER BY id")
    outcome = migrate(path, Order(now=NOW))
    assert ask(path, "SELECT id, data FROM adf_audit ORDER BY id") == before
    damaged = [number for number, one in outcome.record.snapshots.items() if one.problem]
    assert damaged
    for number in damaged:
        assert ask(path, "SELECT start_seq, end_seq, ref FROM adf_audit WHERE id = ?", number) == [(None, None, None)]
