"""Rules on hostile content: what is found, what honest text looks like beside it, and that looking is cheap."""

from __future__ import annotations

import json
import ntpath
import posixpath
import sys
import unicodedata
from pathlib import Path
from typing import Any

import apsw
import pytest
from family_support import Reports, build, inspect, rules, told
from hypothesis import example, given
from hypothesis import strategies as st

from adf_format.jsontext import decode
from adf_format.validation.context import Depth
from adf_format.validation.rule import Rule
from adf_format.validation.rules import hostile
from adf_format.validation.rules.hostile import (
    catalogue,
    characters,
    credentials,
    declarations,
    paths,
    texts,
    walk,
)

CREATED = "2026-01-01T00:00:00.000Z"


def run(path: Path, sql: str, *bindings: Any) -> Path:
    connection = apsw.Connection(str(path))
    connection.execute(sql, bindings)
    connection.close()
    return path


def with_files(path: Path, *names: str) -> Path:
    build(path)
    for name in names:
        run(
            path,
            "INSERT INTO adf_files (path, content, size, created_at, updated_at) VALUES (?, x'', 0, ?, ?)",
            name,
            CREATED,
            CREATED,
        )
    return path


def with_text(path: Path, value: Any, *, ascii_only: bool = False) -> Path:
    raw = value if isinstance(value, str) else json.dumps(value, ensure_ascii=ascii_only)
    return run(build(path), "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', ?, 0)", raw)


def with_config(path: Path, config: dict[str, Any]) -> Path:
    return run(build(path), "UPDATE adf_config SET config_json = ?", json.dumps(config))


# --- paths


@pytest.mark.parametrize(
    "name",
    ["README.md", "notes/plan (1).md", "notes/ünïcode-東京.md", "a.b/c d/e_f-g", ".hidden", "x/..y", "a/b..c", "~/x"],
)
def test_honest_paths_give_no_finding(tmp_path: Path, name: str) -> None:
    assert told(with_files(tmp_path / "a.adf", name), hostile) == []


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x", "a/../../x", "..", "a/..", "\\x", "a\\..\\b", "C:x", "c:/x", "//host/share", "a\0b"],
)
def test_paths_that_lead_outside_are_warned_of(tmp_path: Path, name: str) -> None:
    path = run(with_files(tmp_path / "a.adf", "x"), "UPDATE adf_files SET path = CAST(? AS TEXT)", name.encode())
    assert "ADF801" in rules(path, hostile)


PART = st.text(alphabet="ab.\\/:~ C\u00e9\0", max_size=12)


@given(PART)
@example("..")
@example("a/../..")
@example("C:")
def test_a_path_without_a_warning_stays_below_its_folder_on_any_system(name: str) -> None:
    if paths.escapes(name) is not None:
        return
    assert "\0" not in name
    inside = posixpath.normpath(posixpath.join("/root/agent", name))
    assert (inside + "/").startswith("/root/agent/")
    below = ntpath.normpath(ntpath.join("Q:\\root\\agent", name))
    assert (below + "\\").startswith("Q:\\root\\agent\\")


@given(st.text(alphabet="abC.()-_ \\/:<con1\u00e9", max_size=20))
def test_the_short_way_for_plain_paths_hides_nothing(name: str) -> None:
    seen = Reports()
    paths.check(_Context(seen), name, {})
    expected = paths.escapes(name) or paths.unportable(name)
    assert bool(seen) == bool(expected)


class _Context:
    """As much of a context as a check of one value needs."""

    def __init__(self, report: Reports) -> None:
        self.report = report


@pytest.mark.parametrize(
    "name",
    ["a//b", "./a", "a/", "", "nul", "COM1.txt", "x/Aux.md", "a.", "a ", "...", "a?b", "x" * 256, "é" * 128, "a/./b"],
)
def test_names_that_not_every_file_system_holds_are_noted(tmp_path: Path, name: str) -> None:
    assert rules(with_files(tmp_path / "a.adf", name), hostile) == {"ADF802"}


