"""What a migration must do to the audit: nothing, but for the new columns of version 28 (MIG-040 to MIG-047)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_conformance.observe import AgentFile, Snapshot

if TYPE_CHECKING:
    from adf_conformance.laws.migrator import Migration

KEPT = ("id", "source", "entry_count", "size_bytes", "created_at", "data")
_REFERENCES = {"inbox_message": "id", "outbox_message": "id", "file": "path"}


def judge(migration: Migration, after: AgentFile) -> None:
    """Compare the snapshots before and after."""
    before = migration.before
    if not before.snapshots:
        return
    told = [tuple(one.row[key] for key in KEPT) for one in after.snapshots]
    right = [tuple(one.row[key] for key in KEPT) for one in before.snapshots]
    ids = ([row[0] for row in told], [row[0] for row in right])
    migration.demand("audit-kept", told == right, f"snapshots differ in {_differing(told, right)} (ids {ids})")
    migration.demand("nothing-compressed-again", [row[-1] for row in told] == [row[-1] for row in right], "new bytes")
    highest = max(one.id for one in before.snapshots)
    mark = after.sequence.get("adf_audit", 0)
    if migration.crosses(28):
        migration.demand("audit-ids-go-on", mark >= highest, f"the counter says {mark}, the highest id is {highest}")
        for snapshot, now in zip(before.snapshots, after.snapshots, strict=True):
            _locators(migration, snapshot, now.row)


def _differing(told: list[Any], right: list[Any]) -> str:
    pairs = zip(told, right, strict=False)
    return (
        ", ".join(sorted({key for a, b in pairs for key, x, y in zip(KEPT, a, b, strict=True) if x != y})) or "number"
    )


def _locators(migration: Migration, snapshot: Snapshot, now: Any) -> None:
    expected = (*_range(snapshot), _reference(snapshot))
    found = (now["start_seq"], now["end_seq"], now["ref"])
    both = found[2] is not None and (found[0], found[1]) != (None, None)
    migration.demand("audit-one-locator", not both, f"snapshot {snapshot.id} has a range and a reference")
    message = f"snapshot {snapshot.id} ({snapshot.source}) has range and reference {found}, right is {expected}"
    migration.demand(_law(snapshot), found == expected, message)
    if snapshot.value is not None and any(one.value is None for one in migration.before.snapshots):
        migration.demand("audit-damaged-alone", found == expected, message)


def _law(snapshot: Snapshot) -> str:
    if snapshot.value is None:
        return "audit-damaged-kept"
    if snapshot.source in {"inbox", "outbox"}:
        return "audit-batches-null"
    if snapshot.source in _REFERENCES:
        return "audit-ref"
    return "audit-range" if _range(snapshot) != (None, None) else "audit-empty-null"


def _range(snapshot: Snapshot) -> tuple[int | None, int | None]:
    """Return the seq of the first and of the last entry (MIG-044, MIG-045)."""
    value = snapshot.value
    if snapshot.source != "loop" or not isinstance(value, list) or not value:
        return None, None
    ends = [one.get("seq") if isinstance(one, dict) else None for one in (value[0], value[-1])]
    numeric = all(isinstance(seq, int) and not isinstance(seq, bool) for seq in ends)
    return (ends[0], ends[1]) if numeric else (None, None)


def _reference(snapshot: Snapshot) -> str | None:
    key, value = _REFERENCES.get(snapshot.source), snapshot.value
    found = value.get(key) if key and isinstance(value, dict) else None
    return found if isinstance(found, str) and found else None
