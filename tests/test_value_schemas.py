"""Laws of the stored JSON values, of archived blobs and of the registries that tell where they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
DOCUMENTS = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(SCHEMAS.rglob("*.json"))]
FILES = {document["$id"]: document for document in DOCUMENTS}
REGISTRY: Registry = Registry().with_resources(
    (name, DRAFT202012.create_resource(document)) for name, document in FILES.items()
)
KEYS = {entry["name"]: entry for entry in FILES["urn:adf-format:meta:meta-keys"]["keys"]}
OK: set[str] = set()
WARNING = {"warning"}
ERROR = {"error"}
BOTH = {"error", "warning"}


def severity(error: ValidationError) -> str:
    """How grave a violation is: what the schema object that was violated says of its keyword."""
    said = error.schema.get("x-adf-severity", {}).get(error.validator, "error")
    if isinstance(said, dict):
        missing = next(name for name in error.validator_value if error.message.startswith(repr(name)))
        return said.get(missing, "error")
    return said


def severities(schema: Any, value: Any) -> set[str]:
    """Severities of what a schema, or the schema of a name such as `values:content:21`, has against a value."""
    if isinstance(schema, str):
        schema = {"$ref": f"urn:adf-format:{schema.removeprefix('urn:adf-format:')}"}
    return {severity(error) for error in Draft202012Validator(schema, registry=REGISTRY).iter_errors(value)}


def example(name: str, index: int = 0, **change: Any) -> dict[str, Any]:
    """An example of a schema, with some members changed; `...` removes one."""
    changed = {**FILES[f"urn:adf-format:{name}"]["examples"][index], **change}
    return {key: value for key, value in changed.items() if value is not ...}


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name != key}


KEY_SLOT = FILES["urn:adf-format:values:identity-envelope:21"]["examples"][1]["slots"][0]
PASSWORD_SLOT = FILES["urn:adf-format:values:credentials-envelope:21"]["examples"][0]["slots"][1]
MESSAGE = "values:alf-message:21"

CASES: list[tuple[str, Any, set[str]]] = [
    # content blocks: ROW-002, ROW-012
    ("content:21", [], OK),
    ("content:21", "Hello", ERROR),
    ("content:21", ["Hello"], ERROR),
    ("content:21", [{"text": "x"}], ERROR),
    ("content:21", [{"type": "text", "text": "x", "cache_control": {}}], OK),
    ("content:21", [{"type": "text"}], ERROR),
    ("content:21", [{"type": "text", "text": 1}], ERROR),
    ("content:21", [{"type": "server_tool_use", "id": 1}], WARNING),
    ("content:21", [{"type": "image_url", "image_url": {"url": "data:,"}}], OK),
    ("content:21", [{"type": "image_url", "image_url": "data:,"}], ERROR),
    ("content:21", [{"type": "input_audio", "input_audio": {"data": "UklGRg=="}}], ERROR),
    ("content:21", [{"type": "video_url", "video_url": {"url": "data:,"}}], OK),
    ("content:21", [{"type": "tool_use", "id": "", "name": "fs_read", "input": {}}], WARNING),
    ("content:21", [{"type": "tool_use", "id": "t1", "name": "fs_read"}], WARNING),
    ("content:21", [{"type": "tool_use", "id": "t1", "input": None}], ERROR),
    ("content:21", [{"type": "tool_result", "tool_use_id": "t1", "content": []}], ERROR),
    ("content:21", [{"type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": 1}], ERROR),
    ("content:21", [{"type": "thinking", "thinking": "", "reasoning_details": [{"a": 1}, 2]}], OK),
    # usage: STO-036
    ("tokens:21", {}, OK),
    ("tokens:21", 123, WARNING),
    ("tokens:21", [1], WARNING),
    ("tokens:21", {"input": "1"}, ERROR),
    ("tokens:21", {"input": -1}, WARNING),
    ("tokens:28", {"input": 1, "output": 2.5, "cost_usd": 0.01}, OK),
    ("tokens:28", {"cost_usd": "0.01"}, ERROR),
    # timers: CFG 4.1
    ("timer-schedule:21", {"mode": "delay", "ms": 5}, ERROR),
    ("timer-schedule:21", {"at": 5}, ERROR),
    ("timer-schedule:21", {"mode": "once"}, ERROR),
    ("timer-schedule:21", {"mode": "once", "at": 0}, ERROR),
    ("timer-schedule:21", {"mode": "once", "at": 5, "note": "kept"}, OK),
    ("timer-schedule:21", {"mode": "interval", "every_ms": 1.5}, ERROR),
    ("timer-schedule:21", {"mode": "interval", "every_ms": 5, "max_runs": 0}, WARNING),
    ("timer-schedule:21", {"mode": "cron", "cron": ""}, WARNING),
    ("timer-schedule:21", {"mode": "cron", "every_ms": 5}, ERROR),
    ("timer-scope:21", ["agent", "agent"], WARNING),
    ("timer-scope:21", [], ERROR),
    ("timer-scope:21", ["document"], ERROR),
    ("timer-scope:21", "agent", ERROR),
    # messages: CFG 4.3
    ("attachments:21", [{"filename": "a", "content_type": "text/plain", "transfer": "upload"}], ERROR),
    ("attachments:21", [{"filename": "a", "transfer": "inline"}], ERROR),
    ("attachments:21", {}, ERROR),
    (
        "attachments:21",
        [{"filename": "a", "content_type": "b", "transfer": "inline", "skipped": True, "reason": "too large"}],
        OK,
    ),
    (
        "attachments:21",
        [{"filename": "a", "content_type": "b", "transfer": "reference", "url": "https://x", "digest": "md5"}],
        WARNING,
    ),
    ("inbox-meta:21", {"anything": [1], "message_verified": False}, OK),
    ("inbox-meta:21", {"message_verified": "yes"}, WARNING),
    ("inbox-meta:21", {"group": "my own key"}, WARNING),
    ("inbox-meta:21", [], ERROR),
    ("outbox-meta:21", {"chat_id": {}, "i": 1}, OK),
    ("outbox-meta:21", "x", ERROR),
    ("group:21", {}, WARNING),
    ("group:21", example("values:group:21", participants=[{"id": "x"}] * 21), WARNING),
    ("source-context:21", {}, OK),
    ("source-context:21", {"chat_id": "-100", "message_id": 7, "answer_id": ["a", "b"]}, OK),
    ("source-context:21", {"guild_id": None, "channel_type": "thread"}, OK),
    ("source-context:21", {"to": "a@example.org"}, WARNING),
    ("source-context:21", None, ERROR),
    ("alf-message:21", example(MESSAGE, payload={"content": {"a": 1}, "sent_at": "2026-04-01T00:00:00.000Z"}), OK),
    ("alf-message:21", example(MESSAGE, network=..., reply_to=..., version="1.1"), WARNING),
    ("alf-message:21", example(MESSAGE, id=...), ERROR),
    ("alf-message:21", example(MESSAGE, payload=...), ERROR),
    ("alf-message:21", example(MESSAGE, payload={"sent_at": "2026-04-01T00:00:00.000Z"}), ERROR),
    ("alf-message:21", example(MESSAGE, payload={"content": "[flattened]", "attachments": "[flattened]"}), BOTH),
    # tasks, logs: CFG 4.4, 4.5
    ("task-args:21", [1], WARNING),
    ("approval-meta:27", {"kind": "file_protection", "target": "x", "level": "read_only"}, WARNING),
    ("approval-meta:27", {"reason": "mood"}, WARNING),
    ("approval-meta:27", {"reason": "protection", "protection": {"kind": "x"}}, WARNING),
    ("approval-meta:27", "x", WARNING),
    ("log-data:21", [1, None], OK),
    ("log-data:21", "text", OK),
    # identity: CFG 4.6, 4.7
    ("attestation:24", example("values:attestation:24", role=..., issued_at=...), WARNING),
    ("attestation:24", example("values:attestation:24", signature=...), ERROR),
    ("attestation:24", example("values:attestation:24", signature="c2ln"), WARNING),
    ("attestation:24", example("values:attestation:24", expires_at="tomorrow"), WARNING),
    ("legacy-attestations-meta:21", {}, WARNING),
    ("legacy-attestations-meta:21", [{"issuer": "did:key:z"}], WARNING),
    ("did-history:21", "did:key:z", WARNING),
    ("did-history:21", ["did:key:z", "did:key:z", ""], WARNING),
    ("identity-envelope:21", {"v": 1, "slots": [KEY_SLOT]}, OK),
    ("identity-envelope:21", [KEY_SLOT], WARNING),
    ("identity-envelope:21", [PASSWORD_SLOT], BOTH),
    ("identity-envelope:21", {"v": 1, "slots": [PASSWORD_SLOT]}, ERROR),
    ("identity-envelope:21", {"v": 2, "slots": []}, ERROR),
    ("identity-envelope:21", {"v": 1}, ERROR),
    ("identity-envelope:21", {"v": 1, "slots": [without(KEY_SLOT, "iv")]}, ERROR),
    ("identity-envelope:21", {"v": 1, "slots": [{**KEY_SLOT, "wrapped_dek": "A" * 44}]}, ERROR),
    ("credentials-envelope:21", {"v": 1, "slots": [KEY_SLOT, PASSWORD_SLOT]}, OK),
    ("credentials-envelope:21", {"v": 1, "slots": [{**PASSWORD_SLOT, "kdf": "argon2"}]}, ERROR),
    ("credentials-envelope:21", {"v": 1, "slots": [{**PASSWORD_SLOT, "salt": "AAAA"}]}, ERROR),
    ("credentials-envelope:21", {"v": 1, "slots": [{**KEY_SLOT, "type": "friend"}]}, ERROR),
    ("kdf-params:21", {"iterations": 100000, "digest": "sha512"}, ERROR),
    ("kdf-params:21", {"iterations": 1, "digest": "sha256", "keyLength": 32}, OK),
    # meta values: CFG 4.8
    ("turn-checkpoint:21", example("values:turn-checkpoint:21", completed_at=..., status="in_progress"), OK),
    ("turn-checkpoint:21", example("values:turn-checkpoint:21", status="done"), ERROR),
    ("turn-checkpoint:21", example("values:turn-checkpoint:21", reason="a later reason", event_type="x"), OK),
    ("turn-checkpoint:21", example("values:turn-checkpoint:21", started_at="now"), ERROR),
    ("turn-checkpoint:21", example("values:turn-checkpoint:21", replay=...), ERROR),
    ("context-baseline:28", 48200, WARNING),
    ("context-baseline:28", {"tokens": "many"}, WARNING),
    ("effective-runtime:28", example("values:effective-runtime:28", mesh=..., schema=2), WARNING),
    ("effective-runtime:28", example("values:effective-runtime:28", adapters="telegram"), ERROR),
    # forms and skills: CFG 4.9, 4.10
    ("form:21", example("values:form:21", questions=[]), WARNING),
    ("form:21", example("values:form:21", questions=[{"id": "a", "text": "b", "type": "multi"}]), WARNING),
    ("form:21", example("values:form:21", questions=[{"id": "a", "text": "b", "type": "text"}]), OK),
    ("form:21", example("values:form:21", id="Not this"), WARNING),
    ("skills-state:28", {"schema": 2, "disabled": None}, WARNING),
    ("skills-state:28", [], WARNING),
    ("skills-registry:28", {"schema": 1, "$notes": "", "skills": {}}, OK),
    ("skills-registry:28", {"schema": 1, "$notes": "", "skills": []}, ERROR),
    ("skills-registry:28", {"schema": 1, "skills": {"a": {"name": "a", "path": "p", "enabled": False}}}, WARNING),
    ("skills-registry:28", {"schema": 1, "$notes": "", "skills": {"a": {"name": "a"}}}, ERROR),
]


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_what_a_stored_value_may_be(name: str, value: Any, expected: set[str]) -> None:
    assert severities(f"values:{name}", value) == expected


def test_every_value_schema_has_cases_that_fit_and_cases_that_do_not() -> None:
    schemas = {name.removeprefix("urn:adf-format:values:") for name in FILES if ":values:" in name}
    assert {name for name, _, _ in CASES} == schemas
    assert {name for name, _, expected in CASES if expected} == schemas - {"log-data:21"}


ROW = {"seq": 1, "role": "user", "content_json": [], "created_at": 0}
FILE = "audit:file-snapshot:21"
INBOX = FILES["urn:adf-format:audit:inbox-batch:21"]["examples"][0][0]
OUTBOX = FILES["urn:adf-format:audit:outbox-batch:21"]["examples"][0][0]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("audit:loop-snapshot:21", [], OK),
        ("audit:loop-snapshot:21", [{**ROW, "tokens": 123}], WARNING),
        ("audit:loop-snapshot:21", [{**ROW, "content_json": "[]"}], ERROR),
        ("audit:loop-snapshot:21", [{**ROW, "model": None}], ERROR),
        ("audit:loop-snapshot:21", [without(ROW, "seq")], ERROR),
        ("audit:loop-snapshot:21", {"not": "an array"}, ERROR),
        ("audit:loop-snapshot:28", [{**ROW, "seq": 5, "ord": -2}, ROW], OK),
        ("audit:loop-snapshot:28", [{**ROW, "ord": None}], ERROR),
        ("audit:loop-snapshot:28", [{**ROW, "tokens": {"cost_usd": 1}}], OK),
        ("audit:message-snapshot:21", [], ERROR),
        ("audit:message-snapshot:21", without(example("audit:message-snapshot:21"), "from"), ERROR),
        (FILE, example(FILE, mime_type=..., content_base64="", size=0), OK),
        (FILE, example(FILE, content_base64="no base64!"), ERROR),
        (FILE, example(FILE, size=...), ERROR),
        (FILE, example(FILE, mime_type=None), ERROR),
        ("audit:inbox-batch:21", [], OK),
        ("audit:inbox-batch:21", [{**INBOX, "attachments": [], "meta": {}, "source_context": {}}], OK),
        ("audit:inbox-batch:21", [{**INBOX, "attachments": "[]"}], ERROR),
        ("audit:inbox-batch:21", [without(INBOX, "subject")], ERROR),
        ("audit:outbox-batch:21", [{**OUTBOX, "meta": {"i": 1}}], OK),
        ("audit:outbox-batch:21", [{**OUTBOX, "created_at": None}], ERROR),
        ("audit:outbox-batch:21", OUTBOX, ERROR),
    ],
)
def test_what_an_archived_blob_may_be(name: str, value: Any, expected: set[str]) -> None:
    assert severities(name, value) == expected


def test_aud_022_aud_023_batches_have_their_keys_in_the_written_order() -> None:
    def keys(kind: str) -> list[str]:
        return list(FILES[f"urn:adf-format:audit:{kind}-batch:21"]["items"]["properties"])

    common = [
        "reply_to",
        "network",
        "thread_id",
        "parent_id",
        "subject",
        "content",
        "content_type",
        "attachments",
        "meta",
        "sender_alias",
        "recipient_alias",
        "message_id",
        "owner",
        "card",
        "return_path",
    ]
    inbox = ["source", "source_context", "sent_at", "received_at", "status", "original_message"]
    outbox = ["status_code", "created_at", "delivered_at", "status", "original_message"]
    assert keys("inbox") == ["id", "from", "to", *common, *inbox]
    assert keys("outbox") == ["id", "from", "to", "address", *common, *outbox]


def source(version: int, name: str) -> dict[str, Any] | None:
    """What is known of an audit source at a storage version."""
    document = FILES[FILES["urn:adf-format:catalog"]["versions"][str(version)]["audit"]["sources"]]
    for entry in document["sources"]:
        if entry.get("source") == name or ("pattern" in entry and re.search(entry["pattern"], name)):
            return {**entry, "columns": document["locators"][entry["locator"]]}
    return None


@pytest.mark.parametrize(
    ("version", "name", "columns", "container", "legacy"),
    [
        (27, "loop", ["start_at", "end_at"], "array", False),
        (27, "inbox_message", ["start_at", "end_at"], "object", False),
        (27, "outbox", ["start_at", "end_at"], "array", False),
        (28, "loop", ["start_seq", "end_seq"], "array", False),
        (28, "inbox", [], "array", True),
        (28, "file", ["ref"], "object", False),
        (29, "loop:main", ["start_seq", "end_seq"], "array", False),
        (32, "loop:researcher", ["start_seq", "end_seq"], "array", False),
        (29, "loop", ["start_seq", "end_seq"], "array", True),
        (32, "outbox_message", ["ref"], "object", False),
    ],
)
def test_aud_026_the_source_tells_the_shape(
    version: int, name: str, columns: list[str], container: str, legacy: bool
) -> None:
    found = source(version, name)
    assert found is not None
    assert (found["columns"], found["container"], found["legacy"]) == (columns, container, legacy)
    assert found["legacy"] == (version > (found["written_until"] or version))
    blob = FILES[found["format"]]["examples"][0]
    assert isinstance(blob, list if container == "array" else dict)
    entry = blob[0] if isinstance(blob, list) else blob
    assert "locator_key" not in found or found["locator_key"] in entry


def test_aud_006_sources_follow_the_versions() -> None:
    assert source(28, "loop:main") is None
    assert source(29, "loop:") is None
    assert source(29, "loop:Main") is None
    assert source(21, "a_later_source") is None


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("adf_version", "0.2", OK),
        ("adf_version", "0.3", ERROR),
        ("adf_schema_version", "28", OK),
        ("adf_schema_version", "twenty-eight", ERROR),
        ("adf_created_at", "yesterday", WARNING),
        ("adf_parent_did", "", OK),
        ("adf_did", "z6Mk", WARNING),
        ("adf_clean_close", "2026-11-30T19:13:08.905Z", OK),
        ("adf_did_history", ["did:key:z6MkExample"], OK),
        ("adf_runtime_turn_checkpoint", {}, ERROR),
        ("context_baseline_tokens", 5, WARNING),
        ("status", "", OK),
        ("runtime_umbilical_next_seq", "x", WARNING),
    ],
)
def test_sto_038_what_a_meta_value_may_be(key: str, value: Any, expected: set[str]) -> None:
    assert severities(KEYS[key]["value"]["schema"], value) == expected


def test_sto_038_only_two_keys_are_required_and_only_two_belong_to_a_loop() -> None:
    assert {name for name, entry in KEYS.items() if entry["required"]} == {"adf_version", "adf_schema_version"}
    per_loop = {"adf_runtime_turn_checkpoint", "context_baseline_tokens"}
    assert {name for name, entry in KEYS.items() if entry["perLoop"]} == per_loop
    assert {name for name, entry in KEYS.items() if entry.get("prefix")} == {"runtime_"}


def test_sto_038_a_key_that_stands_for_many_comes_last() -> None:
    names = list(KEYS)
    for name in (name for name in names if KEYS[name].get("prefix")):
        assert all(names.index(other) <= names.index(name) for other in names if other.startswith(name))
