"""A message comes in: captured, unpacked and stored in one transaction, then told to the triggers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adf_format import loops
from adf_format.audit import encode_message
from adf_format.config.access import is_filled, section, texts
from adf_format.creation.agent import new_id
from adf_format.runtime.messages import alf
from adf_format.runtime.ports import Event

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def receive(host: Host, message: Mapping[str, Any], *, from_owner: bool = False) -> str:
    """Take one inbound ALF message; its row is durable when this returns. Gives the id of the row.

    Signatures are not checked: verifying is the business of a transport, which this runtime has none of. So a message
    gets no `*_verified` mark, and one that has to be signed is refused.

    :param from_owner: whether the transport knows that the owner sent it; what the message says of that is not trusted
    :raises Refused: the agent takes no messages, not from this sender, or not this one
    """
    payload = message.get("payload")
    if not isinstance(payload, Mapping) or "content" not in payload:
        raise loops.Refused("this is not a message: it has no payload with content")
    _admit(host, message, from_owner)
    row = _row(host, message, payload, from_owner)
    attachments = payload.get("attachments")
    with host.store.transaction():
        if host.store.audit.policy()["inbox"]:
            host.store.audit.put("inbox_message", encode_message(message))
        files: list[alf.Extracted] = []
        if isinstance(attachments, list):
            sender, exists = row["sender_alias"] or row["from"], lambda path: host.store.files.info(path) is not None
            row["attachments"], files = alf.extract(attachments, sender, exists)
        for file in files:
            host.store.files.write(file.path, file.content, file.mime_type)
        host.store.messages.add("inbox", row)
    facts = {key: row[key] for key in ("id", "source", "from", "subject", "content")}
    host.emit(Event("inbox", {**facts, "sender": row["from"], "whole": from_owner}))
    for file in files:
        host.emit(Event("file_change", {"path": file.path, "change": "written", "by_agent": False}))
    return str(row["id"])


def _admit(host: Host, message: Mapping[str, Any], from_owner: bool) -> None:
    messaging, security = section(host.config, "messaging"), section(host.config, "security")
    if from_owner:
        return
    if messaging.get("receive") is False:
        raise loops.Refused("the agent takes no messages")
    sender = message.get("from")
    allowed = [name for _, name in texts(messaging, "allow_list")]
    if (allowed and sender not in allowed) or sender in [name for _, name in texts(messaging, "block_list")]:
        raise loops.Refused("the agent takes no messages from this sender")
    if not is_filled(message.get("signature")) and security.get("allow_unsigned") is False:
        raise loops.Refused("the agent takes signed messages only")


def _row(host: Host, message: Mapping[str, Any], payload: Mapping[str, Any], from_owner: bool) -> dict[str, Any]:
    meta, own = section(message, "meta"), section(payload, "meta")
    return {
        "id": new_id(alf.ROW_ID_SIZE),
        "message_id": _text(message.get("id")),
        "from": _text(message.get("from")) or ("owner" if from_owner else "unknown"),
        "to": _text(message.get("to")),
        "reply_to": _text(message.get("reply_to")),
        "network": _text(message.get("network")) or alf.NETWORK,
        **{key: _text(payload.get(key)) for key in ("thread_id", "parent_id", "subject")},
        "content": alf.text_of(payload["content"]),
        "content_type": _text(payload.get("content_type")),
        "meta": None if from_owner else {key: own[key] for key in own if key not in alf.MARKS},
        **{key: _text(payload.get(key)) for key in ("sender_alias", "recipient_alias")},
        "owner": _text(meta.get("owner")),
        "card": _text(meta.get("card")),
        "source": "user" if from_owner else "mesh",
        "sent_at": alf.epoch_ms(payload.get("sent_at")),
        "received_at": host.clock.now(),
        "status": "unread",
        "original_message": None if from_owner else alf.flattened(message),
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