@pytest.mark.parametrize(
    ("one", "other", "collide"),
    [
        ("a.md", "A.md", True),
        ("straße", "STRASSE", True),
        (unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é"), True),
        ("notes", "notes/a.md", True),
        ("Notes", "notes/b/a.md", True),
        ("notes", "notes.md", False),
        ("a/b", "a/c", False),
    ],
)
def test_paths_that_become_one_are_warned_of(tmp_path: Path, one: str, other: str, collide: bool) -> None:
    assert rules(with_files(tmp_path / "a.adf", one, other), hostile) == ({"ADF803"} if collide else set())


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing_and_ignores_case_and_form(name: str) -> None:
    once = paths.folded(name)
    assert paths.folded(once) == once
    assert paths.folded(unicodedata.normalize("NFD", name)) == once
    assert paths.folded(unicodedata.normalize("NFC", name)) == once


def test_attachments_are_looked_at_too(tmp_path: Path) -> None:
    attachments = json.dumps([{"filename": "../x", "path": "ok/x"}, {"filename": "y\u202ez"}, "no object"])
    path = run(
        build(tmp_path / "a.adf"),
        'INSERT INTO adf_inbox (id, "from", content, received_at, attachments) VALUES (?, ?, ?, 0, ?)',
        "inbox00001",
        "did:key:z",
        "hi",
        attachments,
    )
    found, _ = inspect(path, hostile)
    assert {(one.rule, one.pointer) for one in found} == {("ADF801", "/0/filename"), ("ADF805", "/1/filename")}


# --- names


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO adf_meta VALUES ('k' || char({0}), '', 'none')",
        "INSERT INTO adf_identity (purpose, value) VALUES ('p' || char({0}), x'00')",
        "INSERT INTO adf_loop (role, content_json, created_at, loop) VALUES ('user', '[]', 0, 'l' || char({0}))",
        "INSERT INTO adf_tasks (id, tool, created_at) VALUES ('t', 'x' || char({0}), 0)",
        "INSERT INTO adf_inbox (id, \"from\", content, received_at) VALUES ('i', 'f' || char({0}), '', 0)",
        """INSERT INTO adf_outbox (id, "from", "to", content, created_at, subject)
           VALUES ('i', 'a', 'b', '', 0, 's' || char({0}))""",
        "UPDATE adf_config SET config_json = json_object('name', 'n' || char({0}))",
        "UPDATE adf_config SET config_json = json_object('tools', json_array(json_object('name', 't' || char({0}))))",
        """UPDATE adf_config SET config_json
           = json_set('{{"mcp":{{}}}}', '$.mcp.servers', json_array(json_object('name', char({0}))))""",
    ],
)
@pytest.mark.parametrize(("code", "rule"), [(0x1B, "ADF804"), (0x9B, "ADF804"), (0x202E, "ADF805"), (0x200B, "ADF805")])
def test_names_with_odd_characters_are_warned_of_wherever_they_are(
    tmp_path: Path, statement: str, code: int, rule: str
) -> None:
    assert rules(build(tmp_path / "a.adf", statement.format(code)), hostile) == {rule}
    assert rules(build(tmp_path / "b.adf", statement.format(0x6771)), hostile) == set()


def test_names_in_the_schema_count(tmp_path: Path) -> None:
    assert rules(build(tmp_path / "a.adf", 'CREATE TABLE "local_\u202ex" (a)'), hostile) == {"ADF805"}
    assert rules(build(tmp_path / "b.adf", 'ALTER TABLE adf_logs ADD COLUMN "x\x1b" TEXT'), hostile) == {"ADF804"}


@given(st.characters())
def test_every_control_character_is_one_in_names(char: str) -> None:
    control = unicodedata.category(char) in {"Cc", "Zl", "Zp"}
    assert bool(characters.CONTROL_IN_NAME.search(char)) == control


