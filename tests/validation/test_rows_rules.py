"""Rules on rows, beyond the two examples that each of them carries."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from rule_cases import reported, told

from adf_format import jsontext
from adf_format.container import Limits
from adf_format.sample import example
from adf_format.validation import engine
from adf_format.validation.rule import Example, Severity
from adf_format.validation.rules.rows import columns, json_columns
from adf_format.validation.rules.rows.values import parses

LOOP = "UPDATE adf_loop SET {} WHERE seq = 10"
CONTENT = "UPDATE adf_loop SET content_json = '{}' WHERE seq = 10"
TOKENS = "UPDATE adf_loop SET tokens = '{}' WHERE seq = 13"
TIMER = "UPDATE adf_timers SET schedule_json = '{}' WHERE id = 2"
SCOPE = "UPDATE adf_timers SET scope = '{}' WHERE id = 1"
META = "UPDATE adf_meta SET {} WHERE key = '{}'"
BASELINE = (
    "INSERT INTO adf_meta VALUES ('context_baseline_tokens:{}',"
    " json_object('tokens', 1, 'estimated', json('true'), 'updated_at', 1), 'readonly')"
)
REBUILT = (
    "CREATE TABLE other (key TEXT, value TEXT, protection TEXT); INSERT INTO other SELECT * FROM adf_meta;"
    " DROP TABLE adf_meta; ALTER TABLE other RENAME TO adf_meta; "
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # storage classes
        ("UPDATE adf_loop SET model = x'00' WHERE seq = 13", ["ADF301 adf_loop row 13, model"]),
        ("UPDATE adf_inbox SET sent_at = 1.5", ["ADF301 adf_inbox row 1, sent_at"]),
        ("UPDATE adf_inbox SET sent_at = 5.0", []),
        ("UPDATE adf_inbox SET sent_at = '5'", []),
        ("UPDATE adf_audit SET data = 'text' WHERE id = 1", ["ADF301 adf_audit row 1, data"]),
        ("INSERT INTO adf_meta (key, value) VALUES (x'00', 'x')", ["ADF301 adf_meta row 19, key"]),
        ("UPDATE adf_identity SET purpose = x'00' WHERE purpose LIKE 'mcp:%'", ["ADF301 adf_identity row 5, purpose"]),
        ("UPDATE adf_files SET size = 'big' WHERE path = 'mind.md'", ["ADF301 adf_files row 2, size"]),
        # NULL
        ("INSERT INTO adf_meta (key, value) VALUES (NULL, 'x')", ["ADF302 adf_meta row 19, key"]),
        ("UPDATE adf_loop SET model = NULL, tokens = NULL, ord = NULL", []),
        # closed sets
        (LOOP.format("role = 'User'"), ["ADF303 adf_loop row 10, role"]),
        ("UPDATE adf_files SET authorized = 2 WHERE path = 'mind.md'", ["ADF303 adf_files row 2, authorized"]),
        ("UPDATE adf_timers SET warm = -1 WHERE id = 1", ["ADF303 adf_timers row 1, warm"]),
        (REBUILT + META.format("protection = 'locked'", "counter"), ["ADF303 adf_meta row 18, protection"]),
        # forms and ranges
        (LOOP.format("loop = 'Main Loop'"), ["ADF304 adf_loop row 10, loop"]),
        (LOOP.format("loop = 'main' || char(10)"), ["ADF304 adf_loop row 10, loop"]),
        ("UPDATE adf_logs SET loop = '-x' WHERE id = 1", ["ADF304 adf_logs row 1, loop"]),
        (LOOP.format("created_at = -1"), ["ADF304 adf_loop row 10, created_at"]),
        (LOOP.format("created_at = 0"), []),
        # text
        (LOOP.format("content_json = CAST(x'5b22ff225d' AS TEXT)"), ["ADF305 adf_loop row 10, content_json"]),
        (LOOP.format("model = CAST(x'6d00ff' AS TEXT)"), ["ADF305 adf_loop row 10, model"]),
        # open sets
        ("UPDATE adf_inbox SET status = 'pondering' WHERE id = 'inbox00002'", ["ADF308 adf_inbox row 2, status"]),
        ("UPDATE adf_outbox SET status = 'sent'", []),
        ("UPDATE adf_logs SET level = 'trace' WHERE id = 1", ["ADF308 adf_logs row 1, level"]),
        ("UPDATE adf_files SET created_at = '2026' WHERE path = 'mind.md'", ["ADF308 adf_files row 2, created_at"]),
        ("UPDATE adf_inbox SET source = 'pigeon' WHERE id = 'inbox00001'", ["ADF309 adf_inbox row 1, source"]),
    ],
)  # fmt: skip
def test_what_a_column_may_hold(tmp_path: Path, sql: str, expected: list[str]) -> None:
    wanted = [rule.id for rule in columns.RULES]
    assert [" ".join(one) for one in told(reported(tmp_path, sql, wanted))] == expected


@pytest.mark.parametrize(
    ("table", "column", "source"),
    [("adf_files", "content", "path, NULL, mime_type, size, protection, authorized, created_at, updated_at"),
     ("adf_audit", "data", "id, source, start_seq, end_seq, ref, entry_count, size_bytes, NULL, created_at")],
)  # fmt: skip
def test_null_is_found_also_where_only_the_size_is_read(tmp_path: Path, table: str, column: str, source: str) -> None:
    sql = (
        f"CREATE TABLE other AS SELECT * FROM {table} LIMIT 0; INSERT INTO other SELECT {source} FROM {table} LIMIT 1;"
    )
    sql += f" DROP TABLE {table}; ALTER TABLE other RENAME TO {table}"
    assert [one.column for one in reported(tmp_path, sql, ["ADF302"])] == [column]


def test_a_value_above_the_limit_is_named_and_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "Limits", partial(Limits, max_value_bytes=100_000))
    sql = "UPDATE adf_logs SET message = printf('%200000c', 'x'), level = 'trace' WHERE id < 3"
    path = tmp_path / "sample.adf"
    example(path, Example(sql))
    report = engine.validate_file(path, engine.Options(wanted=frozenset({"ADF306", "ADF308"})))
    assert [(one.rule, one.column, one.count) for one in report.findings] == [
        ("ADF306", "message", 2), ("ADF308", "level", 2),
    ]  # fmt: skip
    assert [one["what"] for one in report.stats.not_checked] == ["large values of adf_logs.message"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # what is JSON at all
        (CONTENT.format(""), ["ADF310"]),
        (CONTENT.format("[NaN]"), ["ADF310"]),
        (CONTENT.format(" [ ] "), []),
        (TOKENS.format("none"), ["ADF315"]),
        (SCOPE.format("document"), ["ADF315"]),
        (SCOPE.format("nobody"), ["ADF310"]),
        ("UPDATE adf_tasks SET approval_meta = 'x' WHERE id = 'task_bbbbbbbbbbbb'", ["ADF315"]),
        ("UPDATE adf_tasks SET args = 'x' WHERE id = 'task_bbbbbbbbbbbb'", ["ADF310"]),
        ("UPDATE adf_logs SET data = 'plain' WHERE id = 1", ["ADF310"]),
        # content blocks
        (CONTENT.format("null"), ["ADF311"]),
        (CONTENT.format("{}"), ["ADF311"]),
        (CONTENT.format('["text"]'), ["ADF311"]),
        (CONTENT.format("[null]"), ["ADF311"]),
        (CONTENT.format('[{"text":"x"}]'), ["ADF311"]),
        (CONTENT.format('[{"type":5}]'), ["ADF311"]),
        (CONTENT.format('[{"type":"text","text":null}]'), ["ADF311"]),
        (CONTENT.format('[{"type":"thinking","thinking":"x","reasoning_details":null}]'), ["ADF314"]),
        (CONTENT.format('[{"type":"tool_use","id":"","name":"x","input":{}}]'), ["ADF312"]),
        (CONTENT.format('[{"type":"tool_use","id":"a","name":"x"}]'), ["ADF312"]),
        (CONTENT.format('[{"type":"text","text":"\\ud83d"}]'), []),
        # usage
        (TOKENS.format('{"input":"many"}'), ["ADF311"]),
        (TOKENS.format("17"), ["ADF312"]),
        (TOKENS.format("null"), ["ADF312"]),
        (TOKENS.format('{"input":1,"output":2,"cached":3}'), []),
        # timers
        (SCOPE.format("[]"), ["ADF311"]),
        (SCOPE.format('["agent","agent"]'), ["ADF312"]),
        (SCOPE.format('["agent","system"]'), []),
        (TIMER.format('{"mode":"once","at":0}'), ["ADF311"]),
        (TIMER.format('{"mode":"often"}'), ["ADF311"]),
        (TIMER.format('{"mode":"interval","every_ms":1,"max_runs":0}'), ["ADF312"]),
        (TIMER.format('{"mode":"interval","every_ms":1,"every":"day"}'), []),
        # the rest
        ("UPDATE adf_inbox SET meta = '[]' WHERE id = 'inbox00001'", ["ADF311"]),
        ("UPDATE adf_inbox SET attachments = '[]' WHERE id = 'inbox00001'", []),
        ("UPDATE adf_inbox SET attachments = '[{\"filename\":\"x\"}]' WHERE id = 'inbox00001'", ["ADF311"] * 2),
        ('UPDATE adf_logs SET data = \'{"a":{"b":1,"b":2}}\' WHERE id = 1', ["ADF313"]),
    ],
)
def test_what_json_in_a_column_may_hold(tmp_path: Path, sql: str, expected: list[str]) -> None:
    wanted = [rule.id for rule in json_columns.RULES]
    assert [one.rule for one in reported(tmp_path, sql, wanted)] == expected


def test_a_violation_names_the_place_in_the_json(tmp_path: Path) -> None:
    sql = CONTENT.format('[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":7}}]')
    (one,) = reported(tmp_path, sql, ["ADF311"])
    assert one.place() == "adf_loop row 10, content_json /1/image_url/url"
    assert one.message == "integer where string is expected"


def test_many_broken_values_are_explained_up_to_a_bound_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_columns, "EXPLAINED", 3)
    sql = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO adf_logs"
        " (level, message, data, created_at) SELECT 'info', 'm', '[', 0 FROM n;"
        " UPDATE adf_loop SET content_json = '{}'"
    )
    found = {one.message: one.count for one in reported(tmp_path, sql, ["ADF311"])}
    assert found == {
        "object where array is expected": 3,
        "10 further values break the schema and were not explained one by one": 1,
    }


def test_json_too_large_to_be_decoded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "MAX_COLUMN", 50)
    sql = CONTENT.format('[{"type":"text","text":"' + "x" * 100 + '"}]')
    found = [one for one in reported(tmp_path, sql, ["ADF3"]) if one.rowid == 10]
    assert "was not decoded" in found[0].message
    assert found[0].severity < Severity.ERROR


# --- keys of adf_meta


@pytest.mark.parametrize(
    ("sql", "version", "expected"),
    [
        ("DELETE FROM adf_meta WHERE key LIKE 'adf_%version'", 32, ["ADF320"]),
        ("DELETE FROM adf_meta WHERE key NOT LIKE 'adf_%version'", 32, []),
        (META.format("protection = 'increment'", "adf_did_history"), 32, ["ADF321"]),
        (META.format("protection = 'increment'", "counter"), 32, []),
        (META.format("protection = 'none'", "adf_handle"), 32, ["ADF322"]),
        (META.format("value = '0.3'", "adf_version"), 32, ["ADF323"]),
        (META.format("value = '{}'", "adf_runtime_turn_checkpoint"), 32, ["ADF323"] * 7),
        (META.format("value = 'x'", "adf_runtime_turn_checkpoint"), 32, ["ADF324"]),
        (META.format('value = \'[{"a":1,"a":2}]\'', "adf_did_history"), 32, ["ADF324", "ADF324"]),
        (META.format("value = 'urn:x'", "adf_did"), 32, ["ADF324"]),
        (META.format("value = x'00'", "adf_did"), 32, []),
        ("INSERT INTO adf_meta VALUES ('adf_attestations', '[]', 'none')", 21, []),
        ("INSERT INTO adf_meta VALUES ('adf_attestations', '[{}]', 'none')", 23, ["ADF324"] * 3),
        ("INSERT INTO adf_meta VALUES ('adf_attestations', '[{}]', 'none')", 24, ["ADF325"]),
        ("INSERT INTO adf_meta VALUES ('runtime_anything', '{', 'increment')", 32, []),
        ("INSERT INTO adf_meta VALUES ('anything:at:all', '{', 'increment')", 32, []),
        (BASELINE.format("drafter"), 32, ["ADF326"]),
        (BASELINE.format("reviewer"), 32, []),
        (BASELINE.format("drafter"), 28, []),
    ],
)
def test_what_a_key_of_the_format_may_hold(tmp_path: Path, sql: str, version: int, expected: list[str]) -> None:
    assert [one.rule for one in reported(tmp_path, sql, ["ADF32"], version)] == expected


def test_a_protection_that_is_no_text_is_left_to_other_rules(tmp_path: Path) -> None:
    sql = REBUILT + META.format("protection = CAST(x'ff' AS TEXT)", "adf_did")
    assert reported(tmp_path, sql, ["ADF32"]) == []


def test_a_file_may_lack_the_column_of_protections(tmp_path: Path) -> None:
    sql = REBUILT + "ALTER TABLE adf_meta DROP COLUMN protection"
    assert reported(tmp_path, sql, ["ADF32"]) == []


def test_long_hostile_text_is_not_carried_into_messages(tmp_path: Path) -> None:
    sql = (
        REBUILT + "UPDATE adf_meta SET protection = printf('%5000c', 'x') || char(27) WHERE key = 'adf_did';"
        " INSERT INTO adf_meta VALUES ('context_baseline_tokens:' || printf('%5000c', 'x') || char(27), '{', 'none')"
    )
    for one in reported(tmp_path, sql, ["ADF32"]):
        assert len(one.message) < 200
        assert one.message.isprintable()


# --- values of one row


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (TIMER.format('{"mode":"cron","cron":"0 0 * * * *"}'), ["ADF330"]),
        (TIMER.format('{"mode":"cron","cron":5}'), []),
        (TIMER.format('{"mode":"interval","every_ms":1,"cron":"nonsense"}'), []),
        (TIMER.format("[]"), []),
        ("UPDATE adf_files SET size = 0 WHERE path = 'mind.md'", ["ADF331"]),
        ("UPDATE adf_files SET size = 'big' WHERE path = 'mind.md'", []),
        ("UPDATE adf_files SET content = 'häh', size = 4 WHERE path = 'mind.md'", []),
        ("UPDATE adf_tasks SET completed_at = 5 WHERE status = 'pending_approval'", ["ADF332"]),
        ("UPDATE adf_tasks SET status = 'denied', completed_at = NULL WHERE completed_at > 0", ["ADF332"]),
        ("UPDATE adf_tasks SET status = 'paused', completed_at = 5", []),
        ("UPDATE adf_timers SET run_count = 0, last_fired_at = 5 WHERE id = 2", ["ADF333"]),
        ("UPDATE adf_timers SET run_count = 1, last_fired_at = NULL WHERE id = 2", ["ADF333"]),
        ("UPDATE adf_timers SET run_count = 'x' WHERE id = 2", []),
    ],
)
def test_values_that_belong_together(tmp_path: Path, sql: str, expected: list[str]) -> None:
    assert [one.rule for one in reported(tmp_path, sql, ["ADF33"])] == expected


@pytest.mark.parametrize("cron", ["* * * * *", "*/5 9-17 * * 1-5", "0 0 1 1 *", "0 0 * * SUN", "  0 7 * * 1  "])
def test_five_fields_make_a_schedule(cron: str) -> None:
    assert parses(cron)


@pytest.mark.parametrize(
    "cron", ["", "* * * *", "* * * * * *", "@daily", "60 * * * *", "* * * * 9", "a b c d e", "* " * 9999]
)
def test_anything_else_does_not(cron: str) -> None:
    assert not parses(cron)
