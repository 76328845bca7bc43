"""What a migration did, as facts: each names the rule that asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "table-added",
    "table-dropped",
    "column-added",
    "column-dropped",
    "index-added",
    "index-dropped",
    "row-added",
    "row-removed",
    "row-changed",
]
Key = str | int | None
_SHOWN = 200  # characters of a text that are given in full


@dataclass(frozen=True)
class Touch:
    """One thing that was changed by design.

    :ivar rule: id of the rule that says so
    :ivar step: `27->28`
    :ivar rows: how many rows it concerns
    :ivar key: primary key of the row, for the kinds that name one
    :ivar column: the column; the name of an index
    :ivar pointer: place inside the JSON of the column
    :ivar before: the value, or size and hash of a long one
    :ivar after: likewise; the value of every old row for an added column
    """

    rule: str
    step: str
    kind: Kind
    table: str
    rows: int = 1
    key: Key = None
    column: str | None = None
    pointer: str | None = None
    before: Any = None
    after: Any = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry of a receipt."""
        found = {name: getattr(self, name) for name in ("rule", "step", "kind", "table", "rows")}
        for name in ("key", "column", "pointer"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        if self.kind in ("row-changed", "row-added", "row-removed", "column-added"):
            found |= {"before": self.before, "after": self.after}
        return found


@dataclass(frozen=True)
class Snapshot:
    """One row of the audit as a migration found it.

    :ivar sha256: hash of the decoded JSON text, None if it cannot be decoded or nobody asked
    :ivar problem: why it cannot be decoded
    :ivar start_seq, end_seq, ref: what points into it from version 28 on
    """

    id: int
    source: Any
    start_seq: int | None = None
    end_seq: int | None = None
    ref: str | None = None
    sha256: str | None = None
    problem: str | None = None


@dataclass
class Record:
    """Everything that was done to one file.

    :ivar snapshots: rows of the audit that were looked at, by id
    :ivar derived: columns of which each row got a value of its own
    :ivar originals: rows that a conversion replaced, whole
    :ivar notes: what a reader should know
    """

    touches: list[Touch] = field(default_factory=list)
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    derived: set[tuple[str, str]] = field(default_factory=set)
    originals: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def of_step(self, step: str) -> Iterator[Touch]:
        """Yield what one step did."""
        return (touch for touch in self.touches if touch.step == step)

    def summary(self, step: str) -> list[tuple[str, str, str, int]]:
        """Return `(rule, kind, table, rows)` of a step, equal ones added up."""
        found: dict[tuple[str, str, str], int] = {}
        seen: set[tuple[str, str, Key]] = set()
        for touch in self.of_step(step):
            place = (touch.rule, touch.kind, touch.table)
            once = (touch.rule, touch.table, touch.key)
            if touch.key is None:  # the same rows, for each column
                found[place] = max(found.get(place, 0), touch.rows)
            else:
                found[place] = found.get(place, 0) + (0 if touch.kind == "row-changed" and once in seen else touch.rows)
            seen.add(once)
        return [(*place, rows) for place, rows in found.items()]


def brief(value: Any) -> Any:
    """Return a value as a receipt shows it: short ones whole, long ones and bytes by size and hash."""
    if isinstance(value, str) and len(value) > _SHOWN:
        return _hashed(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _hashed(value)
    return value


def _hashed(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
