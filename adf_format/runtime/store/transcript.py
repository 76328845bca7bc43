"""`adf_loop`: the streams of all loops. Appending is one statement; what deletes archives in the same transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json
from adf_format.clearing.archive import Archive, archive_loop
from adf_format.clearing.slices import Slice
from adf_format.errors import AdfError, UnreadableError
from adf_format.jsontext import decode_column

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

CHUNK = 500
ATTEMPTS = 3
_ORDER = "ORDER BY COALESCE(ord, seq), seq"
_NEWEST = "ORDER BY COALESCE(ord, seq) DESC, seq DESC LIMIT 1"
_ROWS = f"SELECT seq, COALESCE(ord, seq), role, content_json, created_at, tokens FROM adf_loop WHERE loop = ? {_ORDER}"
WHOLE = Slice()
_APPEND = "INSERT INTO adf_loop (role, content_json, model, tokens, created_at, ord, loop) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ARCHIVED = "seq, role, content_json, model, tokens, created_at, ord"


@dataclass(frozen=True)
class Row:
    """One row of a stream.

    :ivar key: what the stream is ordered by, before seq
    :ivar blocks: the content, decoded; None if it is no array of blocks (AUD-035)
    :ivar tokens: usage of the call that made it, None if it has none
    """

    seq: int
    key: int
    role: str
    blocks: Sequence[Mapping[str, Any]] | None
    created_at: int
    tokens: Mapping[str, Any] | None = None


class Transcript:
    """Rows of loops. Operations that delete are serialized for the whole file (LOOP-134)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._deleting = asyncio.Lock()

    def append(
        self,
        loop: str,
        role: str,
        blocks: Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        tokens: Mapping[str, int] | None = None,
        order: int | None = None,
    ) -> Row:
        """Append a row; it is durable when this returns.

        :param order: value of `ord`, for a summary that stands before rows with lower seqs (CMP-025)
        """
        now = self._store.now()
        content = javascript_json([dict(block) for block in blocks], exact=True)
        usage = javascript_json(dict(tokens)) if tokens is not None else None
        connection = self._store.connection
        connection.execute(_APPEND, (role, content, model, usage, now, order, loop))
        seq = connection.last_insert_rowid()
        return Row(seq, seq if order is None else order, role, tuple(blocks), now, tokens)

    def rows(self, loop: str) -> list[Row]:
        """Return a stream in display order."""
        return [_row(*row) for row in self._store.connection.execute(_ROWS, (loop,))]

    def seqs(self, loop: str, part: Slice = WHOLE) -> list[int]:
        """Return the seqs of a slice of a stream, in display order (LCL-002)."""
        sql = f"SELECT seq FROM adf_loop WHERE loop = ? {_ORDER}"
        found = [seq for (seq,) in self._store.connection.execute(sql, (loop,))]
        chosen = part.positions(len(found))
        return found[chosen.start : chosen.stop]

    def keys(self, loop: str) -> dict[int, int]:
        """Return `seq: key` of a stream."""
        sql = "SELECT seq, COALESCE(ord, seq) FROM adf_loop WHERE loop = ?"
        return dict(self._store.connection.execute(sql, (loop,)))

    def count(self, loop: str) -> int:
        """Return the length of a stream."""
        return int(self._store.connection.execute("SELECT count(*) FROM adf_loop WHERE loop = ?", (loop,)).get)

    def usage(self, loop: str) -> int | None:
        """Return input and output of the newest answer that has a usage record, None if there is none (CMP-002)."""
        sql = f"SELECT tokens FROM adf_loop WHERE loop = ? AND role = 'assistant' AND tokens IS NOT NULL {_NEWEST}"
        usage = _decoded(self._store.connection.execute(sql, (loop,)).get)
        if not isinstance(usage, dict):
            return None
        parts = [usage.get(name) for name in ("input", "output")]
        counts = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
        return sum(counts) if counts else None

    def streams(self) -> list[str]:
        """Return the names of all loops that have rows."""
        found = self._store.connection.execute("SELECT DISTINCT loop FROM adf_loop")
        return [name for (name,) in found if isinstance(name, str)]

    async def clear(self, loop: str, part: Slice = WHOLE) -> tuple[list[int], bool]:
        """Delete a slice as it is now, archived as the configuration says (LCL). Gives the seqs that went.

        :raises UnreadableError: a row that must be archived cannot be; nothing is deleted
        """
        async with self._deleting:
            seqs = self.seqs(loop, part)
            archive = await self._archived(loop, seqs) if seqs and self._store.audit.policy()["loop"] else None
            with self._store.transaction():
                self._remove(loop, seqs, archive)
                if part.is_whole:
                    self._store.checkpoints.unmeasure(loop)
        return seqs, archive is not None

    async def replace(
        self, loop: str, seqs: Sequence[int], required: Sequence[int], summary: Summary
    ) -> tuple[Row, bool] | None:
        """Put a summary in the place of rows (CMP-020 to CMP-029). Gives its row, and whether the others were archived.

        :param required: seqs that must still be there; None is returned if one is not: somebody else was faster
        """
        async with self._deleting:
            if not self._present(loop, [*seqs, *required]):
                return None
            archive = await self._archived(loop, seqs) if seqs and self._store.audit.policy()["loop"] else None
            if not self._present(loop, [*seqs, *required]):  # pragma: no cover - the lock forbids it
                return None
            with self._store.transaction():
                self._remove(loop, seqs, archive)
                self._store.checkpoints.unmeasure(loop)
                left = self.keys(loop)
                order = min(left.values()) - 1 if left else None
                text = summary.text(archived=archive is not None)
                blocks = [{"type": "text", "text": text}]
                row = self.append(loop, "user", blocks, model=summary.model, tokens=summary.tokens, order=order)
        return row, archive is not None

    async def tear_down(self, loop: str, also: Callable[[], None]) -> int:
        """Archive a whole stream whatever the configuration says, and delete it (LOOP-103). Gives the number of rows.

        Rows that are appended meanwhile are part of it: after three attempts compression holds up everybody else.

        :param also: what else goes, in the same transaction; what it raises undoes everything
        """
        async with self._deleting:
            for attempt in range(ATTEMPTS + 1):
                seqs = self.seqs(loop)
                rows = list(self._stored(seqs))
                archive = None
                if rows:
                    archive = await asyncio.to_thread(_compressed, rows) if attempt < ATTEMPTS else _compressed(rows)
                with self._store.transaction():
                    if self.seqs(loop) == seqs:
                        self._remove(loop, seqs, archive)
                        also()
                        return len(seqs)
        raise AssertionError("unreachable")  # pragma: no cover

    async def _archived(self, loop: str, seqs: Sequence[int]) -> Archive:
        rows = list(self._stored(seqs))
        if len(rows) != len(seqs):
            raise UnreadableError(f"rows of loop {loop} cannot be read", self._store.path, "adf_loop")
        return await asyncio.to_thread(_compressed, rows)

    def _stored(self, seqs: Sequence[int]) -> Iterator[dict[str, Any]]:
        names = _ARCHIVED.split(", ")
        for chunk in _chunks(seqs):
            sql = f"SELECT {_ARCHIVED} FROM adf_loop WHERE seq IN ({_marks(chunk)})"
            found = {row[0]: row for row in self._store.connection.execute(sql, chunk)}
            yield from (dict(zip(names, found[seq], strict=True)) for seq in chunk if seq in found)

    def _remove(self, loop: str, seqs: Sequence[int], archive: Archive | None) -> None:
        if archive is not None:
            self._store.audit.put(f"loop:{loop}", archive)
        for chunk in _chunks(seqs):
            self._store.connection.execute(f"DELETE FROM adf_loop WHERE seq IN ({_marks(chunk)})", chunk)

    def _present(self, loop: str, seqs: Iterable[int]) -> bool:
        return set(seqs) <= self.keys(loop).keys()


