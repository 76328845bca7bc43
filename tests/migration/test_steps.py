"""Each step does what its rule says, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from migration_support import NOW, archive, ask, digest_of, names_in, rows_of, run, sample, version_of

from adf_format.config.fresh import icon
from adf_format.errors import MigrationError, NewerSchemaError, UsageError
from adf_format.migration import Order, migrate, rehearse
from adf_format.migration.steps import STEPS, path
from adf_format.migration.steps.seeding import is_blank
from adf_format.schemas import LATEST, storage_version
from adf_format.structure import read
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file

VERSIONS = range(21, LATEST)


def config_of(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask(file, "SELECT config_json FROM adf_config")[0][0])
    return found


def set_config(file: Path, **changes: Any) -> dict[str, Any]:
    config = config_of(file) | changes
    run(file, "UPDATE adf_config SET config_json = ?", bindings=[(json.dumps(config, ensure_ascii=False),)])
    return config


def climb(file: Path, target: int) -> None:
    migrate(file, Order(target, NOW))


def test_the_ladder_has_no_gap_and_ends_at_the_newest_version() -> None:
    assert [(step.source, step.target) for step in STEPS] == [(number, number + 1) for number in range(13, LATEST)]
    assert all(rule.startswith("MIG-0") for step in STEPS for rule in step.rules)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sample_of_any_version_is_valid_at_the_newest(version: int, tmp_path: Path) -> None:
    file = sample(tmp_path, version)
    climb(file, LATEST)
    (tmp_path / "agent.adf.bak").unlink()
    report = validate_file(file, Options(depth=Depth.DEEP))
    assert report.error is None
    assert report.schema_version == LATEST
    assert [one.message for one in report.findings if one.rule != "ADF466"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_one_step_leaves_the_tables_columns_and_indexes_of_its_version(version: int, tmp_path: Path) -> None:
    file = sample(tmp_path, version)
    climb(file, version + 1)
    assert version_of(file) == version + 1
    connection = apsw.Connection(str(file))
    found = read(connection).tables
    connection.close()
    for name, table in storage_version(version + 1).tables.items():
        assert found[name].columns.keys() == table.column.keys(), name
        made = {index for index, one in found[name].indexes.items() if one.origin == "c"}
        assert made == {index.name for index in table.indexes}, name
        for column in table.columns:
            actual = found[name].columns[column.name]
            assert (actual.type, actual.default, actual.not_null) == (column.type, column.default, column.not_null)


@pytest.mark.parametrize("version", VERSIONS)
def test_steps_one_by_one_give_what_all_at_once_give(version: int, tmp_path: Path) -> None:
    once, stepwise = sample(tmp_path, version, "a.adf"), sample(tmp_path, version, "b.adf")
    climb(once, LATEST)
    for target in range(version + 1, LATEST + 1):
        climb(stepwise, target)
    assert digest_of(once) == digest_of(stepwise)


def test_a_second_run_changes_no_byte_and_leaves_no_file(tmp_path: Path) -> None:
    file = sample(tmp_path, 27)
    climb(file, LATEST)
    before, names = file.read_bytes(), names_in(tmp_path)
    assert migrate(file).steps == ()
    assert (file.read_bytes(), names_in(tmp_path)) == (before, names)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_the_journal_mode_stays_and_no_sidecar_does(journal: str, tmp_path: Path) -> None:
    file = sample(tmp_path, 27)
    run(file, f"PRAGMA journal_mode={journal}") if journal == "delete" else _wal(file)
    climb(file, LATEST)
    assert file.read_bytes()[18:20] == (b"\2\2" if journal == "wal" else b"\1\1")
    assert names_in(tmp_path) == ["agent.adf", "agent.adf.bak"]


def _wal(file: Path) -> None:
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.close()


class TestRefusals:
    def test_a_newer_file_is_refused_and_both_versions_are_named(self, tmp_path: Path) -> None:
        file = sample(tmp_path, LATEST)
        run(file, "UPDATE adf_meta SET value = '33' WHERE key = 'adf_schema_version'")
        before = file.read_bytes()
        with pytest.raises(NewerSchemaError, match="33 is newer than 32"):
            migrate(file)
        assert file.read_bytes() == before
        assert names_in(tmp_path) == ["agent.adf"]

    @pytest.mark.parametrize("value", ["thirty", "", "12", "0", "-1"])
    def test_a_version_from_which_no_step_starts_is_refused(self, value: str, tmp_path: Path) -> None:
        file = sample(tmp_path, 21)
        run(file, "UPDATE adf_meta SET value = ? WHERE key = 'adf_schema_version'", bindings=[(value,)])
        with pytest.raises(MigrationError):
            migrate(file)

    def test_there_is_no_way_back_and_none_to_an_unknown_version(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 28)
        for target in (27, 33):
            with pytest.raises(UsageError):
                migrate(file, Order(target))
        assert [step.name for step in path(28, 30)] == ["28->29", "29->30"]

    def test_a_strict_step_on_a_broken_configuration_fails_and_the_steps_before_it_stay(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 27)
        before = file.read_bytes()
        run(file, "UPDATE adf_config SET config_json = '{'")
        with pytest.raises(MigrationError, match="not JSON"):
            migrate(file)
        assert version_of(file) == 29
        run(file, "UPDATE adf_config SET config_json = '{}'")
        migrate(file)
        assert version_of(file) == LATEST
        assert before


class TestConfiguration:
    def test_rewriting_keeps_unknown_keys_large_numbers_surrogates_and_order(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 30)
        text = '{"zeta":12345678901234567890123,"id":"abc","x":"\\ud83d","alpha":{"b":1e400,"10":1,"9":[1.5]},"é":"😀"}'
        run(file, "UPDATE adf_config SET config_json = ?", bindings=[(text,)])
        climb(file, 31)
        wanted = (
            '{"zeta":12345678901234567890123,"id":"abc","x":"\\ud83d","alpha":{"9":[1.5],"10":1,"b":1E+400},"é":"😀"'
        )
        found = ask(file, "SELECT config_json FROM adf_config")[0][0]
        assert found.replace("1e+400", "1E+400") == f'{wanted},"icon":"🐢"}}'

    @pytest.mark.parametrize("version", VERSIONS)
    def test_no_step_changes_the_time_of_the_last_change(self, version: int, tmp_path: Path) -> None:
        file = sample(tmp_path, version)
        query = "SELECT updated_at FROM adf_config UNION ALL SELECT value FROM adf_meta WHERE key = 'adf_updated_at'"
        before = ask(file, query), config_of(file)["metadata"]
        climb(file, version + 1)
        assert (ask(file, query), config_of(file)["metadata"]) == before

    def test_limits_without_effect_go_and_the_budget_of_thinking_moves(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 22)
        model = config_of(file)["model"] | {"thinking_budget": 2048, "max_loop_messages": 5}
        set_config(file, model=model, limits={"max_loop_rows": 1, "max_daily_budget_usd": None, "mine": 1})
        climb(file, 23)
        found = config_of(file)
        assert found["limits"] == {"mine": 1}
        assert found["model"]["reasoning"] == {"enabled": True, "max_tokens": 2048}
        assert found["model"].keys().isdisjoint({"thinking_budget", "max_loop_messages"})

    @pytest.mark.parametrize(("reasoning", "budget"), [({"enabled": False}, 10), (None, 0), (None, "5"), (1, 5)])
    def test_the_budget_stays_where_reasoning_is_set_or_it_is_none(
        self, reasoning: Any, budget: Any, tmp_path: Path
    ) -> None:
        file = sample(tmp_path, 22)
        set_config(file, model={"reasoning": reasoning, "thinking_budget": budget})
        climb(file, 23)
        assert config_of(file)["model"] == {"reasoning": reasoning, "thinking_budget": budget}

    def test_a_bare_prompt_gets_no_instructions(self, tmp_path: Path) -> None:
        for bare, wanted in ((True, {"inbox_hints": False}), (1, {"inbox_hints": True})):
            file = sample(tmp_path, 29, f"{bare}.adf")
            set_config(file, bare_prompt=bare, context={"dynamic_instructions": {"inbox_hints": True}, "own": 1})
            climb(file, 30)
            context = config_of(file)["context"]
            assert context["own"] == 1
            assert context["dynamic_instructions"].items() >= wanted.items()
            assert len(context["dynamic_instructions"]) == (4 if bare is True else 1)

    @pytest.mark.parametrize("seed", ["a", "abc", "V1StGXR8_Z5j", "agent-legacy-1", "a1b2c3d4e5f6"])
    def test_an_icon_is_picked_only_where_there_is_none(self, seed: str, tmp_path: Path) -> None:
        for given, wanted in ((None, icon(seed)), ("", icon(seed)), ("X", "X")):
            file = sample(tmp_path, 30, f"{given}.adf")
            set_config(file, id=seed, icon=given)
            climb(file, 31)
            assert config_of(file)["icon"] == wanted

    def test_what_holds_at_every_version_is_done_once(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 31)
        tools = [{"name": "container_exec"}, {"name": "container_exec"}]
        set_config(file, tools=tools, security={"allow_protected_writes": True}, triggers={"document": {"on": 1}})
        run(file, "UPDATE adf_meta SET protection = 'none' WHERE key = 'adf_did'")
        climb(file, 32)
        found = config_of(file)
        assert [tool["name"] for tool in found["tools"]] == ["compute_exec", "container_exec"]
        assert found["security"] == {}
        assert found["triggers"]["on_file_change"]["targets"][0]["filter"] == {"watch": "README.*"}
        assert "document" not in found["triggers"]
        assert ask(file, "SELECT protection FROM adf_meta WHERE key = 'adf_did'") == [("readonly",)]


class TestFiles:
    def test_the_document_is_renamed_only_where_the_new_name_is_free(self, tmp_path: Path) -> None:
        for taken in (False, True):
            file = sample(tmp_path, 21, f"{taken}.adf")
            columns = "mime_type, 1, protection, authorized, created_at, updated_at"
            insert = (
                f"INSERT INTO adf_files SELECT 'README.md', x'41', {columns} FROM adf_files WHERE path = 'document.md'"
            )
            if taken:
                run(file, insert)
            before = {row["path"]: row for row in rows_of(file, "adf_files")}
            climb(file, 22)
            after = {row["path"]: row for row in rows_of(file, "adf_files")}
            assert ("document.md" in after) is taken
            old = before["README.md" if taken else "document.md"]
            assert after["README.md"] == {**old, "path": "README.md"}

    @pytest.mark.parametrize(
        ("text", "blank"),
        [
            ("", True),
            ("\n\ufeff \u2003\u00a0", True),
            ("\x1c", False),
            ("\x85", False),
            ("x", False),
            ("\u200b", False),
        ],
    )
    def test_blank_is_what_javascript_trims(self, text: str, blank: bool, tmp_path: Path) -> None:
        assert is_blank(text.encode()) is blank
        file = sample(tmp_path, 27)
        run(file, "UPDATE adf_files SET content = ? WHERE path = 'mind.md'", bindings=[(text.encode(),)])
        climb(file, 28)
        content, size, at = ask(file, "SELECT content, size, updated_at FROM adf_files WHERE path = 'mind.md'")[0]
        assert (content != text.encode()) is blank
        if blank:
            assert (size, at) == (len(content), "2026-02-03T04:05:06.789Z")
            assert b"## Always" in content
            assert b"## Pages" in content

    def test_lived_in_files_stay_and_a_missing_mind_is_not_made(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 24)
        insert = "INSERT INTO adf_files (path, content, size, created_at, updated_at) VALUES (?, x'41', 1, '', '')"
        run(file, insert, bindings=[("soul.md",), ("mind/log.md",)])
        run(file, "DELETE FROM adf_files WHERE path = 'mind.md'")
        climb(file, 28)
        found = dict(ask(file, "SELECT path, content FROM adf_files"))
        assert (found["soul.md"], found["mind/log.md"], found.get("mind.md")) == (b"A", b"A", None)


ONE = {"issuer": "did:a", "subject": "did:b", "signature": "s", "scope": "x", "extra": [1, "é"]}


class TestAttestations:
    def test_elements_with_issuer_subject_and_signature_become_rows(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 23)
        value = json.dumps([ONE, {"issuer": "x"}, 5])
        run(file, "DELETE FROM adf_meta WHERE key = 'adf_attestations'")
        run(file, "INSERT INTO adf_meta VALUES ('adf_attestations', ?, 'none')", bindings=[(value,)])
        climb(file, 24)
        (row,) = rows_of(file, "adf_attestations")
        assert (row["issuer"], row["role"], row["issued_at"], row["expires_at"], row["scope"]) == (
            "did:a",
            "",
            "",
            None,
            "x",
        )
        assert json.loads(row["raw_json"]) == ONE
        assert ask(file, "SELECT 1 FROM adf_meta WHERE key = 'adf_attestations'") == []

    @pytest.mark.parametrize("value", ["[", "{}", '[{"issuer":["a"],"subject":"b","signature":"c"}]'])
    def test_what_cannot_be_read_stays_where_it_is_and_is_told(self, value: str, tmp_path: Path) -> None:
        file = sample(tmp_path, 23)
        run(file, "DELETE FROM adf_meta WHERE key = 'adf_attestations'")
        run(file, "INSERT INTO adf_meta VALUES ('adf_attestations', ?, 'none')", bindings=[(value,)])
        outcome = migrate(file, Order(24, NOW))
        assert ask(file, "SELECT value FROM adf_meta WHERE key = 'adf_attestations'") == [(value,)]
        assert rows_of(file, "adf_attestations") == []
        assert any("MIG-030" in note for note in outcome.record.notes)


class TestAudit:
    def test_locators_of_every_source_and_of_damage(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 27)
        run(file, "DELETE FROM adf_audit")
        entries = [{"seq": seq} for seq in (5, 6, 9)]
        given: list[tuple[str, Any, tuple[Any, ...]]] = [
            ("loop", entries, (5, 9, None)),
            ("loop", entries[::-1], (9, 5, None)),
            ("loop", [], (None, None, None)),
            ("loop", {"seq": 1}, (None, None, None)),
            ("loop", [{"seq": 1}, {"seq": "2"}], (None, None, None)),
            ("loop", [{"seq": True}, {"seq": 2}], (None, None, None)),
            ("inbox_message", {"id": "m"}, (None, None, "m")),
            ("outbox_message", {"id": ""}, (None, None, None)),
            ("outbox_message", [{"id": "m"}], (None, None, None)),
            ("file", {"path": "a/b"}, (None, None, "a/b")),
            ("file", {"id": "m"}, (None, None, None)),
            ("inbox", [{"id": "m"}], (None, None, None)),
            ("other", [{"seq": 1}], (None, None, None)),
            ("loop", b"\xff\xff", (None, None, None)),
            ("loop", b"", (None, None, None)),
        ]
        for source, value, _ in given:
            archive(file, source, value)
        before = ask(file, "SELECT id, source, entry_count, size_bytes, data, created_at FROM adf_audit ORDER BY id")
        climb(file, 28)
        after = ask(file, "SELECT id, source, entry_count, size_bytes, data, created_at FROM adf_audit ORDER BY id")
        assert after == before
        found = ask(file, "SELECT start_seq, end_seq, ref FROM adf_audit ORDER BY id")
        assert found == [wanted for _, _, wanted in given]

    @pytest.mark.parametrize("keep", [True, False])
    def test_an_id_is_never_given_twice(self, keep: bool, tmp_path: Path) -> None:
        """Better than the reference, which forgets ids of deleted rows (MIG-047)."""
        file = sample(tmp_path, 27)
        archive(file, "loop", [{"seq": 1}], number=500)
        run(file, "DELETE FROM adf_audit WHERE id = 500" if keep else "DELETE FROM adf_audit")
        climb(file, 28)
        run(
            file, "INSERT INTO adf_audit (source, entry_count, size_bytes, data, created_at) VALUES ('x', 0, 0, x'', 0)"
        )
        assert ask(file, "SELECT max(id) FROM adf_audit") == [(501,)]

    def test_what_others_hung_on_the_table_is_kept(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 27)
        run(
            file,
            "ALTER TABLE adf_audit ADD COLUMN note TEXT DEFAULT 'mine'",
            "CREATE INDEX own ON adf_audit(created_at)",
            "CREATE INDEX dated ON adf_audit(start_at)",
            "CREATE TRIGGER guard BEFORE DELETE ON adf_audit BEGIN SELECT RAISE(ABORT, 'no'); END",
            "CREATE VIEW broken AS SELECT * FROM nowhere",
        )
        outcome = migrate(file, Order(28, NOW))
        names = {name for (name,) in ask(file, "SELECT name FROM sqlite_schema")}
        assert {"own", "guard", "broken", "idx_adf_audit_source_start"} <= names
        assert names.isdisjoint({"dated", "idx_adf_audit_source", "adf_audit_draft"})
        assert {row["note"] for row in rows_of(file, "adf_audit")} == {"mine"}
        assert any("dated" in note for note in outcome.record.notes)

    def test_rows_of_others_that_refer_to_the_table_stay(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 27)
        run(
            file,
            "CREATE TABLE local_seen (audit INTEGER REFERENCES adf_audit(id) ON DELETE CASCADE)",
            "INSERT INTO local_seen VALUES (1), (2)",
            "CREATE TABLE local_lost (x INTEGER REFERENCES local_notes(id))",
            "INSERT INTO local_lost VALUES (999)",
        )
        climb(file, LATEST)
        assert ask(file, "SELECT audit FROM local_seen") == [(1,), (2,)]
        assert ask(file, "SELECT sql LIKE '%REFERENCES adf_audit%' FROM sqlite_schema WHERE name = 'local_seen'") == [
            (1,)
        ]

    def test_values_against_a_constraint_that_were_there_before_do_not_matter(self, tmp_path: Path) -> None:
        file = sample(tmp_path, 27)
        connection = apsw.Connection(str(file))
        connection.execute("PRAGMA ignore_check_constraints=ON; UPDATE adf_files SET protection = 'odd'").fetchall()
        connection.close()
        climb(file, LATEST)
        assert {row["protection"] for row in rows_of(file, "adf_files")} == {"odd", "no_delete"}

    def test_a_file_without_the_table_gets_it_in_the_shape_of_the_target(self, tmp_path: Path) -> None:
        for target, column in ((27, "start_at"), (28, "start_seq"), (32, "start_seq")):
            file = sample(tmp_path, 26, f"{target}.adf")
            run(file, "DROP TABLE adf_audit")
            climb(file, target)
            assert column in {name for (name,) in ask(file, "SELECT name FROM pragma_table_info('adf_audit')")}


def test_rehearsing_writes_nothing_and_foretells_the_same_changes(tmp_path: Path) -> None:
    file = sample(tmp_path, 21)
    before, stamp = file.read_bytes(), file.stat().st_mtime_ns
    told = rehearse(file, Order(now=NOW))
    assert (file.read_bytes(), file.stat().st_mtime_ns, names_in(tmp_path)) == (before, stamp, ["agent.adf"])
    done = migrate(file, Order(now=NOW))
    assert told.record.touches == done.record.touches


def test_a_file_from_before_the_first_release_climbs_all_the_way(tmp_path: Path) -> None:
    """As far as version 13 is known: MIG-010, MIG-012, MIG-020 to MIG-027."""
    file = sample(tmp_path, 21)
    security = {"require_authorized": ["fs_write", "sys_lambda"]}
    tools = [
        {"name": "fs_write"},
        {"name": "fs_read", "require_approval": True},
        {"name": "x", "require_approval": False},
    ]
    set_config(file, security=security, tools=tools, mcp={"servers": [{"name": "s", "require_approval": True}]})
    run(
        file,
        "CREATE TABLE old_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "INSERT INTO old_meta VALUES ('schema_version', '13'), ('format', 'adf')",
        "INSERT INTO old_meta VALUES ('did', 'did:x'), ('identity_salt', 's')",
        "DROP TABLE adf_meta",
        "ALTER TABLE old_meta RENAME TO adf_meta",
        *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in DROPPED),
        "ALTER TABLE adf_files ADD COLUMN protected INTEGER DEFAULT 0",
        "UPDATE adf_files SET protected = 1 WHERE path = 'mind.md'",
        "CREATE TABLE adf_peers (handle TEXT, via TEXT)",
        "CREATE INDEX idx_adf_peers_via ON adf_peers(via)",
        "CREATE TABLE adf_archive (id INTEGER)",
    )
    migrate(file, Order(now=NOW))
    meta = {row["key"]: (row["value"], row["protection"]) for row in rows_of(file, "adf_meta")}
    assert meta["adf_schema_version"] == ("32", "readonly")
    assert meta["adf_did"] == ("did:x", "readonly")
    assert meta["adf_name"][0] == "Ada"
    assert meta.keys().isdisjoint({"schema_version", "format", "did", "identity_salt"})
    assert ask(file, "SELECT value FROM adf_identity WHERE purpose = 'crypto:kdf:salt'") == [(b"s",)]
    assert ask(file, "SELECT path FROM adf_files WHERE protection = 'no_delete' ORDER BY path") == [
        ("mind.md",),
        ("mind/log.md",),
        ("soul.md",),
    ]
    found = config_of(file)
    assert [tool.get("restricted", False) for tool in found["tools"]] == [True, True, False]
    assert found["mcp"]["servers"][0]["restricted"] is True
    assert found["code_execution"]["restricted_methods"] == ["sys_lambda"]
    assert ask(file, "SELECT name FROM sqlite_schema WHERE name IN ('adf_peers', 'adf_archive')") == []


DROPPED = (
    ("adf_timers", "locked"),
    ("adf_files", "authorized"),
    ("adf_tasks", "requires_authorization"),
    ("adf_tasks", "executor_managed"),
    ("adf_files", "protection"),
    ("adf_loop", "model"),
    ("adf_loop", "tokens"),
    ("adf_loop", "created_at"),
)