def test_no_letter_digit_or_mark_of_any_script_is_odd() -> None:
    """Honest text in any language passes; only controls, formats and surrogates are looked for."""
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if characters.ODD.match(char) or characters.HIDDEN_IN_NAME.match(char):
            # U+034F, the grapheme joiner, is a mark that shows nothing
            assert unicodedata.category(char) in {"Cc", "Cf", "Cs", "Cn"} or code == 0x34F


# --- texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\n\ttext\r\n \b\f\x7f", set()),
        ("日本語　全角 空白", set()),
        ("שלום \u200f עולם", set()),
        ("👨\u200d👩\u200d👧 family", set()),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", set()),
        ("\x1b[31mred", {"ADF807"}),
        ("\x00", {"ADF807"}),
        ("\x85", {"ADF807"}),
        ("abc\u202edef", {"ADF806"}),
        ("x\U000e0069\U000e0067", {"ADF806"}),
        ("\u2066x\x07", {"ADF806", "ADF807"}),
        ("cut \ud83d", {"ADF808"}),
        ("\ude00\ud83d", {"ADF808"}),
        ("whole \U0001f600", set()),
        (r"a regex \u001b and \ud83d in source text", set()),
    ],
)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_texts_are_judged_by_what_they_say_not_by_how_it_is_escaped(
    tmp_path: Path, text: str, expected: set[str], ascii_only: bool
) -> None:
    ascii_only = ascii_only or "ADF808" in expected  # such a text has no other spelling
    path = with_text(tmp_path / "a.adf", [{"type": "text", "text": text}], ascii_only=ascii_only)
    found, _ = inspect(path, hostile)
    assert {one.rule for one in found} == expected
    assert all(one.pointer == "/0/text" for one in found)


def test_keys_count_like_values(tmp_path: Path) -> None:
    path = with_text(tmp_path / "a.adf", [{"type": "tool_use", "input": {"a\x1b": 1}}])
    found, _ = inspect(path, hostile)
    assert [(one.rule, one.pointer) for one in found] == [("ADF807", "/0/input")]


def test_texts_outside_json_count(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf", "INSERT INTO adf_logs (message, created_at) VALUES ('a' || char(27), 0)")
    assert rules(path, hostile) == {"ADF807"}


def test_text_that_is_no_json_is_left_to_the_rules_on_rows(tmp_path: Path) -> None:
    assert rules(with_text(tmp_path / "a.adf", '[{"text": "\\ud83d'), hostile) == set()


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)


@given(VALUES, st.booleans())
def test_a_text_that_counts_as_plain_holds_nothing_odd(value: Any, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    if texts.is_plain(raw):
        assert not any(isinstance(leaf, str) and characters.ODD.search(leaf) for _, leaf in walk.leaves(value))


def test_every_odd_character_makes_a_text_not_plain() -> None:
    for code in range(0x80, sys.maxunicode + 1):
        if characters.ODD.match(chr(code)) and not 0xD800 <= code <= 0xDFFF:
            assert not texts.is_plain(f'["{chr(code)}"]')


@given(VALUES)
def test_every_leaf_is_found_under_its_pointer(value: Any) -> None:
    for link, leaf in walk.leaves(value):
        found = value
        for part in [part.replace("~1", "/").replace("~0", "~") for part in walk.spelled(link).split("/")[1:]]:
            found = found[int(part)] if isinstance(found, list) else found[part]
        assert found == leaf or leaf in found
    assert sum(1 for _ in walk.leaves(value)) == _count(value)


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1


@given(VALUES)
def test_depth_is_the_longest_way_down(value: Any) -> None:
    assert walk.depth(value) == _depth(value)


def _depth(value: Any) -> int:
    if isinstance(value, dict | list):
        return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)
    return 0


