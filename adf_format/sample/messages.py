"""Ada's messages: as rows, as they travelled, and as old batches of the audit."""

from __future__ import annotations

import base64
from typing import Any

from adf_format.audit import javascript_json
from adf_format.sample.story import PLAN_TEXT, REPORT, did, ms, text_time

Row = dict[str, Any]
RECEIVED, SENT = "msg-in-00000000001", "msg-out-0000000001"
PEER, HOME = "http://127.0.0.1:7295/agents/peer", "http://127.0.0.1:7295/agents/ada"
_HEAD = ("network", "thread_id", "parent_id", "subject", "content", "content_type", "sender_alias", "recipient_alias")
_TAIL = ("message_id", "owner", "card", "return_path")
INBOX_BATCH: tuple[str, ...] = ("id", "from", "to", "reply_to", *_HEAD, *_TAIL)  # AUD-022
INBOX_BATCH += ("source", "sent_at", "received_at", "status", "original_message")
OUTBOX_BATCH: tuple[str, ...] = ("id", "from", "to", "address", "reply_to", *_HEAD, *_TAIL)  # AUD-023
OUTBOX_BATCH += ("status_code", "created_at", "delivered_at", "status", "original_message")


def inbox() -> list[Row]:
    """Return the rows of `adf_inbox`: one from a peer with a file, one from the owner."""
    told = received()
    payload = told["payload"]
    attachment = {"path": "imported/peer/report.csv", **_report(), "transfer": "imported"}
    peer = _row("inbox00001", told) | {
        "attachments": [attachment],
        "meta": {"message_verified": False, "payload_verified": False},
        "source": "mesh",
        "sent_at": ms(30),
        "received_at": ms(31),
        "status": "unread",
        "original_message": _flattened(told),
    }
    owner: Row = {"id": "inbox00002", "from": "user", "to": did("agent"), "network": "devnet", "source": "user"}
    owner |= {"content": "Please water bed two.", "sent_at": ms(32), "received_at": ms(32), "status": "read"}
    return [peer | {"subject": payload["subject"]}, owner]


def outbox() -> list[Row]:
    """Return the rows of `adf_outbox`: one delivered, one that waits."""
    told = sent()
    attachment = {"path": "notes/plan.md", **_plan(), "transfer": "inline"}
    delivered = _row("outbox0001", told) | {
        "address": f"{PEER}/inbox",
        "attachments": [attachment],
        "meta": {"season": 1},
        "status_code": 202,
        "created_at": ms(33),
        "delivered_at": ms(34),
        "status": "delivered",
        "original_message": _flattened(told),
        "return_path": told["reply_to"],
    }
    waiting = _row("outbox0002", _message("msg-out-0000000002", "agent", "peer", 35, "The peas are in.", None))
    return [delivered, waiting | {"address": f"{PEER}/inbox", "created_at": ms(35), "status": "pending"}]


def received() -> Row:
    """Return the message from the peer as it travelled."""
    data = {**_report(), "transfer": "inline", "data": _base64(REPORT)}
    return _message(RECEIVED, "peer", "agent", 30, "Here is our report. 🥕", [data])


def sent() -> Row:
    """Return Ada's answer as it travelled."""
    data = {**_plan(), "transfer": "inline", "data": _base64(PLAN_TEXT)}
    found = _message(SENT, "agent", "peer", 33, "Thank you! This is our plan.", [data])
    return found | {"payload": {"meta": {"season": 1}, **found["payload"]}}


def inbox_batch() -> list[Row]:
    """Return messages that were deleted when deletion still archived whole batches; newest first."""
    first = _message("msg-in-00000000000", "peer", "agent", 20, "Good morning!", None)
    rows: list[Row] = [
        _row("inbox00000", first) | {"sent_at": ms(20), "received_at": ms(21), "status": "archived", "source": "mesh"},
        {"id": "inbox0000a", "from": "user", "to": did("agent"), "network": "devnet", "source": "user"}
        | {"content": "Is it raining?", "sent_at": ms(19), "received_at": ms(19), "status": "read"},
    ]
    return [{key: row.get(key) for key in INBOX_BATCH} for row in rows]


def outbox_batch() -> list[Row]:
    """Return sent messages that were deleted likewise."""
    first = _message("msg-out-0000000000", "agent", "peer", 22, "Good morning, neighbour!", None)
    row = _row("outbox0000", first) | {"address": f"{PEER}/inbox", "status_code": 202, "status": "delivered"}
    row |= {"created_at": ms(22), "delivered_at": ms(23)}
    return [{key: row.get(key) for key in OUTBOX_BATCH}]


def _message(alf_id: str, sender: str, recipient: str, at: int, content: str, files: list[Row] | None) -> Row:
    base = PEER if sender == "peer" else HOME
    payload = {
        "sender_alias": "peer" if sender == "peer" else "ada",
        "thread_id": "thread-beds",
        "parent_id": None,
        "subject": "Beds",
        "content": content,
        "content_type": "text/plain",
        "attachments": files or [],
        "sent_at": text_time(at),
    }
    head = {"version": "1.0", "network": "devnet", "id": alf_id, "timestamp": text_time(at), "from": did(sender)}
    return head | {
        "to": did(recipient),
        "reply_to": f"{base}/inbox",
        "meta": {"card": f"{base}/card"},
        "payload": payload,
    }


def _row(row_id: str, told: Row) -> Row:
    payload = told["payload"]
    found = {"id": row_id, "message_id": told["id"], "card": told["meta"]["card"]}
    found |= {key: told[key] for key in ("from", "to", "reply_to", "network")}
    names = ("thread_id", "parent_id", "subject", "content", "content_type", "sender_alias")
    return found | {key: payload[key] for key in names}


def _flattened(told: Row) -> str:
    payload = {**told["payload"], "content": "[flattened]"}
    if payload["attachments"]:
        payload["attachments"] = "[flattened]"
    return javascript_json({**told, "payload": payload})


def _report() -> Row:
    return {"filename": "report.csv", "content_type": "text/csv", "size_bytes": len(REPORT.encode())}


def _plan() -> Row:
    return {"filename": "plan.md", "content_type": "text/markdown", "size_bytes": len(PLAN_TEXT.encode())}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
