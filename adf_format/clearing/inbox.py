"""Clearing the inbox (CLS-002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adf_format.audit import encode_inbox
from adf_format.clearing.archive import Archive
from adf_format.clearing.result import Cleared
from adf_format.clearing.state import RANGES_FROM, UNARCHIVED, State, period
from adf_format.errors import UnreadableError
from adf_format.schemas.ddl import quote_any

_PER_MESSAGE = "from version 28 on, messages are archived when they arrive, not when they are deleted"


def plan(state: State) -> Cleared:
    """Say what clearing the inbox would do.

    :raises PolicyError: nobody can tell whether it must be archived
    """
    state.require("adf_inbox", "id", "received_at")
    count = int(state.connection.execute("SELECT count(*) FROM adf_inbox").get)
    if not count:
        return Cleared("inbox", "adf_inbox", 0, reason="the inbox is empty")
    if state.version >= RANGES_FROM:
        return Cleared("inbox", "adf_inbox", count, reason=_PER_MESSAGE)
    archived = state.archived["inbox"]
    return Cleared("inbox", "adf_inbox", count, archived, reason=None if archived else "audit of the inbox is off")


def clear(state: State) -> tuple[Cleared, Archive | None]:
    """Delete all messages; below 28 they are archived together if the configuration says so; in a transaction."""
    planned = plan(state)
    snapshot = None
    if planned.archived:
        snapshot, times = _snapshot(state)
        audit_id = state.archive("inbox", snapshot, times)
        planned = replace(planned, audit_id=audit_id, size_bytes=snapshot.size_bytes)
    if planned.entries:
        state.connection.execute("DELETE FROM adf_inbox")
        if state.connection.changes() != planned.entries:
            raise UnreadableError("not every message could be deleted", place="adf_inbox")
    return planned, snapshot


def _snapshot(state: State) -> tuple[Archive, tuple[int, int]]:
    try:
        rows = _rows(state)
        return Archive.of(encode_inbox(rows)), period(sorted((row["received_at"] for row in rows), key=_number))
    except (TypeError, UnicodeDecodeError) as exc:
        raise UnreadableError("a message holds what a snapshot cannot", place="adf_inbox", hint=UNARCHIVED) from exc


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _rows(state: State) -> Sequence[dict[str, Any]]:
    names = sorted(state.columns("adf_inbox"))
    quoted = ", ".join(quote_any(name) for name in names)
    found = state.connection.execute(f"SELECT {quoted} FROM adf_inbox ORDER BY received_at DESC, rowid DESC")
    return [dict(zip(names, row, strict=True)) for row in found]