@pytest.mark.parametrize(
    ("levels", "fires"), [(10, False), (200, False), (201, True), (900, True), (5_000, True), (200_000, True)]
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('["x",1,', ",3]")])
def test_nesting_is_measured_without_following_it(
    tmp_path: Path, levels: int, fires: bool, opening: str, closing: str
) -> None:
    path = with_text(tmp_path / "a.adf", opening * levels + "0" + closing * levels)
    found, _ = inspect(path, hostile)
    assert {one.rule for one in found} == ({"ADF809"} if fires else set())


def test_many_brackets_side_by_side_are_not_nested(tmp_path: Path) -> None:
    assert rules(with_text(tmp_path / "a.adf", [[] for _ in range(5_000)]), hostile) == set()


def test_very_large_texts_are_told_with_their_size(tmp_path: Path) -> None:
    big = "x" * (texts.LARGEST + 1)
    assert [message for _, _, message in told(with_text(tmp_path / "a.adf", [big]), hostile)] == ["a text of 16 MiB"]


def test_equal_findings_in_many_rows_are_one(tmp_path: Path) -> None:
    path = build(tmp_path / "a.adf")
    connection = apsw.Connection(str(path))
    row = "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', ?, 0)"
    with connection:
        connection.executemany(row, [('[{"type":"text","text":"\\u001b[0m"}]',)] * 300)
    connection.close()
    [one] = inspect(path, hostile)[0]
    assert (one.rule, one.count) == ("ADF807", 300)


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("<script>x</script>", True),
        ("<ScRiPt src=x>", True),
        ("<img src=x onerror=alert(1)>", True),
        ('<a href="javascript:x">', True),
        ("<p>fine</p>", False),
        ("if a < b and onset = c", False),
        ("the <scripture>", False),
        ("see javascript: the good parts", False),
    ],
)
def test_html_that_runs_code_is_noted_when_asked_for(tmp_path: Path, text: str, fires: bool) -> None:
    path = with_text(tmp_path / "a.adf", [{"type": "text", "text": text}])
    assert rules(path, hostile) == set()
    assert rules(path, hostile, Depth.DEEP) == ({"ADF817"} if fires else set())


@pytest.mark.parametrize(
    ("number", "fires"),
    [
        ("9007199254740992", False),
        ("9007199254740993", True),
        ("-9007199254740993", True),
        ("1" * 400, True),
        ('"9007199254740993"', False),
        ("1e300", False),
        ("0.12345678901234567890", False),
        ("1" * 5000, False),
    ],
)
def test_integers_that_javascript_rounds_are_noted_when_asked_for(tmp_path: Path, number: str, fires: bool) -> None:
    """Beyond the limit for integers of the reader, a number is not looked at."""
    path = with_text(tmp_path / "a.adf", f'[{{"type":"tool_use","input":{{"n":{number}}}}}]')
    assert rules(path, hostile) == set()
    assert rules(path, hostile, Depth.DEEP) == ({"ADF816"} if fires else set())


# --- the schema


@pytest.mark.parametrize(
    ("sql", "fires"),
    [
        ("CREATE VIEW local_v AS SELECT load_extension('x.so')", True),
        ("CREATE VIEW local_v AS SELECT \"WriteFile\" ('a', x'00')", True),
        ("CREATE VIEW local_v AS SELECT fts3_tokenizer /* */ ('simple')", True),
        ("CREATE VIEW local_v AS SELECT * FROM sqlite_dbpage", True),
        ("CREATE VIEW local_v AS SELECT 'load_extension(x)'", False),
        ("CREATE VIEW local_v AS SELECT 1 AS edit -- readfile(x)", False),
        ("CREATE VIEW local_v AS SELECT count(*) FROM adf_loop", False),
    ],
)
def test_sql_that_reaches_outside_is_warned_of(tmp_path: Path, sql: str, fires: bool) -> None:
    quoted = sql.replace("'", "''")
    path = build(
        tmp_path / "a.adf",
        "PRAGMA writable_schema = ON",
        f"INSERT INTO sqlite_schema VALUES ('view', 'local_v', 'local_v', 0, '{quoted}')",
    )
    assert rules(path, hostile) == ({"ADF811"} if fires else set())


