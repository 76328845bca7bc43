"""What must be true of a file after a clear, looked at with a fresh connection."""

from __future__ import annotations

import hashlib

from adf_format.audit import Blob, decompress
from adf_format.clearing.archive import Archive
from adf_format.clearing.result import Cleared
from adf_format.container import Change, Container
from adf_format.errors import VerificationError

_ROOM = 1 << 20  # bytes a snapshot may be longer than expected before reading it is given up


def expect(change: Change, cleared: Cleared, snapshot: Archive | None) -> None:
    """Demand that a snapshot can be read back, and that what was deleted is gone."""
    if snapshot is not None and cleared.audit_id is not None:
        digest, size, rowid = snapshot.sha256, snapshot.utf8, cleared.audit_id
        change.checks.append(lambda fresh: _demand_archived(fresh, rowid, digest, size))
    table = {"loop": "adf_loop", "inbox": "adf_inbox"}.get(cleared.what)
    if table is not None and cleared.entries:
        rows = int(change.connection.execute(f"SELECT count(*) FROM {table}").get)
        change.checks.append(lambda fresh: _demand_rows(fresh, table, rows))


def _demand_archived(fresh: Container, rowid: int, expected: bytes, size: int) -> None:
    found = hashlib.sha256()
    for piece in decompress(Blob(fresh.connection, "adf_audit", "data", rowid), limit_bytes=size + _ROOM):
        found.update(piece)
    if found.digest() != expected:
        raise VerificationError(f"snapshot {rowid} does not hold what was deleted", fresh.source.path)


def _demand_rows(fresh: Container, table: str, rows: int) -> None:
    if fresh.connection.execute(f"SELECT count(*) FROM {table}").get != rows:
        raise VerificationError(f"{table} has not the rows it should have", fresh.source.path)
