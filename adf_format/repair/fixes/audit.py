"""What rows of `adf_audit` say of their snapshots. The snapshots themselves are never touched.

Audit is append-only outside migration (AMB-8), so all of these are guesses: whoever asks for them decides that the
row was damaged. Ranges that a migration has left out or taken from the first and last entry stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from adf_format.audit import Blob, EntryReader, SnapshotError, decompress
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.mend import Mend

LARGEST = 4 << 30
LARGEST_ENTRY = 64 << 20
REFS = {"inbox_message": "id", "outbox_message": "id", "file": "path"}


@dataclass
class Measured:
    """What a sound snapshot holds.

    :ivar utf16: length of its text; :ivar count: entries
    :ivar low: lowest seq of its entries; :ivar high: highest one
    :ivar ref: what its row's `ref` should be
    """

    utf16: int = 0
    count: int = 0
    low: int | None = None
    high: int | None = None
    ref: str | None = None

    def take(self, entry: Any, source: str) -> None:
        """Look at one entry."""
        self.count += 1
        seq = entry.get("seq") if isinstance(entry, dict) else None
        if type(seq) is int:
            self.low = seq if self.low is None else min(self.low, seq)
            self.high = seq if self.high is None else max(self.high, seq)
        ref = entry.get(REFS.get(source, "")) if isinstance(entry, dict) else None
        self.ref = ref if isinstance(ref, str) and ref else None


def measure(connection: apsw.Connection, rowid: int, source: str) -> Measured | None:
    """Decode a snapshot; None if it is damaged, or not of the shape of its source."""
    found = Measured()
    blob = Blob(connection, "adf_audit", "data", rowid)
    reader = EntryReader(decompress(blob, limit_bytes=LARGEST), entry_limit=LARGEST_ENTRY, value_limit=LARGEST_ENTRY)
    try:
        reader.begin()
        if reader.root != ("object" if source in REFS else "array"):
            return None
        for entry in reader:
            found.take(decode(entry).value, source)
        reader.drain()
    except (SnapshotError, JsonTextError, apsw.SQLError):
        return None
    found.utf16 = reader.utf16
    return found


def _set(*columns: str) -> Any:
    """Make a fix that recomputes columns."""

    def run(mend: Mend, places: Sequence[Place]) -> None:
        for rowid in dict.fromkeys(place.rowid for place in places if place.rowid is not None):
            source = mend.value("adf_audit", rowid, "source")
            found = measure(mend.connection, rowid, source) if isinstance(source, str) else None
            if found is None:
                continue
            values = {"entry_count": found.count, "size_bytes": found.utf16, "ref": found.ref}
            values |= {"start_seq": found.low, "end_seq": found.high}
            for column in columns:
                if values[column] is not None:
                    mend.update("adf_audit", rowid, column, values[column])

    return run


_APPEND_ONLY = "the snapshot shows the value, but audit is append-only (AMB-8)"
_RANGE = "set the range to the seqs in the snapshot"
_REF = "set ref to what the snapshot names"
FIXES = (
    Fix("ADF508", Kind.GUESS, "count the entries of the snapshot", _APPEND_ONLY, _set("entry_count")),
    Fix("ADF509", Kind.GUESS, "measure the text of the snapshot", _APPEND_ONLY, _set("size_bytes")),
    Fix("ADF510", Kind.GUESS, "measure the text of the snapshot in UTF-16 units", _APPEND_ONLY, _set("size_bytes")),
    Fix("ADF511", Kind.GUESS, _RANGE, _APPEND_ONLY, _set("start_seq", "end_seq")),
    Fix("ADF512", Kind.GUESS, _RANGE, _APPEND_ONLY, _set("start_seq", "end_seq")),
    Fix("ADF526", Kind.GUESS, _RANGE, _APPEND_ONLY, _set("start_seq", "end_seq")),
    Fix("ADF529", Kind.GUESS, _RANGE, _APPEND_ONLY, _set("start_seq", "end_seq")),
    Fix("ADF514", Kind.GUESS, _REF, _APPEND_ONLY, _set("ref")),
    Fix("ADF527", Kind.GUESS, _REF, _APPEND_ONLY, _set("ref")),
)