def test_views_in_a_circle_are_told_and_honest_ones_are_not(tmp_path: Path) -> None:
    path = build(
        tmp_path / "a.adf",
        "CREATE VIEW local_a AS SELECT * FROM local_b",
        "CREATE VIEW local_b AS SELECT * FROM local_a",
        "CREATE VIEW local_user AS SELECT * FROM local_a",
        "CREATE VIEW local_base AS SELECT 1 AS x",
        "CREATE VIEW local_top AS SELECT * FROM local_base",
        "CREATE VIEW local_tree AS WITH RECURSIVE local_tree AS (SELECT 1) SELECT * FROM local_tree",
    )
    found = {table for rule, table, _ in told(path, hostile) if rule == "ADF812"}
    assert found == {"local_a", "local_b", "local_user"}


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef"))))
def test_a_view_is_circular_when_following_it_never_ends(bodies: dict[str, set[str]]) -> None:
    def ends(name: str, above: frozenset[str]) -> bool:
        if name in above:
            return False
        return all(ends(other, above | {name}) for other in bodies.get(name, set()))

    expected = {name for name in bodies if not ends(name, frozenset())}
    assert set(declarations._circular({name: set(body) for name, body in bodies.items()})) == expected


def test_ten_thousand_views_over_each_other_are_no_burden(tmp_path: Path) -> None:
    """Each doubles the one before: expanding the last would never end."""
    path = build(
        tmp_path / "a.adf",
        "CREATE VIEW local_0 AS SELECT 1 AS x",
        "PRAGMA writable_schema = ON",
        """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
           INSERT INTO sqlite_schema SELECT 'view', 'local_' || i, 'local_' || i, 0,
           printf('CREATE VIEW local_%d AS SELECT * FROM local_%d JOIN local_%d', i, i - 1, i - 1) FROM n""",
    )
    assert rules(path, hostile, Depth.QUICK) == set()


# --- secrets

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"providers": [{"id": "p", "apiKey": "correct-horse"}]}, "/providers/0/apiKey"),
        ({"providers": [{"params": [{"key": "api_key", "value": "correct-horse"}]}]}, "/providers/0/params/0/value"),
        ({"providers": [{"baseUrl": "https://me:hunter2@example.org/v1"}]}, "/providers/0/baseUrl"),
        ({"mcp": {"servers": [{"env": {"GITHUB_TOKEN": "correct-horse"}}]}}, "/mcp/servers/0/env/GITHUB_TOKEN"),
        (
            {"mcp": {"servers": [{"headers": {"Authorization": "Bearer abcdefgh"}}]}},
            "/mcp/servers/0/headers/Authorization",
        ),
        ({"mcp": {"servers": [{"args": ["--key", TOKEN]}]}}, "/mcp/servers/0/args/1"),
        ({"adapters": {"telegram": {"config": {"botToken": "correct-horse"}}}}, "/adapters/telegram/config/botToken"),
        (
            {"adapters": {"email": {"config": {"imap": {"password": "correct-horse"}}}}},
            "/adapters/email/config/imap/password",
        ),
        ({"ws_connections": [{"url": "wss://u:secret@x"}]}, "/ws_connections/0/url"),
    ],
)
def test_secrets_in_the_configuration_are_placed_and_never_shown(
    tmp_path: Path, config: dict[str, Any], pointer: str
) -> None:
    [one] = inspect(with_config(tmp_path / "a.adf", config), hostile)[0]
    assert (one.rule, one.pointer) == ("ADF813", pointer)
    shown = json.dumps(one.as_json())
    assert not any(secret in shown for secret in ("correct", "horse", TOKEN, "hunter2", "abcdefgh", "u:secret"))


