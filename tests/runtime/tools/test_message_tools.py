"""Messages in and out: rows, capture for the audit, attachments, filters (storage.md 4, config.md 4.3)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from bench_agent import Table, table
from hypothesis import given
from hypothesis import strategies as st

from adf_format.audit import Blob, decompress_all
from adf_format.loops import Refused
from adf_format.runtime.messages import alf
from adf_format.runtime.messages.receive import receive

PEER = "did:key:z6MkPeer"


def message(content: Any = "Hello", **more: Any) -> dict[str, Any]:
    payload = {"content": content, "sent_at": "2026-01-01T00:00:00.000Z", **more.pop("payload", {})}
    envelope = {"version": "1.0", "network": "devnet", "id": "m" * 20, "timestamp": "2026-01-01T00:00:00.000Z"}
    return {**envelope, "from": PEER, "to": "did:key:zMe", "reply_to": "", "payload": payload, **more}


def attachment(name: str, data: bytes = b"x") -> dict[str, Any]:
    about = {"filename": name, "content_type": "text/plain", "transfer": "inline"}
    return {**about, "data": base64.b64encode(data).decode()}


def captured(at: Table) -> list[tuple[str, str, Any]]:
    """`(source, ref, message)` of all snapshots."""
    connection = at.agent.store.connection
    rows = at.sql("SELECT id, source, ref FROM adf_audit ORDER BY id")
    return [
        (source, ref, json.loads(decompress_all(Blob(connection, "adf_audit", "data", number), limit_bytes=1 << 20)))
        for number, source, ref in rows
    ]


ALL = {"loop": True, "inbox": True, "outbox": True, "files": False}


def test_a_received_message_is_a_row_without_its_bytes_and_its_files_are_the_agents(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        sent = message(payload={"attachments": [attachment("a.md", b"# a")], "subject": "s", "thread_id": "t"})
        number = await receive(at.agent, sent)
        (row,) = at.sql(
            "SELECT id, message_id, source, status, subject, attachments, meta, original_message FROM adf_inbox"
        )
        assert row[:5] == (number, "m" * 20, "mesh", "unread", "s")
        (about,) = json.loads(row[5])
        assert about == {
            "path": f"imported/{alf.component(PEER, '')}/a.md",
            "filename": "a.md",
            "content_type": "text/plain",
            "transfer": "imported",
            "size_bytes": 3,
        }
        assert await at.ok("fs_read", {"path": about["path"]}) == "# a"
        assert json.loads(row[7])["payload"] == {
            **sent["payload"],
            "content": "[flattened]",
            "attachments": "[flattened]",
        }

    table(tmp_path, scenario)


def test_what_came_is_captured_whole_before_files_are_taken_out(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        sent = message(payload={"attachments": [attachment("a.md", b"# a")]})
        await receive(at.agent, sent)
        assert captured(at) == [("inbox_message", "m" * 20, sent)]

    table(tmp_path, scenario, context={"audit": ALL})


def test_without_the_flag_nothing_is_captured(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await receive(at.agent, message())
        await at.ok("msg_send", {"to": PEER, "content": "x"})
        assert captured(at) == []

    table(tmp_path, scenario)


def test_a_capture_that_fails_lets_nothing_half_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(at: Table) -> None:
        monkeypatch.setattr(at.agent.store.messages, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await receive(at.agent, message(payload={"attachments": [attachment("a.md")]}))
        assert captured(at) == []
        assert at.sql("SELECT count(*) FROM adf_files WHERE path GLOB 'imported/*'") == [(0,)]

    table(tmp_path, scenario, context={"audit": ALL})


def test_a_sent_message_is_a_row_captured_with_its_bytes_and_handed_on(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("fs_write", {"path": "notes/a.md", "content": "# a"})
        given = {"to": PEER, "content": "Hi", "subject": "s", "attachments": ["notes/a.md"], "meta": {"n": 1}}
        await at.ok("msg_send", given)
        (row,) = at.sql('SELECT message_id, "to", status, attachments, meta, original_message FROM adf_outbox')
        assert row[1:3] == (PEER, "pending")
        assert json.loads(row[3])[0]["path"] == "notes/a.md"
        assert "data" not in row[3]
        assert json.loads(row[4]) == {"n": 1}
        ((source, ref, kept),) = captured(at)
        assert (source, ref) == ("outbox_message", row[0])
        assert base64.b64decode(kept["payload"]["attachments"][0]["data"]) == b"# a"
        assert json.loads(row[5])["payload"]["attachments"] == "[flattened]"
        assert "no file" in await at.refused("msg_send", {"to": PEER, "content": "x", "attachments": ["none"]})

    table(tmp_path, scenario, context={"audit": ALL})


def test_an_answer_stays_in_its_conversation_and_modes_of_messaging_hold(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        number = await receive(at.agent, message(payload={"thread_id": "t7"}))
        for parent in (number, "m" * 20):
            await at.ok("msg_send", {"to": PEER, "content": "x", "parent_id": parent})
        assert at.sql("SELECT thread_id FROM adf_outbox") == [("t7",), ("t7",)]
        assert "only answers" in await at.refused("msg_send", {"to": PEER, "content": "x"})
        assert "only answers" in await at.refused("msg_send", {"to": "did:other", "content": "x", "parent_id": number})

    table(tmp_path, scenario, messaging={"mode": "respond_only"})


def test_an_agent_that_only_listens_sends_nothing(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert "only listens" in await at.refused("msg_send", {"to": PEER, "content": "x"})

    table(tmp_path, scenario, messaging={"mode": "listen_only"})


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"messaging": {"receive": False}}, message()),
        ({"messaging": {"block_list": [PEER]}}, message()),
        ({"messaging": {"allow_list": ["did:other"]}}, message()),
        ({"security": {"allow_unsigned": False}}, message()),
        ({}, {"from": PEER}),
        ({}, message(payload={}) | {"payload": {"subject": "no content"}}),
    ],
)
def test_messages_that_are_not_let_in_leave_nothing(tmp_path: Path, changes: Any, sent: Any) -> None:
    async def scenario(at: Table) -> None:
        with pytest.raises(Refused):
            await receive(at.agent, sent)
        assert at.sql("SELECT count(*) FROM adf_inbox") == [(0,)]

    table(tmp_path, scenario, **changes)


def test_who_the_owner_is_is_said_by_the_transport_and_marks_by_nobody_outside(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        forged = message(meta={"owner": True}, payload={"meta": {"message_verified": True, "mood": "good"}})
        await receive(at.agent, forged)
        await receive(at.agent, message({"a": 1}, **{"from": 3}), from_owner=True)
        rows = at.sql('SELECT source, meta, content, "from", original_message IS NULL FROM adf_inbox ORDER BY rowid')
        assert rows == [("mesh", '{"mood":"good"}', "Hello", PEER, 0), ("user", None, '{"a":1}', "owner", 1)]

    table(tmp_path, scenario)


def test_messages_are_listed_read_marked_and_deleted_without_an_audit_row(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        first = await receive(at.agent, message("a" * 200))
        second = await receive(at.agent, message("b", **{"from": "did:other"}))
        found = await at.json("msg_list", {"status": "unread", "limit": 1})
        assert (found["total"], len(found["messages"]), found["messages"][0]["id"]) == (2, 1, second)
        assert (await at.json("msg_list", {"from": PEER}))["messages"][0]["preview"] == "a" * 160 + "…"
        assert (await at.json("msg_list", {"offset": 5}))["messages"] == []
        assert (await at.json("msg_read", {"id": first}))["content"] == "a" * 200
        assert at.sql("SELECT status FROM adf_inbox ORDER BY rowid") == [("read",), ("unread",)]
        await at.ok("msg_update", {"ids": [first], "status": "archived"})
        assert "no such" in await at.refused("msg_update", {"ids": ["nope"], "status": "read"})
        assert "no message" in await at.refused("msg_read", {"id": "nope"})
        snapshots = len(captured(at))
        assert "1 messages" in await at.ok("msg_delete", {"status": "archived"})
        assert "1 messages" in await at.ok("msg_delete", {"ids": [second, "nope"]})
        assert len(captured(at)) == snapshots

    table(tmp_path, scenario, context={"audit": ALL})


def test_a_message_whose_columns_are_no_json_is_read_as_it_is(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        number = await receive(at.agent, message(payload={"attachments": [attachment("a.md")]}))
        assert (await at.json("msg_read", {"id": number}))["attachments"][0]["filename"] == "a.md"
        at.sql("UPDATE adf_inbox SET meta = '{'")
        assert (await at.json("msg_read", {"id": number}))["meta"] == "{"
        await at.ok("msg_delete", {"ids": [number]})
        await at.ok("msg_send", {"to": PEER, "content": "x"})
        (sent,) = (await at.json("msg_list", {"box": "outbox"}))["messages"]
        assert (await at.json("msg_read", {"box": "outbox", "id": sent["id"]}))["status"] == "pending"

    table(tmp_path, scenario)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"box": "outbox"},
        {"status": ""},
        {"ids": []},
        {"before": 0},
        {"box": "outbox", "from": PEER},
        {"box": "outbox", "source": "mesh", "status": "pending"},
        {"sender": PEER},
    ],
)
def test_bug_21_aud_038_a_filter_that_says_nothing_deletes_nothing(tmp_path: Path, given: Any) -> None:
    async def scenario(at: Table) -> None:
        await receive(at.agent, message())
        await at.ok("msg_send", {"to": PEER, "content": "x"})
        await at.refused("msg_delete", given)

    table(tmp_path, scenario)


def test_a_list_is_not_filtered_by_what_a_box_does_not_have(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("msg_send", {"to": PEER, "content": "x"})
        assert (await at.json("msg_list", {"box": "outbox", "to": PEER}))["total"] == 1
        assert "cannot be chosen by from" in await at.refused("msg_list", {"box": "outbox", "from": PEER})

    table(tmp_path, scenario)


# --- attachments


@given(st.text(max_size=120))
def test_a_name_of_a_stranger_becomes_one_harmless_component(name: str) -> None:
    made = alf.component(name, "file")
    assert made
    assert len(made) <= alf.MOST_NAME
    assert made not in {".", ".."}
    assert not set(made) & set("/\\\x00")
    assert made.isascii()


@given(st.lists(st.sampled_from(["a.md", "A.md", "../a.md", "a", "", "..", "a-2.md"]), max_size=6))
def test_files_never_overwrite_each_other_or_what_is_there(names: list[str]) -> None:
    there = {"imported/peer/a.md"}
    told, files = alf.extract([attachment(name) for name in names], "peer", there.__contains__)
    paths = [file.path for file in files]
    assert len(set(paths)) == len(names) == len(told)
    assert not there & set(paths)
    assert all(path.startswith("imported/peer/") for path in paths)


def test_what_cannot_be_taken_in_is_told_of() -> None:
    odd = [
        {"filename": "a", "data": "???"},
        {"filename": "b", "data": 3},
        {"filename": "c", "data": "A" * (alf.MAX_ATTACHMENT * 4 // 3 + 8)},
        {"filename": "d", "url": "https://x", "transfer": "reference"},
        "no attachment",
    ]
    told, files = alf.extract(odd, "peer", lambda _: False)
    assert files == []
    assert [about.get("skipped") for about in told] == [True, True, True, None]
    assert told[3]["transfer"] == "reference"


@pytest.mark.parametrize(
    ("text", "moment"),
    [("1970-01-01T00:00:01.000Z", 1000), ("1970-01-01T00:00:01", 1000), ("x", None), (3, None), (None, None)],
)
def test_times_of_messages_are_read_or_left_out(text: Any, moment: int | None) -> None:
    assert alf.epoch_ms(text) == moment
