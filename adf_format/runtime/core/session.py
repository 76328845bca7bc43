"""What a loop's model sees of its stream, and what it has not seen yet.

The stream is the truth; a session is the order in which its rows reached the model. A row that comes from elsewhere
waits until the next request is built, so it never stands between a call and its result, and it is read once
(loops.md 4, 8). A session is dropped at will and made again from the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from adf_format.memory.injection import context_of
from adf_format.models import estimate
from adf_format.runtime.core.content import Block, Blocks, first_text, is_results


@dataclass(frozen=True)
class Entry:
    """One row in a session.

    :ivar key: of an injection that replaces earlier ones (LOOP-264)
    :ivar held: shown only once the dispatch that brought it has its turn
    """

    seq: int
    role: str
    blocks: Blocks
    created_at: int
    key: str | None = None
    held: bool = False

    @cached_property
    def shown(self) -> dict[str, Any]:
        """What a user's row says in a request, without results: those stand with their calls."""
        content: list[Block] = [block for block in self.blocks if block.get("type") != "tool_result"]
        for index, block in enumerate(content):
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                content[index] = {**block, "text": f"{self._marker} {block['text']}"}
                break
        return {"role": "user", "content": content}

    @cached_property
    def tokens(self) -> int:
        """Estimate of its size (CMP-003)."""
        return estimate.messages([{"content": self.blocks}])

    @property
    def _marker(self) -> str:
        """Time and seq, which only requests hold (ROW-010)."""
        seconds = max(0, min(self.created_at // 1000, 253_402_300_799))
        moment = datetime.fromtimestamp(seconds, UTC)
        return f"[{moment:%Y-%m-%d %H:%M:%S} UTC] [S{self.seq}]"


@dataclass
class Session:
    """The context of one loop.

    :ivar entries: what the model sees, in that order
    :ivar waiting: what it will see
    :ivar unread: seqs of entries that no request has held; waiting ones are always unread
    :ivar nudged: the warning before a compaction was given (CMP-005)
    :ivar told: prompt and dynamic instructions as last recorded, by category (ROW-021)
    :ivar failures: texts of failed compactions that were recorded (CMP-041)
    """

    entries: list[Entry] = field(default_factory=list)
    waiting: list[Entry] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)
    nudged: bool = False
    told: dict[str, str] = field(default_factory=dict)
    failures: set[str] = field(default_factory=set)

    @classmethod
    def restored(cls, rows: Iterable[Entry]) -> Session:
        """Make a session from a stream in display order: context rows are not shown again, but for the latest of each
        key, which waits; what came after the last answer was not read (ROW-011, ROW-023, LOOP-174, LOOP-265)."""
        session = cls()
        keyed: dict[str, Entry] = {}
        for entry in rows:
            context = context_of(first_text(entry.blocks))
            if context is None:
                session.entries.append(entry)
            elif context[2] is not None:
                keyed.pop(context[2], None)
                keyed[context[2]] = replace(entry, key=context[2])
        session.waiting = list(keyed.values())
        session.unread = {entry.seq for entry in session.since_answer() if not is_results(entry.blocks)}
        return session

    def add(self, entry: Entry, *, read: bool = False) -> None:
        """Take in a row of the loop's own turn, at the end.

        :param read: the model made it, or has no need to be asked about it
        """
        self.entries.append(entry)
        if not read:
            self.unread.add(entry.seq)

    def wait(self, entry: Entry) -> None:
        """Take in a row from elsewhere; one with a key takes the place of an earlier one that still waits."""
        if entry.key is not None:
            self.waiting = [other for other in self.waiting if other.key != entry.key]
        self.waiting.append(entry)

    def release(self, seq: int | None = None) -> None:
        """Show a held row from now on; all of them if none is named."""
        self.waiting = [replace(one, held=False) if seq in (None, one.seq) else one for one in self.waiting]

    def boundary(self) -> None:
        """A request is about to be built: what waits is placed, in the order of coming."""
        placed = [entry for entry in self.waiting if not entry.held]
        self.waiting = [entry for entry in self.waiting if entry.held]
        self.entries += placed
        self.unread |= {entry.seq for entry in placed}

    def sent(self) -> None:
        """The request was built: what is placed counts as read."""
        self.unread.clear()

    def pending(self) -> set[int]:
        """Return the seqs of everything that no request has held."""
        return self.unread | {entry.seq for entry in self.waiting}

    def forget(self, seqs: Collection[int]) -> None:
        """Rows are gone; prompt, files and warnings are new again (CMP-054)."""
        self.entries = [entry for entry in self.entries if entry.seq not in seqs]
        self.waiting = [entry for entry in self.waiting if entry.seq not in seqs]
        self.unread = {seq for seq in self.unread if seq not in seqs}
        self.nudged = False
        self.told = {}
        self.failures = set()

    def summarized(self, summary: Entry, seqs: Collection[int]) -> None:
        """Rows are gone and a summary stands before what is left; nobody has to answer it."""
        self.forget(seqs)
        self.entries.insert(0, summary)

    def since_answer(self) -> list[Entry]:
        """Return what stands behind the last answer."""
        found = []
        for entry in reversed(self.entries):
            if entry.role == "assistant":
                break
            found.append(entry)
        return found

    def tail(self) -> list[Entry]:
        """Return the last answer with its results: what a compaction that the model asked for keeps (CMP-020)."""
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].role == "assistant":
                return [
                    entry for entry in self.entries[index:] if entry.role == "assistant" or is_results(entry.blocks)
                ]
        return []
