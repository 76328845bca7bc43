"""Batches of archived messages, as old runtimes made them, turned into one row per message."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import apsw

from adf_format.audit import Blob, EntryReader, Snapshot, SnapshotError, batch_note, decompress, encode_message
from adf_format.creation.agent import iso
from adf_format.errors import JsonTextError, UsageError
from adf_format.jsontext import decode
from adf_format.migration.locating import LARGEST
from adf_format.migration.work import Work

RULE = "SPLIT"  # ours, not of the format: it runs only when asked for
FROM = 28  # rows of single messages need `ref`
SOURCES = {"inbox": "inbox_message", "outbox": "outbox_message"}
_ENTRY = 64 << 20
_IN_HEAD = ("from", "to", "reply_to", "network")
_IN_PAYLOAD = ("sender_alias", "recipient_alias", "thread_id", "parent_id", "subject", "content", "content_type")
_ROW = "source, entry_count, size_bytes, data, created_at"


def split_batches(work: Work) -> None:
    """Replace each sound batch; one that cannot be read stays as it is.

    :raises UsageError: the version has no place for single messages
    """
    if work.final < FROM:
        raise UsageError(f"batches can be split from storage version {FROM} on")
    work.step = "split"
    query = "SELECT id FROM adf_audit WHERE source IN ('inbox', 'outbox') ORDER BY id"
    with work.place.transaction():
        for number in [int(row[0]) for row in work.connection.execute(query).fetchall()]:  # type: ignore[arg-type]
            _split(work, number)


def _split(work: Work, number: int) -> None:
    try:
        row: Any = work.connection.execute(f"SELECT {_ROW} FROM adf_audit WHERE id = ?", (number,)).fetchall()[0]
        entries = list(_entries(work.connection, number))
        made = [_message(one, batch_note(number, at, len(entries))) for at, one in enumerate(entries)]
    except (SnapshotError, JsonTextError, apsw.Error) as error:
        work.record.notes.append(f"batch {number} of the audit stays as it is: {getattr(error, 'message', error)}")
        return
    source, count, size, data, created_at = row
    if not made or len(made) != count:
        work.record.notes.append(f"batch {number} of the audit stays as it is: it does not hold {count} messages")
        return
    work.connection.execute("DELETE FROM adf_audit WHERE id = ?", (number,))
    work.note(RULE, "row-removed", "adf_audit", key=number)
    ids = [_insert(work, SOURCES[source], one, created_at) for one in made]
    original = {"id": number, "source": source, "entry_count": count, "size_bytes": size, "created_at": created_at}
    work.record.originals.append({**original, "data": base64.b64encode(data).decode(), "became": ids})


def _insert(work: Work, source: str, snapshot: Snapshot, created_at: int) -> int:
    values = (source, snapshot.ref, 1, snapshot.size_bytes, snapshot.data, created_at)
    columns = "source, ref, entry_count, size_bytes, data, created_at"
    work.connection.execute(f"INSERT INTO adf_audit ({columns}) VALUES (?, ?, ?, ?, ?, ?)", values)
    number = work.connection.last_insert_rowid()
    work.note(RULE, "row-added", "adf_audit", key=number)
    return number


def _entries(connection: apsw.Connection, number: int) -> Iterator[dict[str, Any]]:
    pieces = decompress(Blob(connection, "adf_audit", "data", number), limit_bytes=LARGEST)
    reader = EntryReader(pieces, entry_limit=_ENTRY, value_limit=_ENTRY)
    reader.begin()
    if reader.root != "array":
        raise JsonTextError("the batch is not an array")
    for text in reader:
        entry = decode(text).value
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not entry["id"]:
            raise JsonTextError("an entry of the batch is not a message with an id")
        yield entry


def _message(entry: dict[str, Any], batch: dict[str, Any]) -> Snapshot:
    """Make the message of an archived row: what it was on the wire, with the rest of the row in its meta.

    A part that the row does not hold is left out; nothing that it holds is lost.

    :param batch: what it was a part of, so that nobody takes the batch for lost
    """
    rest = dict(entry)
    at = _time(entry)
    head: dict[str, Any] = {"version": "1.0", "network": None, "id": entry.get("message_id") or entry["id"]}
    head["timestamp"] = at
    head |= {key: rest.pop(key) for key in _IN_HEAD if isinstance(rest.get(key), str)}
    if head["network"] is None:
        head["network"] = "devnet"
    payload = {key: rest.pop(key) for key in _IN_PAYLOAD if isinstance(rest.get(key), str)}
    payload.setdefault("content", "")
    if isinstance(rest.get("attachments"), list):
        payload["attachments"] = rest.pop("attachments")
    payload["sent_at"] = at
    kept = {key: value for key, value in rest.items() if value is not None}
    return encode_message({**head, "meta": {"archived_row": kept, **batch}, "payload": payload})


def _time(entry: dict[str, Any]) -> str:
    for key in ("sent_at", "received_at", "created_at"):
        value = entry.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 4e12:
            return iso(datetime.fromtimestamp(value / 1000, UTC))
    return iso(datetime.fromtimestamp(0, UTC))
