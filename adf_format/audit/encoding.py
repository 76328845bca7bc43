"""Making snapshots: text exactly as the reference runtime writes it, compressed, with the columns that describe it.

A blob that somebody else wrote is never made again: whoever keeps one copies its bytes (MIG-043).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from adf_format.audit.codec import QUALITY, compress
from adf_format.audit.javascript import javascript_json, utf16_length
from adf_format.audit.stored import stored_json
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


INBOX = _words(
    "id from to reply_to network thread_id parent_id subject content content_type attachments meta sender_alias"
    " recipient_alias message_id owner card return_path source source_context sent_at received_at status"
    " original_message"
)
OUTBOX = _words(
    "id from to address reply_to network thread_id parent_id subject content content_type attachments meta"
    " sender_alias recipient_alias message_id owner card return_path status_code created_at delivered_at status"
    " original_message"
)
_PARSED = frozenset(("attachments", "meta", "source_context"))


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, ready to be stored.

    :ivar text: the JSON text; :ivar data: the same, compressed
    :ivar size_bytes: length of the text in UTF-16 units (AUD-009)
    :ivar entry_count: entries of an array, 1 for a single object
    :ivar start_seq: lowest `seq` of archived transcript rows, None for anything else (AUD-008)
    :ivar end_seq: highest one
    :ivar ref: id of a message or path of a file, None for anything else
    """

    text: str = field(repr=False)
    data: bytes = field(repr=False)
    size_bytes: int
    entry_count: int
    start_seq: int | None = None
    end_seq: int | None = None
    ref: str | None = None


def encode_loop(rows: Iterable[Mapping[str, Any]], *, quality: int = QUALITY) -> Snapshot:
    """Archive rows of `adf_loop`, in the order given: display order from version 28 on, by seq before (AUD-021).

    :param rows: columns by name, as stored; `ord` may be missing, `loop` is not written (AUD-020)
    :param quality: of the compression, 0 to 11 (AUD-011)
    :raises ValueError: no rows; nothing is archived then (AUD-030)
    :raises JsonTextError: the content of a row is not JSON (AUD-035); `place` names the row
    """
    parts, seqs = list[str](), list[int]()
    for row in rows:
        seqs.append(row["seq"])
        parts.append(loop_entry(row))
    if not seqs:
        raise ValueError("no rows to archive")
    return _snapshot(f"[{','.join(parts)}]", len(seqs), quality, start_seq=min(seqs), end_seq=max(seqs))


def loop_entry(row: Mapping[str, Any]) -> str:
    """Return one row of `adf_loop` as JSON text in the shape and key order of a snapshot (AUD-020).

    :raises JsonTextError: its content is not JSON
    """
    try:
        content = stored_json(row["content_json"])
    except JsonTextError as error:
        raise JsonTextError(f"content_json is not JSON: {error.message}", place=f"adf_loop row {row['seq']}") from None
    role, model = _quoted(row["role"]), row.get("model")
    text = f'{{"seq":{row["seq"]},"role":{role},"content_json":{content}'
    if model is not None:
        text += f',"model":{_quoted(model)}'
    usage = _usage(row.get("tokens"))
    if usage is not None:
        text += f',"tokens":{usage}'
    time = row["created_at"]
    text += f',"created_at":{time if type(time) is int else javascript_json(time)}'
    if row.get("ord") is not None:
        text += f',"ord":{row["ord"]}'
    return text + "}"


@lru_cache(maxsize=256)
def _quoted(value: Any) -> str:
    return javascript_json(value)


def encode_message(message: Mapping[str, Any], *, quality: int = QUALITY) -> Snapshot:
    """Archive one message as it was handled, in the key order of the object (AUD-025)."""
    ref = message.get("id")
    return _snapshot(javascript_json(dict(message)), 1, quality, ref=ref if isinstance(ref, str) and ref else None)


def encode_file(path: str, content: bytes, mime_type: str | None, *, quality: int = QUALITY) -> Snapshot:
    """Archive one file of `adf_files` (AUD-024)."""
    value: dict[str, Any] = {"path": path, "content_base64": base64.b64encode(content).decode()}
    if mime_type is not None:
        value["mime_type"] = mime_type
    return _snapshot(javascript_json(value | {"size": len(content)}), 1, quality, ref=path)


def encode_inbox(rows: Iterable[Mapping[str, Any]], *, quality: int = QUALITY) -> Snapshot:
    """Archive rows of `adf_inbox`, newest first, as runtimes did up to version 27 (AUD-022)."""
    return _batch(rows, INBOX, quality)


def encode_outbox(rows: Iterable[Mapping[str, Any]], *, quality: int = QUALITY) -> Snapshot:
    """Archive rows of `adf_outbox`, newest first, as runtimes did up to version 27 (AUD-023)."""
    return _batch(rows, OUTBOX, quality)


def _batch(rows: Iterable[Mapping[str, Any]], names: Sequence[str], quality: int) -> Snapshot:
    parts = [_message_row(row, names) for row in rows]
    if not parts:
        raise ValueError("no rows to archive")
    return _snapshot(f"[{','.join(parts)}]", len(parts), quality)


def _message_row(row: Mapping[str, Any], names: Sequence[str]) -> str:
    members = []
    for name in names:
        value = row.get(name)
        if name not in _PARSED:
            members.append(f'"{name}":{javascript_json(value)}')
        elif isinstance(value, str):
            try:
                members.append(f'"{name}":{stored_json(value)}')
            except JsonTextError:
                members.append(f'"{name}":{javascript_json(value)}')  # kept as the text it is
    return f"{{{','.join(members)}}}"


def _usage(tokens: Any) -> str | None:
    """Return a usage record; a bare number counts as one in files of old runtimes, anything else is none (STO-036)."""
    if isinstance(tokens, (int, float)):
        return javascript_json(tokens)
    if not isinstance(tokens, str):
        return None
    if tokens.startswith("{"):
        try:
            return stored_json(tokens)
        except JsonTextError:
            return None
    return _other_usage(tokens)


def _other_usage(tokens: str) -> str | None:
    try:
        value = decode(tokens).value
    except JsonTextError:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return javascript_json(value) if isinstance(value, dict) or is_number else None


def _snapshot(
    text: str,
    count: int,
    quality: int,
    *,
    start_seq: int | None = None,
    end_seq: int | None = None,
    ref: str | None = None,
) -> Snapshot:
    return Snapshot(text, compress(text, quality=quality), utf16_length(text), count, start_seq, end_seq, ref)