@pytest.mark.parametrize(
    "config",
    [
        {"model": {"max_tokens": 4096, "provider": "custom:local"}},
        {"mcp": {"servers": [{"bearer_token_env_var": "GITHUB_TOKEN", "env_keys": ["GITHUB_TOKEN"]}]}},
        {"mcp": {"servers": [{"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}]}},
        {"mcp": {"servers": [{"env": {"GITHUB_TOKEN": "<your token>"}}]}},
        {"mcp": {"servers": [{"headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}]}},
        {
            "mcp": {
                "servers": [{"env_schema": [{"key": "API_KEY", "scope": "agent", "credential_ref": "mcp:x:API_KEY"}]}]
            }
        },
        {"mcp": {"servers": [{"header_env": [{"header": "Authorization", "env": "GITHUB_TOKEN"}]}]}},
        {"providers": [{"apiKey": ""}, {"apiKey": None}, {"apiKey": "********"}]},
        {"security": {"allow_unsigned": True, "level": 1}},
        {"instructions": "never write the password or api_key: correct-horse", "description": TOKEN},
        {"tools": [{"name": "token_counter"}]},
        {"locked_fields": ["providers", "password"]},
        {"card": {"endpoints": {"api": "https://example.org:8080/a"}}},
    ],
)
def test_references_and_placeholders_are_no_secrets(tmp_path: Path, config: dict[str, Any]) -> None:
    assert told(with_config(tmp_path / "a.adf", config), hostile) == []


@pytest.mark.parametrize(
    ("purpose", "algorithm", "access", "expected"),
    [
        ("crypto:signing:private_key", "plain", 0, set()),
        ("crypto:signing:private_key", "plain", 1, {"ADF814"}),
        ("crypto:signing:private_key", "env:identity", 1, {"ADF814"}),
        ("crypto:signing:public_key", "plain", 1, set()),
        ("adapter:telegram:BOT_TOKEN", "env:credentials", 1, set()),
        ("adapter:telegram:BOT_TOKEN", "plain", 0, {"ADF815"}),
        ("provider:x:apiKey", None, 0, {"ADF815"}),
        ("mcp:github:GITHUB_TOKEN", "aes-256-gcm", 0, set()),
        ("my own key", "plain", 1, set()),
    ],
)
def test_identity_rows(tmp_path: Path, purpose: str, algorithm: str | None, access: int, expected: set[str]) -> None:
    path = run(
        build(tmp_path / "a.adf"),
        "INSERT INTO adf_identity (purpose, value, encryption_algo, code_access) VALUES (?, x'0102', ?, ?)",
        purpose,
        algorithm,
        access,
    )
    assert rules(path, hostile) == expected


@given(VALUES)
def test_any_configuration_can_be_searched(value: Any) -> None:
    list(credentials._secrets(value if isinstance(value, dict) else {"x": value}))


@pytest.mark.parametrize(
    "text",
    [
        "<" * 50_000,
        "<a on" * 20_000,
        "<a onxyz " + " " * 50_000,
        "src = " * 20_000,
        "://a:" * 20_000,
        "sk-proj- " * 20_000,
        "-----BEGIN A " * 10_000,
        "\\u" * 20_000,
        "_token_" * 10_000,
        "aB" * 20_000,
    ],
    ids=lambda text: text[:9],
)
def test_no_text_makes_a_pattern_run_away(tmp_path: Path, text: str) -> None:
    """As a value, as a key, and as a name; the suite's time limit is the judge."""
    config = {"x": text, "name": text, "providers": [{text: text}]}
    assert "ADF813" not in rules(with_config(tmp_path / "a.adf", config), hostile, Depth.DEEP)


def test_decoding_agrees_with_the_escapes_of_the_stored_text() -> None:
    assert decode(r'"\\u001b"').value == r"\u001b"
    assert decode(r'"\u001b"').value == "\x1b"


def test_every_rule_of_the_family_is_reported_by_some_check() -> None:
    reported = {rule.id for one in (*hostile.PASSES, *hostile.VISITS) for rule in one.rules}
    assert reported == {value.id for value in vars(catalogue).values() if isinstance(value, Rule)}
