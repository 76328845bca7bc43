"""`adf_audit`: what is archived before it is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.audit import Snapshot
from adf_format.clearing.archive import Archive
from adf_format.config.auditing import audit_policy

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

_INSERT = (
    "INSERT INTO adf_audit (source, start_seq, end_seq, ref, entry_count, size_bytes, data, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Audit:
    """Snapshots; append-only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def policy(self) -> dict[str, bool]:
        """Return which sources are archived, by the configuration as it is now (AUD-001)."""
        return audit_policy(self._store.config.read())

    def put(self, source: str, snapshot: Archive | Snapshot) -> int:
        """Insert a snapshot, in the transaction that deletes what it holds, and return its id."""
        ref = snapshot.ref if isinstance(snapshot, Snapshot) else None
        size, data, now = snapshot.size_bytes, snapshot.data, self._store.now()
        seqs = (snapshot.start_seq, snapshot.end_seq)
        self._store.connection.execute(_INSERT, (source, *seqs, ref, snapshot.entry_count, size, data, now))
        return self._store.connection.last_insert_rowid()
