"""The ALF message (config.md 4.3): its parts, its flattened form, and safe places for what is attached. Pure."""

from __future__ import annotations

import base64
import binascii
import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adf_format.audit import javascript_json

VERSION = "1.0"
NETWORK = "devnet"
MARKS = frozenset({"message_verified", "payload_verified", "identity_verified", "payload_encrypted"})
"""What only a receiving runtime may say of a message."""
MESSAGE_ID_SIZE = 20
ROW_ID_SIZE = 10
FLATTENED = "[flattened]"
MOST_NAME = 80
MAX_ATTACHMENT = 10_000_000  # bytes; what channel adapters take by default (config.md 2.17)
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Extracted:
    """A file that came with a message.

    :ivar path: where it goes, under `imported/`
    """

    path: str
    content: bytes
    mime_type: str


def flattened(message: Mapping[str, Any]) -> str:
    """Return what `original_message` keeps: the message with placeholders for content and attachments."""
    made = copy.deepcopy(dict(message))
    payload = made.get("payload")
    if isinstance(payload, dict):
        payload["content"] = FLATTENED
        if payload.get("attachments"):
            payload["attachments"] = FLATTENED
    return javascript_json(made, exact=True)


def text_of(content: object) -> str:
    """Return the content of a payload as text; an object as its JSON."""
    return content if isinstance(content, str) else javascript_json(content, exact=True)


def epoch_ms(text: object) -> int | None:
    """Read an ISO 8601 time; None if it is none."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)


def extract(
    attachments: Sequence[Any], sender: str, exists: Callable[[str], bool]
) -> tuple[list[dict[str, Any]], list[Extracted]]:
    """Split attachments into what the row says of them and the files themselves.

    Names come from whoever sent the message: they become one harmless path component each. What cannot be decoded or
    is too large is skipped, and says so.

    :param exists: whether the agent has a file already; none is overwritten
    """
    told, files = list[dict[str, Any]](), dict[str, Extracted]()
    folder = f"imported/{component(sender, 'unknown')}"
    for item in attachments:
        if not isinstance(item, Mapping):
            continue
        about = {key: value for key, value in item.items() if key != "data"}
        about = {"filename": "file", "content_type": "application/octet-stream", "transfer": "inline"} | about
        content = _content(item)
        if isinstance(content, str):
            about |= {"skipped": True, "reason": content}
        elif content is not None:
            wanted = f"{folder}/{component(str(about['filename']), 'file')}"
            path = _free(wanted, lambda path: path in files or exists(path))
            files[path] = Extracted(path, content, str(about["content_type"]))
            about = {"path": path, **about, "transfer": "imported", "size_bytes": len(content)}
        told.append(about)
    return told, list(files.values())


def component(name: str, default: str) -> str:
    """Make one harmless component of a path from a name that somebody else chose."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return _ODD.sub("_", last).strip("._")[-MOST_NAME:].strip("._") or default


def _content(item: Mapping[str, Any]) -> bytes | str | None:
    """Return the bytes of an attachment, why they are left out, or None: it only refers to them."""
    data = item.get("data")
    if data is None:
        return None
    if not isinstance(data, str) or len(data) > MAX_ATTACHMENT // 3 * 4 + 4:
        return f"larger than {MAX_ATTACHMENT} bytes" if isinstance(data, str) else "its data is no text"
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "its data is not base64"


def _free(path: str, is_taken: Callable[[str], bool]) -> str:
    stem, dot, suffix = path.rpartition(".") if "." in path.rsplit("/", 1)[-1] else (path, "", "")
    number = 1
    found = path
    while is_taken(found):
        number += 1
        found = f"{stem}-{number}{dot}{suffix}"
    return found
