"""The rows of `adf_audit`: what each says of itself, whatever the era."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format import rows, structure
from adf_format.container import Container
from adf_format.history.model import KINDS, MAIN, Kind, SnapshotRow
from adf_format.inspection.file import File

LOOP = "loop"
_COLUMNS = ("source", "start_seq", "end_seq", "ref", "start_at", "end_at", "entry_count", "size_bytes", "created_at")


def file_of(container: Container) -> File:
    """Return the file with its structure."""
    return File(container.connection, structure.read(container.connection))


def snapshots(container: Container) -> Iterator[SnapshotRow]:
    """Yield the rows of `adf_audit` in the order in which they were written; none without such a table."""
    file = file_of(container)
    table = file.structure.tables.get("adf_audit")
    if table is None or "source" not in table.columns:
        return
    names = [name for name in (*_COLUMNS, "data") if name in table.columns]
    ranged = "start_seq" in table.columns
    version = file.version or 0
    for found in rows.scan(container.connection, "adf_audit", names, sizes=[name for name in names if name == "data"]):
        container.check_deadline()
        yield _row(found[0], dict(zip(names, found[1:], strict=True)), version, ranged=ranged)


def _row(number: int, values: dict[str, Any], version: int, *, ranged: bool) -> SnapshotRow:
    source = values["source"] if isinstance(values["source"], str) else ""
    kind, loop = classify(source)
    numbers = {name: value if type(value) is int else None for name, value in values.items()}
    return SnapshotRow(
        id=number,
        source=source,
        kind=kind,
        loop=loop,
        start_seq=numbers.get("start_seq") if loop is not None else None,
        end_seq=numbers.get("end_seq") if loop is not None else None,
        ref=values["ref"] if isinstance(values.get("ref"), str) else None,
        start_at=numbers.get("start_at"),
        end_at=numbers.get("end_at"),
        entry_count=numbers.get("entry_count"),
        size_bytes=numbers.get("size_bytes"),
        data_bytes=numbers.get("data"),
        created_at=numbers.get("created_at"),
        era=_era(source, kind, version, ranged=ranged),
    )


def classify(source: str) -> tuple[Kind, str | None]:
    """Return what a source stands for, and the loop it names; bare `loop` is `main` (AUD-006)."""
    if source == LOOP:
        return "loop", MAIN
    if source.startswith("loop:"):
        return "loop", source[5:]
    return next((kind for kind in KINDS if kind == source), "other"), None


def _era(source: str, kind: Kind, version: int, *, ranged: bool) -> str:
    if not ranged or kind in ("inbox", "outbox"):
        return "until 27"
    if kind == "loop":
        return "from 29" if source != LOOP else "28" if version == 28 else "until 28"
    return "any"