@dataclass(frozen=True)
class Summary:
    """A summary that is about to be stored.

    :ivar body: what the summarizer wrote; :ivar footer: our words behind it
    :ivar model: of the summarizer's call, and its usage (CMP-029)
    """

    body: str
    footer: str
    model: str | None
    tokens: Mapping[str, int] | None

    def text(self, *, archived: bool) -> str:
        """Return the text of the row; the marker says what happened, not what was configured (CMP-028)."""
        marker = "[Loop Compacted, audited]" if archived else "[Loop Compacted]"
        return f"{marker} {self.body}\n\n---\n{self.footer}"


def _compressed(rows: Sequence[Mapping[str, Any]]) -> Archive:
    try:
        return archive_loop(rows)
    except (TypeError, ValueError, AttributeError) as exc:
        raise UnreadableError("a row holds what a snapshot cannot hold", place="adf_loop") from exc


def _row(seq: int, key: int, role: str, content: Any, created_at: Any, tokens: Any) -> Row:
    time = created_at if isinstance(created_at, int) else 0
    usage = _decoded(tokens)
    blocks = _decoded(content)
    sound = isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks)
    return Row(seq, key, role, blocks if sound else None, time, usage if isinstance(usage, dict) else None)


def _decoded(text: Any) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return decode_column(text).value
    except AdfError:
        return None


def _marks(chunk: Sequence[int]) -> str:
    return ", ".join("?" * len(chunk))


def _chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (seqs[start : start + CHUNK] for start in range(0, len(seqs), CHUNK))
