"""A message goes out: captured and stored in one transaction, then handed to whoever carries messages."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adf_format import loops
from adf_format.audit import encode_message
from adf_format.config.access import section
from adf_format.creation.agent import new_id
from adf_format.runtime.messages import alf
from adf_format.runtime.ports import Event, Happening

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

Item = tuple[str, dict[str, Any], bytes]
"""An attachment: its path, what is said of it, and its bytes."""


async def send(
    host: Host,
    loop: str,
    *,
    to: str,
    content: str,
    subject: str | None = None,
    parent_id: str | None = None,
    thread_id: str | None = None,
    attachments: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> str:
    """Write one message to the outbox; its row is durable when this returns. Gives the id of the row.

    It stays `pending`: this runtime has no transport. It is not signed.

    :param attachments: paths of files of the agent
    :raises Refused: the agent may not send it, or a file is not there
    """
    parent = _parent(host, parent_id)
    _admit(host, to, parent)
    thread = thread_id or (parent or {}).get("thread_id")
    items = [_item(host, path) for path in attachments]
    message = _message(host, to, content, subject, parent_id, thread, items, meta)
    row = _row(host, message, items)
    with host.store.transaction():
        if host.store.audit.policy()["outbox"]:
            host.store.audit.put("outbox_message", encode_message(message))
        host.store.messages.add("outbox", row)
    host.show(Happening("outbound", loop, {"message": message}))
    host.emit(Event("outbox", {"id": row["id"], "to": to}, loop))
    return str(row["id"])


def _parent(host: Host, parent_id: str | None) -> dict[str, Any] | None:
    """Return the received message that is answered, by its row id or its message id."""
    if parent_id is None:
        return None
    rows, _ = host.store.messages.find("inbox", {"ids": [parent_id]})
    if rows:
        return rows[0]
    rows, _ = host.store.messages.find("inbox", {"message_id": parent_id}, limit=1)
    return rows[0] if rows else None


def _admit(host: Host, to: str, parent: Mapping[str, Any] | None) -> None:
    mode = section(host.config, "messaging").get("mode")
    if mode == "listen_only":
        raise loops.Refused("this agent only listens: it sends no messages")
    if mode == "respond_only" and (parent is None or parent["from"] != to):
        raise loops.Refused("this agent only answers: give parent_id of a message from this recipient")


def _item(host: Host, path: str) -> Item:
    content, info = host.store.files.read(path), host.store.files.info(path)
    if content is None or info is None:
        raise loops.Refused(f"there is no file {path[:200]!r} to attach")
    mime = info.mime_type or mimetypes.guess_type(path)[0] or "application/octet-stream"
    name = path.rsplit("/", 1)[-1]
    return path, {"filename": name, "content_type": mime, "transfer": "inline", "size_bytes": len(content)}, content


def _message(
    host: Host,
    to: str,
    content: str,
    subject: str | None,
    parent_id: str | None,
    thread_id: str | None,
    items: Sequence[Item],
    meta: Mapping[str, Any] | None,
) -> dict[str, Any]:
    now, handle = host.store.iso(), host.store.meta.get("adf_handle")
    payload: dict[str, Any] = {
        **({"meta": dict(meta)} if meta else {}),
        **({"sender_alias": handle} if handle else {}),
        **({"thread_id": thread_id} if thread_id else {}),
        "parent_id": parent_id,
        **({"subject": subject} if subject is not None else {}),
        "content": content,
        "attachments": [{**about, "data": base64.b64encode(data).decode()} for _, about, data in items],
        "sent_at": now,
    }
    return {
        "version": alf.VERSION,
        "network": section(host.config, "messaging").get("network") or alf.NETWORK,
        "id": new_id(alf.MESSAGE_ID_SIZE),
        "timestamp": now,
        "from": host.store.meta.get("adf_did") or str(host.config.get("id", "")),
        "to": to,
        "reply_to": "",
        "meta": {},
        "payload": payload,
    }


def _row(host: Host, message: Mapping[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    payload = message["payload"]
    return {
        "id": new_id(alf.ROW_ID_SIZE),
        "message_id": message["id"],
        **{key: message[key] for key in ("from", "to", "network")},
        "address": "",
        **{key: payload.get(key) for key in ("thread_id", "parent_id", "subject", "content", "meta", "sender_alias")},
        "attachments": [{"path": path, **about} for path, about, _ in items] or None,
        "created_at": host.clock.now(),
        "status": "pending",
        "original_message": alf.flattened(message),
    }
