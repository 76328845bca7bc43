"""Clearing: archived as configured or not at all, everything else untouched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from clearing_support import agent, connect, policy, rows, run, snapshot

from adf_format import sample
from adf_format.clearing import PolicyError, Request, Slice, clear, plan
from adf_format.container import writer
from adf_format.digest import Digest, digest
from adf_format.errors import AdfError, JsonTextError, LockedError, NewerSchemaError, UnreadableError, UsageError
from adf_format.validation.engine import Options, validate_file

VERSIONS = (21, 24, 27, 28, 29, 32)
CHANGED = {
    "loop": {"adf_loop", "adf_audit", "sqlite_sequence", "adf_meta"},
    "mind": {"adf_files"},
    "inbox": {"adf_inbox", "adf_audit", "sqlite_sequence"},
}
CHANGED["all"] = CHANGED["loop"] | CHANGED["mind"] | CHANGED["inbox"]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def rich(tmp_path: Path, version: int) -> Path:
    sample.build(tmp_path / "ada.adf", version)
    return tmp_path / "ada.adf"


def of(path: Path) -> Digest:
    connection = connect(path)
    try:
        return digest(connection)
    finally:
        connection.close()


@pytest.mark.parametrize("what", list(CHANGED))
def test_the_rest_is_untouched_and_the_result_is_valid(rich: Path, what: Any) -> None:
    before = of(rich)
    outcome = clear(rich, Request(what), backup=False)
    assert not outcome.nothing
    assert set(of(rich).differing(before)) <= CHANGED[what]
    assert [path.name for path in rich.parent.iterdir()] == ["ada.adf"]
    report = validate_file(rich, Options())
    assert report.valid
    assert {finding.rule for finding in report.findings} <= {"ADF707", "ADF605"}


@pytest.mark.parametrize("what", list(CHANGED))
def test_a_plan_tells_what_will_be_done_and_touches_nothing(rich: Path, what: Any) -> None:
    bytes_before = rich.read_bytes()
    planned = plan(rich, Request(what)).cleared
    assert rich.read_bytes() == bytes_before
    done = clear(rich, Request(what)).cleared
    for one, other in zip(planned, done, strict=True):
        fields = ("what", "name", "entries", "archived", "start_seq", "end_seq", "reason")
        assert [getattr(one, name) for name in fields] == [getattr(other, name) for name in fields]


def test_the_snapshot_holds_exactly_the_rows_deleted_in_display_order(tmp_path: Path, version: int) -> None:
    keys = [(3, None), (4, None), (5, 2 if version >= 28 else None), (6, None)]
    path = agent(tmp_path / "a.adf", version, keys)
    done = clear(path, Request("loop", slice=Slice(None, 3))).cleared[0]
    assert done.audit_id is not None
    expected = [5, 3, 4] if version >= 28 else [3, 4, 5]
    entries = snapshot(path, done.audit_id)
    assert [entry["seq"] for entry in entries] == expected
    assert entries[0]["content_json"] == [{"type": "text", "text": f"row {expected[0]}"}]
    source = "loop:main" if version >= 29 else "loop"
    [row] = rows(path, "SELECT source, entry_count, size_bytes FROM adf_audit")
    assert row == (source, 3, len(json.dumps(entries, separators=(",", ":"))))
    period = "start_seq, end_seq" if version >= 28 else "start_at, end_at"
    first, last = (3, 5) if version >= 28 else (999_997, 999_995)
    assert rows(path, f"SELECT {period} FROM adf_audit") == [(first, last)]


def test_seqs_go_on_counting(rich: Path) -> None:
    [(mark,)] = rows(rich, "SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'")
    clear(rich, Request("loop"))
    run(rich, "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', '[]', 1)")
    assert rows(rich, "SELECT max(seq) FROM adf_loop") == [(mark + 1,)]


@pytest.mark.parametrize("part", [Slice(), Slice(0, 100), Slice(1)])
def test_only_a_full_clear_forgets_the_baseline(tmp_path: Path, version: int, part: Slice) -> None:
    path = agent(tmp_path / "a.adf", version, [(1, None), (2, None)])
    keys = ("context_baseline_tokens", "context_baseline_tokens:other")
    for key in keys:
        run(path, f"INSERT INTO adf_meta VALUES ('{key}', '{{}}', 'readonly')")
    clear(path, Request("loop", slice=part))
    left = rows(path, "SELECT key FROM adf_meta WHERE key LIKE 'context_baseline%' ORDER BY key")
    assert left == [(key,) for key in keys[part.is_whole and version >= 28 :]]


def test_one_loop_is_cleared_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.adf"
    sample.build(path, 32)
    run(path, "INSERT INTO adf_meta VALUES ('context_baseline_tokens:gardener', '{}', 'readonly')")
    before = rows(path, "SELECT * FROM adf_loop WHERE loop <> 'gardener'")
    done = clear(path, Request("loop", loop="gardener")).cleared[0]
    assert rows(path, "SELECT * FROM adf_loop") == before
    assert rows(path, "SELECT source FROM adf_audit WHERE id = ?", done.audit_id) == [("loop:gardener",)]
    assert not rows(path, "SELECT 1 FROM adf_meta WHERE key = 'context_baseline_tokens:gardener'")
    assert rows(path, "SELECT 1 FROM adf_meta WHERE key = 'context_baseline_tokens'")


def test_all_clears_every_loop_with_a_snapshot_each(tmp_path: Path) -> None:
    path = tmp_path / "a.adf"
    sample.build(path, 32)
    run(path, "INSERT INTO adf_loop (role, content_json, created_at, loop) VALUES ('user', '[]', 1, 'undeclared')")
    outcome = clear(path, Request("all", document=True))
    assert not rows(path, "SELECT 1 FROM adf_loop")
    named = {one.name: one for one in outcome.cleared}
    assert list(named)[:3] == ["main", "gardener", "reviewer"]
    assert {name for name, one in named.items() if one.archived} == {"main", "gardener", "undeclared"}
    assert rows(path, "SELECT path FROM adf_files WHERE size = 0 ORDER BY path") == [("README.md",), ("mind.md",)]
    assert rows(path, "SELECT count(*) FROM adf_outbox") != [(0,)]


def test_a_loop_that_is_not_there_is_named(tmp_path: Path) -> None:
    for version in (28, 32):
        path = agent(tmp_path / f"{version}.adf", version, [(1, None)])
        with pytest.raises(UsageError, match="gardner"):
            clear(path, Request("loop", loop="gardner"))
        assert not Path(f"{path}.bak").exists()


def test_mind_keeps_its_protection(rich: Path) -> None:
    before = rows(rich, "SELECT path, protection, mime_type, authorized, created_at FROM adf_files")
    clear(rich, Request("mind"))
    assert rows(rich, "SELECT content, size FROM adf_files WHERE path = 'mind.md'") == [(b"", 0)]
    assert rows(rich, "SELECT path, protection, mime_type, authorized, created_at FROM adf_files") == before


def test_the_inbox_is_archived_below_28_only(rich: Path, version: int) -> None:
    ids = [key for (key,) in rows(rich, "SELECT id FROM adf_inbox ORDER BY received_at DESC")]
    times = rows(rich, "SELECT min(received_at), max(received_at) FROM adf_inbox")
    done = clear(rich, Request("inbox")).cleared[0]
    assert done.archived == (version < 28)
    assert not rows(rich, "SELECT 1 FROM adf_inbox")
    if done.audit_id is not None:
        assert [entry["id"] for entry in snapshot(rich, done.audit_id)] == ids
        query = "SELECT start_at, end_at FROM adf_audit WHERE source = 'inbox' AND id = ?"
        assert rows(rich, query, done.audit_id) == times


@pytest.mark.parametrize(
    ("audit", "context", "archived"),
    [
        ({"loop": True}, None, True),
        ({"loop": False}, None, False),
        ({"loop": True}, {}, False),
        ({"loop": True}, {"loop": False}, False),
        ({"loop": False}, {"loop": True}, True),
        (None, None, False),
        ({}, None, False),
        ({"loop": None}, None, False),
    ],
)
def test_the_policy_is_one_object_as_a_whole(tmp_path: Path, audit: Any, context: Any, archived: bool) -> None:
    path = agent(tmp_path / "a.adf", 32, [(1, None)])
    policy(path, audit, context)
    assert clear(path, Request("loop")).cleared[0].archived == archived
    assert len(rows(path, "SELECT 1 FROM adf_audit")) == archived
    assert not rows(path, "SELECT 1 FROM adf_loop")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM adf_config",
        "UPDATE adf_config SET config_json = '{'",
        "UPDATE adf_config SET config_json = '[]'",
        "UPDATE adf_config SET config_json = CAST(x'7bff7d' AS TEXT)",
        "UPDATE adf_config SET config_json = '{\"audit\": true}'",
        'UPDATE adf_config SET config_json = \'{"context": {"audit": "on"}, "audit": {}}\'',
    ],
)
def test_without_a_readable_policy_nothing_is_cleared(tmp_path: Path, statement: str) -> None:
    path = agent(tmp_path / "a.adf", 32, [(1, None)])
    run(path, statement)
    before = path.read_bytes()
    for call in (plan, clear):
        with pytest.raises(PolicyError, match="archived"):
            call(path, Request("loop"))
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["a.adf"]
    run(path, "UPDATE adf_files SET content = x'41', size = 1 WHERE path = 'mind.md'")
    assert clear(path, Request("mind")).cleared[0].entries == 1


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE adf_loop SET content_json = 'not json' WHERE seq = 2",
        "UPDATE adf_loop SET content_json = x'00' WHERE seq = 2",
        "UPDATE adf_loop SET content_json = CAST(x'22ff22' AS TEXT) WHERE seq = 2",
        "UPDATE adf_loop SET model = x'00' WHERE seq = 2",
        "UPDATE adf_loop SET ord = 'x' WHERE seq = 2",
    ],
)
def test_a_row_that_cannot_be_archived_stays(tmp_path: Path, damage: str) -> None:
    path = agent(tmp_path / "a.adf", 32, [(1, None), (2, None)])
    run(path, damage)
    before = path.read_bytes()
    with pytest.raises(AdfError) as caught:
        clear(path, Request("loop"))
    assert isinstance(caught.value, JsonTextError | UnreadableError)
    assert caught.value.file == path
    assert path.read_bytes() == before
    policy(path, {"loop": False})
    assert clear(path, Request("loop")).cleared[0].entries == 2


def test_nothing_there_means_nothing_written(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf", 32, [])
    before = path.read_bytes()
    assert clear(path, Request("loop")).nothing
    assert clear(path, Request("inbox")).nothing
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["a.adf"]


def test_the_backup_is_the_file_from_before_and_never_overwrites_one(rich: Path) -> None:
    Path(f"{rich}.bak").write_text("older")
    before = rich.read_bytes()
    outcome = clear(rich, Request("all"))
    assert outcome.backup is not None
    assert outcome.backup.read_bytes() == before
    assert Path(f"{rich}.bak").read_text() == "older"


def test_rows_with_equal_keys_are_not_cleared_along(tmp_path: Path) -> None:
    """LCL-004: the reference deletes by key, and so more than was asked for; we delete the rows selected."""
    path = agent(tmp_path / "a.adf", 32, [(1, None), (2, 1), (3, 1), (4, None)])
    clear(path, Request("loop", slice=Slice(0, 2)))
    assert rows(path, "SELECT seq FROM adf_loop ORDER BY seq") == [(3,), (4,)]


def test_rows_in_the_log_are_cleared_and_archived_too(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf", 32, [(1, None)])
    run(path, "PRAGMA journal_mode = WAL")
    copy = tmp_path / "copy"
    copy.mkdir()
    writer = connect(path)
    writer.execute(
        "PRAGMA wal_autocheckpoint = 0; INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', '[]', 1)"
    ).fetchall()
    for suffix in ("", "-wal"):
        (copy / f"a.adf{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    writer.close()
    done = clear(copy / "a.adf", Request("loop")).cleared[0]
    assert done.entries == 2
    assert done.audit_id is not None
    assert [entry["seq"] for entry in snapshot(copy / "a.adf", done.audit_id)] == [1, 2]


def test_a_file_in_use_is_refused(rich: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = writer._connect
    monkeypatch.setattr(writer, "_connect", lambda source, _wait_s: patient(source, 0.05))
    run(rich, "PRAGMA journal_mode = WAL")
    other = apsw.Connection(str(rich))
    other.execute("SELECT count(*) FROM adf_loop").fetchall()
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LockedError):
        clear(rich, Request("loop"))
    other.close()


@pytest.mark.parametrize(("text", "error"), [("33", NewerSchemaError), ("x", UnreadableError), ("20", UnreadableError)])
def test_a_version_that_is_not_known_is_refused(tmp_path: Path, text: str, error: type[AdfError]) -> None:
    path = agent(tmp_path / "a.adf", 32, [(1, None)])
    run(path, f"UPDATE adf_meta SET value = '{text}' WHERE key = 'adf_schema_version'")
    before = path.read_bytes()
    for call in (plan, clear):
        with pytest.raises(error):
            call(path, Request("loop"))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "request_", [Request("mind", loop="x"), Request("all", slice=Slice(1)), Request("loop", document=True)]
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, request_: Request) -> None:
    with pytest.raises(UsageError):
        clear(tmp_path / "a.adf", request_)
