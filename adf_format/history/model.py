"""What the history of an agent is told in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from adf_format.audit import LoopEntry
from adf_format.history.seqs import SeqSet

Kind = Literal["loop", "inbox_message", "outbox_message", "file", "inbox", "outbox", "other"]
KINDS: tuple[Kind, ...] = ("inbox_message", "outbox_message", "file", "inbox", "outbox")
ARRAYS = frozenset(("loop", "inbox", "outbox"))
MAIN = "main"


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One row of `adf_audit`, without its blob; what is missing or of another type reads as None.

    :ivar loop: loop whose rows it holds; None for messages and files
    :ivar start_at: time of the first entry, epoch ms, up to version 27 only; :ivar end_at: of the last
    :ivar data_bytes: size of the blob, None if there is none
    :ivar created_at: when it was made, epoch ms
    :ivar era: versions whose writers make such rows, in words
    """

    id: int
    source: str
    kind: Kind
    loop: str | None
    start_seq: int | None
    end_seq: int | None
    ref: str | None
    start_at: int | None
    end_at: int | None
    entry_count: int | None
    size_bytes: int | None
    data_bytes: int | None
    created_at: int | None
    era: str

    @property
    def range(self) -> tuple[int, int] | None:
        """The range that the row claims; None if it has none that can be used, which is legal in old rows (AMB-8)."""
        if self.start_seq is None or self.end_seq is None or self.start_seq > self.end_seq:
            return None
        return self.start_seq, self.end_seq

    def may_hold(self, seq: int) -> bool:
        """Whether the columns leave it possible that it holds a row; without a range they always do (MIG-051)."""
        return self.range is None or self.range[0] <= seq <= self.range[1]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a snapshot.

    :ivar code: for programs, such as `truncated`
    :ivar message: for people
    :ivar serious: entries are lost or doubtful; otherwise only the columns of the row are
    """

    code: str
    message: str
    serious: bool = True


@dataclass(frozen=True)
class Summary:
    """A row that a compaction put in the place of others (CMP-027).

    :ivar audited: whether its marker says that they were archived
    :ivar audit_id: snapshot that the row itself is in, None if it is live
    """

    seq: int
    loop: str
    created_at: int | None
    ord: int | None
    audited: bool
    text: str = field(repr=False)
    audit_id: int | None = None


@dataclass
class Checked:
    """A snapshot that was read to its end, or as far as possible.

    :ivar entries: entries that could be read
    :ivar seqs: rows of a transcript that are in it; :ivar twice: those in it more than once
    """

    row: SnapshotRow
    problems: list[Problem] = field(default_factory=list)
    entries: int = 0
    seqs: SeqSet = field(default_factory=SeqSet)
    twice: SeqSet = field(default_factory=SeqSet)

    @property
    def sound(self) -> bool:
        """Whether nothing is lost or doubtful."""
        return not any(problem.serious for problem in self.problems)


@dataclass(frozen=True)
class Place:
    """Where a row of a transcript is.

    :ivar audit_id: the snapshot, None for the live table
    :ivar index: place in the snapshot
    :ivar archived_at: when the snapshot was made, epoch ms
    :ivar problem: what is wrong with the row or the snapshot
    """

    entry: LoopEntry
    loop: str
    audit_id: int | None = None
    index: int | None = None
    archived_at: int | None = None
    problem: str | None = None

    @property
    def content(self) -> tuple[Any, ...]:
        """What copies of one row have to share."""
        return self.entry.role, self.entry.content, self.entry.model, self.entry.created_at


Reason = Literal["damaged-snapshot", "compacted-unaudited", "audit-off", "cloned", "snapshot-deleted", "unknown"]
KNOWN: frozenset[Reason] = frozenset(("damaged-snapshot", "compacted-unaudited", "audit-off", "cloned"))


@dataclass(frozen=True, slots=True)
class Gap:
    """Consecutive seqs that are neither live nor in any snapshot that can be read.

    :ivar loop: whose they were; None where several loops share the counter
    :ivar audit_ids: snapshots that may have held them
    """

    start: int
    end: int
    reason: Reason
    detail: str
    loop: str | None = None
    audit_ids: tuple[int, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the reason is known."""
        return self.reason in KNOWN

    @property
    def count(self) -> int:
        """How many seqs."""
        return self.end - self.start + 1
