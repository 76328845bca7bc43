"""Archived rows by seq from several snapshots at once, each decoded as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.audit import LoopEntry, ShapeError
from adf_format.container import Container
from adf_format.errors import JsonTextError, LimitError
from adf_format.history.model import Checked, Place, SnapshotRow
from adf_format.history.reading import MIB, Reading
from adf_format.jsontext import decode

OPEN = 8  # snapshots read at the same time: a decoder may take several MB
HELD = 256 * MIB  # characters of entries that stand before others with a lower seq


class Cursors:
    """Reads ascending pieces of snapshots; one that was put aside for others is read again from its start."""

    def __init__(self, container: Container, checked: dict[int, Checked]) -> None:
        self._container = container
        self._checked = checked
        self._open: dict[int, _Cursor] = {}

    def fetch(self, audit_id: int, start: int, end: int) -> Iterator[Place]:
        """Yield the rows from `start` to `end` of a snapshot; over all calls, seqs must ascend."""
        cursor = self._open.pop(audit_id, None) or _Cursor(self._container, self._checked[audit_id].row)
        for done in [number for number in self._open if (self._checked[number].seqs.highest or 0) < start]:
            del self._open[done]
        while len(self._open) >= OPEN:
            del self._open[next(iter(self._open))]
        self._open[audit_id] = cursor  # the last one used is the last to go
        return cursor.fetch(start, end)


class _Cursor:
    def __init__(self, container: Container, row: SnapshotRow) -> None:
        self._row = row
        self._container = container
        self._entries = Reading(container, row).texts(rows=True)
        self._waiting: dict[int, tuple[int, str | bytes]] = {}
        self._held = 0

    def fetch(self, start: int, end: int) -> Iterator[Place]:
        for seq in [seq for seq in self._waiting if seq < start]:
            self._held -= len(self._waiting.pop(seq)[1])
        for seq in range(start, end + 1):
            place = self._find(seq)
            if place is not None:
                yield place

    def _find(self, seq: int) -> Place | None:
        if seq in self._waiting:
            index, text = self._waiting.pop(seq)
            self._held -= len(text)
            return self._place(index, _decoded(text))
        for index, text in self._entries:
            value = _decoded(text)
            found = value.get("seq") if isinstance(value, dict) else None
            if found == seq:
                return self._place(index, value)
            if type(found) is int and found > seq and found not in self._waiting:
                self._hold(found, index, text)
        return None

    def _hold(self, seq: int, index: int, text: str | bytes) -> None:
        self._held += len(text)
        if self._held > HELD:
            place = f"adf_audit row {self._row.id}"
            raise LimitError("the entries are too far out of order", self._container.source.path, place)
        self._waiting[seq] = index, text

    def _place(self, index: int, value: Any) -> Place | None:
        try:
            return Place(LoopEntry.parse(value), self._row.loop or "", self._row.id, index, self._row.created_at)
        except ShapeError:
            return None


def _decoded(text: str | bytes) -> Any:
    try:
        return decode(text).value
    except JsonTextError:
        return None
