"""Repair as a whole: replayed as planned, checked, taken back; refused rather than half done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adf_format import repair as repairing
from adf_format import sample
from adf_format.audit import compress
from adf_format.container import writer
from adf_format.digest import Digest, digest
from adf_format.errors import (
    AdfError,
    LockedError,
    MissingFileError,
    NewerSchemaError,
    UnreadableError,
    UsageError,
    VerificationError,
)
from adf_format.repair import Kind, fixes_of, plan, repair, undo
from adf_format.repair import verify as verifying
from adf_format.repair.undo import split_trailer

ALL = frozenset(Kind)
DAMAGE = (
    "UPDATE adf_files SET size = size + 1",
    "UPDATE adf_meta SET protection = 'none'",
    "UPDATE adf_timers SET scope = 'agent' WHERE id = 2",
    "UPDATE adf_attestations SET role = 'x', subject = 'y'",
    "DROP INDEX idx_adf_loop_stream",
    "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'adf_loop'",
    "DELETE FROM sqlite_sequence WHERE name = 'adf_loop'",
    "UPDATE adf_config SET config_json = json_remove(config_json, '$.tools[0].visible', '$.icon')",
    "UPDATE adf_config SET config_json = json_set(config_json, '$.description', NULL)",
    'UPDATE adf_loop SET content_json = \'[{"type":"text","text":"a\\ud83d"}]\' WHERE seq = 13',
    'UPDATE adf_loop SET content_json = \'[{"type":"text","text":"a","text":"b"}]\' WHERE seq = 19',
    "UPDATE adf_audit SET entry_count = 99, size_bytes = 1",
    "UPDATE adf_audit SET start_seq = end_seq, end_seq = start_seq WHERE start_seq IS NOT NULL",
    "UPDATE adf_loop SET loop = 'gone' WHERE seq > 15",
    "UPDATE adf_timers SET loop = 'gone' WHERE id < 4",
    "UPDATE adf_logs SET message = CAST(x'ff41' AS TEXT)",
    "INSERT INTO adf_meta VALUES ('adf_attestations', '[]', 'none')",
    "DELETE FROM adf_files WHERE path IN ('mind.md', 'soul.md')",
    "INSERT INTO adf_audit (source, entry_count, size_bytes, data, created_at) VALUES ('loop:main', 1, 1, x'00', 1)",
)


def run(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("brotli", compress)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def of(path: Path) -> Digest:
    connection = apsw.Connection(str(path))
    try:
        return digest(connection)
    finally:
        connection.close()


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    sample.build(tmp_path / "ada.adf", 32)
    return tmp_path / "ada.adf"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(DAMAGE), min_size=1, max_size=8), st.sets(st.sampled_from(Kind), min_size=1))
@example({DAMAGE[5], DAMAGE[13]}, {Kind.GUESS})
def test_any_mixture_of_damage_is_mended_and_taken_back(tmp_path: Path, damage: set[str], kinds: set[Kind]) -> None:
    for left in tmp_path.iterdir():
        left.unlink()
    path = tmp_path / "ada.adf"
    sample.build(path, 32)
    run(path, *sorted(damage))
    before, schema = of(path), schema_of(path)
    chosen = frozenset(kinds)
    outcome = repair(path, chosen)
    assert not plan(path, chosen).changes
    assert all(fix.kind not in chosen for fix in outcome.plan.offered)
    if outcome.undo is not None:
        undo(path, outcome.undo)
    assert (of(path), schema_of(path)) == (before, schema)


def schema_of(path: Path) -> set[Any]:
    connection = apsw.Connection(str(path))
    try:
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))
    finally:
        connection.close()


def test_an_index_that_was_made_and_a_counter_that_went_up_are_taken_back(agent: Path) -> None:
    run(agent, "DROP INDEX idx_adf_outbox_created", "INSERT INTO adf_loop SELECT 30, role, content_json, model, tokens,"
        " created_at, NULL, 'nobody' FROM adf_loop WHERE seq = 7")  # fmt: skip
    before, schema = of(agent), schema_of(agent)
    outcome = repair(agent, ALL, frozenset({"ADF212", "ADF608"}))
    assert {change.action for change in outcome.plan.changes} >= {"index", "insert", "delete"}
    assert outcome.undo is not None
    undo(agent, outcome.undo)
    assert (of(agent), schema_of(agent)) == (before, schema)


def test_an_index_alone_can_be_taken_back_once(agent: Path) -> None:
    run(agent, "DROP INDEX idx_adf_outbox_created")
    schema = schema_of(agent)
    outcome = repair(agent)
    assert outcome.undo is not None
    assert schema_of(agent) != schema
    undo(agent, outcome.undo)
    assert schema_of(agent) == schema
    with pytest.raises(UsageError, match="changes nothing"):
        undo(agent, outcome.undo)


def test_a_counter_that_went_on_since_stays_and_a_plain_changeset_is_enough(agent: Path) -> None:
    run(agent, "UPDATE adf_loop SET loop = 'nobody' WHERE seq = 7")
    before = of(agent)
    outcome = repair(agent, ALL, frozenset({"ADF608"}))
    assert outcome.undo is not None
    changeset, rest = split_trailer(outcome.undo.read_bytes())
    assert rest.counters["adf_audit"] == (7, 8)
    run(agent, "INSERT INTO adf_audit (source, entry_count, size_bytes, data, created_at) VALUES ('x', 0, 0, x'', 1)")
    run(agent, "DELETE FROM adf_audit WHERE source = 'x'")
    plain = agent.parent / "plain"
    plain.write_bytes(changeset)
    copy = agent.parent / "copy.adf"
    copy.write_bytes(agent.read_bytes())
    for path, file in ((agent, outcome.undo), (copy, plain)):
        undo(path, file)
        assert of(path).differing(before) == ["sqlite_sequence"]


@pytest.mark.parametrize(
    "tail", [b"adf-undo", b"x" + bytes(8) + b"adf-undo", b'{"indexes": 1}' + (14).to_bytes(8, "big") + b"adf-undo"]
)
def test_a_damaged_trailer_is_refused(agent: Path, tail: bytes) -> None:
    other = agent.parent / "x"
    other.write_bytes(tail)
    before = of(agent)
    with pytest.raises(UsageError, match="no changeset"):
        undo(agent, other)
    assert of(agent) == before


def test_a_sound_file_is_left_alone(agent: Path) -> None:
    before = agent.read_bytes()
    outcome = repair(agent, ALL)
    assert (outcome.undo, outcome.backup, outcome.plan.changes) == (None, None, [])
    assert agent.read_bytes() == before
    assert [path.name for path in agent.parent.iterdir()] == ["ada.adf"]


def test_the_changeset_is_never_written_over_another(agent: Path) -> None:
    other = Path(f"{agent}.undo.changeset")
    other.write_text("older")
    run(agent, "UPDATE adf_files SET size = 1")
    outcome = repair(agent)
    assert outcome.undo is not None
    assert outcome.undo != other
    assert other.read_text() == "older"


def test_nothing_is_written_when_the_plan_is_not_agreed_to(agent: Path) -> None:
    run(agent, "UPDATE adf_files SET size = 1")
    before = agent.read_bytes()
    outcome = repair(agent, agreed=lambda found: not found.changes)
    assert outcome.plan.changes
    assert agent.read_bytes() == before
    assert [path.name for path in agent.parent.iterdir()] == ["ada.adf"]


def test_a_result_that_fails_its_check_is_not_kept(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(agent, "UPDATE adf_files SET size = 1")
    before = of(agent)
    original = repairing.mend.apply

    def also(connection: apsw.Connection, change: Any) -> None:
        original(connection, change)
        if "ada.adf" in connection.filename:
            connection.execute("UPDATE adf_loop SET model = 'x' WHERE seq = 10")

    monkeypatch.setattr(verifying, "apply_undo", lambda *_: None)
    monkeypatch.setattr(repairing.mend, "apply", also)
    with pytest.raises(VerificationError, match="more than the repair changed"):
        repair(agent)
    monkeypatch.undo()
    assert of(agent) == before
    assert [path.name for path in agent.parent.iterdir()] == ["ada.adf"]


def test_a_fix_that_mends_nothing_is_noticed(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(agent, "UPDATE adf_files SET size = 1")
    before = of(agent)
    original = verifying.make_plan

    def stubborn(*given: Any) -> Any:
        found = original(*given)
        found.changes.append(repairing.Change("update", fixes_of("ADF331"), "adf_files"))
        return found

    monkeypatch.setattr(verifying, "make_plan", stubborn)
    with pytest.raises(VerificationError, match="ADF331"):
        repair(agent)
    assert of(agent) == before


def test_undo_after_another_change_is_refused_as_a_whole(agent: Path) -> None:
    run(agent, "UPDATE adf_files SET size = 1")
    outcome = repair(agent)
    assert outcome.undo is not None
    run(agent, "UPDATE adf_files SET size = 7 WHERE path = 'mind.md'")
    before = of(agent)
    with pytest.raises(UnreadableError, match="changed since"):
        undo(agent, outcome.undo)
    assert of(agent) == before


@pytest.mark.parametrize("data", [b"", b"text", b"T\x00" * 40, b"\x00" * 100])
def test_what_is_no_changeset_is_refused(agent: Path, data: bytes) -> None:
    (agent.parent / "x").write_bytes(data)
    before = of(agent)
    with pytest.raises((UsageError, UnreadableError)):
        undo(agent, agent.parent / "x")
    with pytest.raises(MissingFileError):
        undo(agent, agent.parent / "nothing")
    assert of(agent) == before


def test_rows_of_a_loop_that_is_gone_are_archived_whatever_the_policy(agent: Path) -> None:
    run(
        agent,
        "UPDATE adf_config SET config_json = json_set(config_json, '$.context.audit', json('{}'))",
        "UPDATE adf_loop SET loop = 'gone' WHERE loop = 'gardener'",
        "UPDATE adf_timers SET loop = 'gone' WHERE id IN (1, 3)",
    )
    outcome = repair(agent, frozenset({Kind.GUESS}), frozenset({"ADF608", "ADF701"}))
    assert outcome.plan.changes
    connection = apsw.Connection(str(agent))
    assert connection.execute("SELECT source, entry_count FROM adf_audit ORDER BY id DESC LIMIT 1").get == (
        "loop:gone",
        3,
    )
    assert connection.execute("SELECT count(*) FROM adf_loop WHERE loop = 'gone'").get == 0
    assert [row[0] for row in connection.execute("SELECT id FROM adf_timers WHERE loop = 'gone'")] == [3]
    connection.close()


def test_snapshots_themselves_are_never_touched(agent: Path) -> None:
    run(
        agent,
        "UPDATE adf_audit SET entry_count = 99, size_bytes = 1, start_seq = NULL WHERE start_seq IS NOT NULL",
        *DAMAGE[-1:],
    )
    connection = apsw.Connection(str(agent))
    query = "SELECT id, data, created_at FROM adf_audit"
    before = connection.execute(query).fetchall()
    connection.close()
    repair(agent, ALL)
    connection = apsw.Connection(str(agent))
    assert connection.execute(query).fetchall() == before
    connection.close()


def test_numbers_of_a_configuration_that_is_rewritten_stay_exact(agent: Path) -> None:
    connection = apsw.Connection(str(agent))
    config = connection.execute("SELECT config_json FROM adf_config").get
    assert isinstance(config, str)
    added = '{"x_big":12345678901234567890123,"x_float":0.30000000000000004,"handle":null,'
    connection.execute("UPDATE adf_config SET config_json = ?", (added + config[1:],))
    connection.close()
    repair(agent, wanted=frozenset({"ADF410"}))
    connection = apsw.Connection(str(agent))
    found = connection.execute("SELECT config_json FROM adf_config").get
    connection.close()
    assert found == added.replace('"handle":null,', "") + config[1:]


@pytest.mark.parametrize(("text", "error"), [("33", NewerSchemaError), ("20", UnreadableError)])
def test_a_version_that_is_not_known_is_refused(agent: Path, text: str, error: type[AdfError]) -> None:
    run(
        agent, f"UPDATE adf_meta SET value = '{text}' WHERE key = 'adf_schema_version'", "UPDATE adf_files SET size = 1"
    )
    before = agent.read_bytes()
    for call in (plan, repair):
        with pytest.raises(error):
            call(agent)
    assert agent.read_bytes() == before


def test_a_file_in_use_is_refused(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = writer._connect
    monkeypatch.setattr(writer, "_connect", lambda source, _wait_s: patient(source, 0.05))
    run(agent, "UPDATE adf_files SET size = 1", "PRAGMA journal_mode = WAL")
    other = apsw.Connection(str(agent))
    other.execute("BEGIN IMMEDIATE; SELECT * FROM adf_loop").fetchall()
    with pytest.raises(LockedError):
        repair(agent)
    other.close()
