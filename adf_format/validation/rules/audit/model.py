"""One row of `adf_audit` and what its snapshot turned out to hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from adf_format.validation.context import Context
from adf_format.validation.rule import Rule

TIME_KEYS = {"loop": "created_at", "inbox": "received_at", "outbox": "created_at"}  # AUD-013, by policy


@dataclass(frozen=True)
class Source:
    """What is known of a value of `adf_audit.source`: an entry of `audit/sources`.

    :ivar form: `exact`, `named` (`loop:<name>`), or `alien`: a transcript, but not in a form of this version
    :ivar format: URN of the schema of the decoded snapshot
    :ivar locator: `range`, `ref`, `times` or `none`
    """

    form: Literal["exact", "named", "alien"]
    format: str
    container: str
    locator: str
    locator_required: bool
    locator_key: str | None
    policy: str
    written_from: int
    written_until: int | None

    @property
    def is_transcript(self) -> bool:
        """Whether its entries are rows of `adf_loop`."""
        return self.policy == "loop"

    @property
    def time_key(self) -> str | None:
        """The member of an entry that holds its time, for arrays."""
        return TIME_KEYS.get(self.policy) if self.container == "array" else None


@dataclass(frozen=True)
class AuditRow:
    """One row, without its blob; columns that the file lacks read as None.

    :ivar holds_blob: whether there is a BLOB to decode
    """

    rowid: int
    values: dict[str, Any]
    context: Context = field(repr=False)
    holds_blob: bool = True

    def integer(self, column: str) -> int | None:
        """Return a value if it is an integer; what else stands there is a matter of the 3xx rules."""
        value = self.values.get(column)
        return value if type(value) is int else None

    def report(self, rule: Rule, message: str, column: str | None = None, pointer: str | None = None) -> None:
        """Report a finding on this row."""
        self.context.report(rule, message, table="adf_audit", rowid=self.rowid, column=column, pointer=pointer)


@dataclass
class Numbers:
    """What is kept of one number per entry: bounds, and the first and last met."""

    low: int = 0
    high: int = 0
    first: int = 0
    last: int = 0
    count: int = 0

    def add(self, number: int) -> None:
        """Take the number of the next entry."""
        if not self.count:
            self.low = self.high = self.first = number
        elif number < self.low:
            self.low = number
        elif number > self.high:
            self.high = number
        self.last = number
        self.count += 1

    def bounds(self, *, ordered: bool) -> tuple[int, int]:
        """Return the first and last number met, or the lowest and highest."""
        return (self.first, self.last) if ordered else (self.low, self.high)


@dataclass
class Content:
    """What a snapshot holds, as far as it could be read.

    :ivar count: entries read
    :ivar complete: whether all entries were read
    :ivar utf8: bytes of JSON text; :ivar utf16: UTF-16 units of it
    :ivar seqs: `seq` of the entries that have one; :ivar times: the same for their time
    :ivar with_ord: an entry carries `ord`, which only writers from version 28 on know
    :ivar value: the root, if it is an object
    """

    count: int = 0
    complete: bool = True
    utf8: int = 0
    utf16: int = 0
    seqs: Numbers = field(default_factory=Numbers)
    times: Numbers = field(default_factory=Numbers)
    with_ord: bool = False
    value: dict[str, Any] | None = None
