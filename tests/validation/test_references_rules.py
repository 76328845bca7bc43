"""Rules on references between parts of a file, beyond the two examples that each of them carries."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_cases import reported, told

from adf_format.validation.engine import Options, validate_file
from adf_format.validation.rule import select
from adf_format.validation.rules.references.files import file_of_lambda

TIMER = "UPDATE adf_timers SET {} WHERE id = {}"
CONFIG = "UPDATE adf_config SET config_json = {}"
SKILLS = (
    "INSERT INTO adf_files SELECT '{}', {}, NULL, 0, 'none', 0, created_at, updated_at FROM adf_files"
    " WHERE path = 'mind.md'"
)
ATTACHED = "UPDATE adf_outbox SET attachments = {} WHERE id = 'outbox0001'"
ATTESTED = "UPDATE adf_attestations SET {} WHERE id = 1"
PRIVATE = "UPDATE adf_identity SET {} WHERE purpose = 'crypto:signing:private_key'"
PUBLIC = "UPDATE adf_identity SET {} WHERE purpose = 'crypto:signing:public_key'"
ENVELOPE = "UPDATE adf_identity SET value = {} WHERE purpose = 'crypto:envelope:credentials'"
SECRET = "UPDATE adf_identity SET {} WHERE purpose LIKE 'mcp:%'"  # noqa: S105


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (TIMER.format("loop = 'main'", 1), []),
        (TIMER.format("loop = 'reviewer'", 4), []),
        (TIMER.format("loop = NULL", 4), []),
        (TIMER.format("loop = 'Gardener'", 4), ["ADF701"]),
        (TIMER.format("loop = x'00'", 4), []),
        (TIMER.format("loop = 'nobody', scope = '[\"system\"]'", 4), ["ADF701", "ADF702"]),
        (TIMER.format("loop = 'gardener', scope = 'agent'", 4), []),
        (TIMER.format("loop = 'gardener', scope = '{}'", 4), []),
        (CONFIG.format("'[]'"), ["ADF701"]),
        (CONFIG.format("json_set(config_json, '$.loops', 5)"), ["ADF701"]),
        (CONFIG.format("json_set(config_json, '$.loops', json('[5, {\"name\":7}]'))"), ["ADF701"]),
        (TIMER.format("lambda = 'lib/run.sh'", 2), ["ADF703"]),
        (TIMER.format("lambda = 'lib/api.ts'", 2), []),
        (TIMER.format("lambda = ''", 2), []),
        (TIMER.format("lambda = ':f'", 2), ["ADF703"]),
        (TIMER.format("lambda = x'00'", 2), []),
        ("INSERT INTO adf_meta VALUES ('adf_runtime_turn_checkpoint:gardener', '{\"status\":\"in_progress\"}', 'none')",
         ["ADF704"]),
        ("INSERT INTO adf_meta VALUES ('adf_runtime_turn_checkpoint:gardener', '{', 'none')", []),
        ("INSERT INTO adf_meta VALUES ('adf_runtime_turn_checkpoint:gardener', '[]', 'none')", []),
        ("INSERT INTO adf_meta VALUES ('adf_runtime_turn_checkpoint:gardener', x'00', 'none')", []),
        ("DROP TABLE adf_files", []),
    ],
)  # fmt: skip
def test_timers_and_turns(tmp_path: Path, sql: str, expected: list[str]) -> None:
    assert [one.rule for one in reported(tmp_path, sql, ["ADF701", "ADF702", "ADF703", "ADF704"])] == expected


@pytest.mark.parametrize("version", [21, 28])
def test_loops_of_timers_are_not_judged_before_there_are_loops(tmp_path: Path, version: int) -> None:
    sql = "ALTER TABLE adf_timers ADD COLUMN loop TEXT; UPDATE adf_timers SET loop = 'nobody'"
    assert reported(tmp_path, sql, ["ADF701", "ADF702"], version) == []


@pytest.mark.parametrize(
    ("version", "missing"),
    [(21, ["mind.md"]), (25, ["mind.md", "soul.md"]), (28, ["mind.md", "soul.md", "mind/log.md"])],
)
def test_which_files_an_agent_must_have_depends_on_the_version(
    tmp_path: Path, version: int, missing: list[str]
) -> None:
    found = reported(tmp_path, "DELETE FROM adf_files", ["ADF710", "ADF711"], version)
    assert [one.message for one in found] == [f"{path} is missing" for path in missing]


def test_a_file_of_the_mind_must_not_be_deletable(tmp_path: Path) -> None:
    sql = "UPDATE adf_files SET protection = 'none' WHERE path IN ('soul.md', 'mind/log.md')"
    assert [one.message for one in reported(tmp_path, sql, ["ADF711"])] == [
        "soul.md can be deleted by the agent",
        "mind/log.md can be deleted by the agent",
    ]


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("lib/api.ts:status", "lib/api.ts"),
        ("lib/run.sh", "lib/run.sh"),
        ("lib/a:b/run.sh", "lib/a:b/run.sh"),
        ("lib/a.ts:", "lib/a.ts"),
        (":f", ":f"),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_the_file_of_a_lambda(reference: object, path: str | None) -> None:
    assert file_of_lambda(reference) == path


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("$.ws_connections[0].lambda", "/ws_connections/0/lambda"),
        ("$.umbilical_taps[0].lambda", "/umbilical_taps/0/lambda"),
        ("$.triggers.on_inbox.targets[0].lambda", "/triggers/on_inbox/targets/0/lambda"),
        ('$."a/b~c".lambda', "/a~1b~0c/lambda"),
    ],
)
def test_every_lambda_of_the_configuration_is_looked_up(tmp_path: Path, path: str, pointer: str) -> None:
    inner = "json_set(config_json, '$.\"a/b~c\"', json('{}'))"
    sql = CONFIG.format(f"json_set({inner}, '{path}', 'gone.ts:f')")
    (one,) = reported(tmp_path, sql, ["ADF712"])
    assert (one.pointer, one.rowid) == (pointer, 1)


def test_lambdas_below_any_sensible_depth_are_left_alone(tmp_path: Path) -> None:
    deep = '{"x":' * 12 + '{"lambda":"gone.ts:f"}' + "}" * 12
    assert reported(tmp_path, CONFIG.format(f"'{deep}'"), ["ADF712"]) == []
    (tmp_path / "sample.adf").unlink()
    assert reported(tmp_path, CONFIG.format('\'{"a":[[{"lambda":"gone.ts:f"}],[{"lambda":7}]]}\''), ["ADF712"])


@pytest.mark.parametrize(
    ("path", "content", "messages"),
    [
        ("skills-state.json", "CAST('nope' AS BLOB)", ["skills-state.json is not JSON"]),
        ("skills-state.json", "x'ff'", ["skills-state.json is not JSON"]),
        ("skills-state.json", '\'{"schema":1,"disabled":[]}\'', []),
        ("skills-state.json", "5", ["skills-state.json is not JSON"]),
        ("skills-state.json", "zeroblob(2000000)", []),
        (
            "skills-state.json",
            'CAST(\'{"schema":1,"disabled":[],"disabled":[]}\' AS BLOB)',
            ["skills-state.json: an object names a key more than once"],
        ),
        (
            "skills-registry.json",
            'CAST(\'{"$notes":"","skills":{}}\' AS BLOB)',
            ["skills-registry.json: the key 'schema' is missing"],
        ),
        ("lib/skills-state.json", "CAST('nope' AS BLOB)", []),
    ],
)
def test_json_files_that_a_runtime_reads_back(tmp_path: Path, path: str, content: str, messages: list[str]) -> None:
    assert [one.message for one in reported(tmp_path, SKILLS.format(path, content), ["ADF713"])] == messages


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ('\'[{"transfer":"imported","path":"gone.bin"}]\'', ["adf_outbox row 1, attachments /0/path"]),
        ('\'[{"path":"mind.md"},{"path":"gone.bin"}]\'', ["adf_outbox row 1, attachments /1/path"]),
        ('\'[{"path":"gone.bin","skipped":true}]\'', []),
        ('\'[{"data":"AAAA"}]\'', []),
        ("json_array(json_object('path', 'a' || char(27)))", []),
        ('\'["x", null, {"path":5}]\'', []),
        ('\'{"path":"gone.bin"}\'', []),
        ("'['", []),
        ("NULL", []),
    ],
)
def test_files_of_attachments(tmp_path: Path, value: str, places: list[str]) -> None:
    assert [place for _, place in told(reported(tmp_path, ATTACHED.format(value), ["ADF720"]))] == places


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        ("issuer = 'did:key:zOther'", ["issuer"]),
        ("role = 'clone', signature = 'ed25519:AA'", ["role", "signature"]),
        ("scope = 'x'", ["scope"]),
        ("expires_at = '2030-01-01T00:00:00.000Z'", ["expires_at"]),
        ("raw_json = json_set(raw_json, '$.expires_at', NULL)", []),
        ("raw_json = '[]'", []),
        ("raw_json = '{'", []),
    ],
)
def test_columns_of_an_attestation_are_copies(tmp_path: Path, change: str, columns: list[str]) -> None:
    assert [one.column for one in reported(tmp_path, ATTESTED.format(change), ["ADF730"])] == columns


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (PRIVATE.format("encryption_algo = 'env:identity'"), []),
        (PRIVATE.format("encryption_algo = 'aes-256-gcm'"), []),
        (PRIVATE.format("encryption_algo = 'env:credentials'"), ["ADF740"]),
        (PUBLIC.format("encryption_algo = 'env:credentials'"), ["ADF740"]),
        (PUBLIC.format("encryption_algo = 'aes-256-gcm'"), []),
        (SECRET.format("encryption_algo = 'env:identity'"), ["ADF740"]),
        (SECRET.format("salt = x'00'"), ["ADF741"]),
        (SECRET.format("kdf_params = '{}'"), ["ADF741"]),
        (SECRET.format("value = zeroblob(27)"), ["ADF741"]),
        (SECRET.format("value = zeroblob(27), encryption_algo = 'aes-256-gcm'"), []),
        (SECRET.format("value = 'text'"), []),
        (SECRET.format("purpose = x'00'"), []),
        (ENVELOPE.format("CAST('nope' AS BLOB)"), ["ADF742"]),
        (ENVELOPE.format("x'ff'"), ["ADF742"]),
        (ENVELOPE.format('CAST(\'{"v":1,"slots":[{"type":"ghost"}]}\' AS BLOB)'), ["ADF742"]),
        (ENVELOPE.format('CAST(\'{"v":1,"v":1,"slots":[]}\' AS BLOB)'), ["ADF743"]),
        (ENVELOPE.format("CAST('[]' AS BLOB)"), ["ADF743"]),
        (ENVELOPE.format('CAST(\'{"v":1,"slots":[]}\' AS BLOB)'), []),
        (PRIVATE.format("value = x'00'"), ["ADF744"]),
        (PUBLIC.format("value = substr(value, 1, 43)"), ["ADF744"]),
        (PUBLIC.format("value = zeroblob(44)"), ["ADF744"]),
        (PUBLIC.format("encryption_algo = NULL"), []),
        ("DELETE FROM adf_meta WHERE key = 'adf_did'", []),
        ("UPDATE adf_meta SET value = 'did:key:zOther' WHERE key = 'adf_did'", ["ADF745"]),
        ("UPDATE adf_meta SET value = '' WHERE key = 'adf_did'", []),
    ],
)
def test_identity_rows(tmp_path: Path, sql: str, expected: list[str]) -> None:
    assert [one.rule for one in reported(tmp_path, sql, ["ADF74"])] == expected


def test_hostile_purposes_are_not_carried_into_messages(tmp_path: Path) -> None:
    sql = SECRET.format("purpose = char(27) || printf('%5000c', 'x') || ':y', encryption_algo = 'env:identity'")
    (one,) = reported(tmp_path, sql, ["ADF740"])
    assert len(one.message) < 100
    assert one.message.isprintable()


def test_a_table_that_lacks_a_column_is_named_as_unchecked(tmp_path: Path) -> None:
    reported(tmp_path, "ALTER TABLE adf_identity DROP COLUMN kdf_params", ["ADF74"])
    report = validate_file(tmp_path / "sample.adf", Options(wanted=select(("ADF74",))))
    assert {"what": "identity rows", "why": "adf_identity lacks a column it needs"} in report.stats.not_checked


def test_without_paths_of_files_nothing_is_said_to_be_missing(tmp_path: Path) -> None:
    sql = "DROP TABLE adf_files; CREATE TABLE adf_files (content BLOB)"
    assert reported(tmp_path, sql, ["ADF703", "ADF712", "ADF720"]) == []
