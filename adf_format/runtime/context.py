"""The live context of one loop: its session, kept in step with the rows of its stream.

Whatever appends to a stream does it here: the row first, then what the model will see of it. A loop that has not run
yet has no session; the rows supply it when its first turn begins (LOOP-072, LOOP-160).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from adf_format.memory.injection import Snapshot
from adf_format.runtime.core.content import Blocks, text_block
from adf_format.runtime.core.session import Entry, Session
from adf_format.runtime.store import Row, Store


class Abandoned(Exception):  # noqa: N818
    """The loop of this turn is gone; nothing of it may be written any more (LOOP-102)."""


class Context:
    """Rows in, session out.

    :ivar closed: nothing may be appended any more by a turn
    :ivar size: tokens of the context, None until somebody asked (CMP-002)
    """

    def __init__(self, store: Store, loop: str, shown: Callable[[str, Row], None]) -> None:
        self.store = store
        self.loop = loop
        self.closed = False
        self.size: int | None = None
        self._shown = shown
        self._session: Session | None = None
        self._early: list[Entry] = []
        self._held: set[int] = set()
        self._files: Snapshot | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the stream was read."""
        return self._session is not None

    def session(self) -> Session:
        """Return the session, read from the stream if need be."""
        if self._session is None:
            rows = self.store.transcript.rows(self.loop)
            session = Session.restored(_entry(row) for row in rows if row.blocks is not None)
            held = [replace(entry, held=True) for entry in session.entries if entry.seq in self._held]
            session.entries = [entry for entry in session.entries if entry.seq not in self._held]
            session.waiting = sorted([*session.waiting, *held, *self._early], key=lambda entry: entry.seq)
            session.unread -= self._held
            self._session, self._early = session, []
        return self._session

    def files(self) -> Snapshot:
        """Return what the files held when the prompt first asked for them (MEM-153)."""
        if self._files is None:
            self._files = Snapshot(self._read)
        return self._files

    def append(
        self,
        role: str,
        blocks: Blocks,
        *,
        read: bool = False,
        shown: bool = True,
        model: str | None = None,
        tokens: Mapping[str, int] | None = None,
    ) -> Row:
        """Append a row of the running turn.

        :param read: the model need not be asked about it
        :param shown: part of what the model sees; context rows are not
        :raises Abandoned: the loop is gone
        """
        if self.closed:
            raise Abandoned(self.loop)
        row = self.store.transcript.append(self.loop, role, blocks, model=model, tokens=tokens)
        if shown:
            self.session().add(_entry(row), read=read)
        self._shown(self.loop, row)
        return row

    def say(self, text: str) -> Row:
        """Append a user's row of one text."""
        return self.append("user", [text_block(text)])

    def record(self, text: str) -> Row:
        """Append a `[Context: ...]` row: a record of what was sent, which is not sent again."""
        return self.append("user", [text_block(text)], shown=False)

    def arrive(self, text: str, *, held: bool = False, key: str | None = None, injected: bool = False) -> Row:
        """Append a row that comes from elsewhere, at any moment, and let the model see it at its next request.

        :param held: only once it is released
        :param injected: a context row; it is not supplied again by the stream, unless it has a key
        """
        row = self.store.transcript.append(self.loop, "user", [text_block(text)])
        entry = replace(_entry(row), key=key, held=held)
        if held:
            self._held.add(row.seq)
        if self._session is not None:
            self._session.wait(entry)
        elif injected and key is None:
            self._early.append(entry)
        self._shown(self.loop, row)
        return row

    def release(self, seq: int | None = None) -> None:
        """Let the model see a held row; all of them if none is named."""
        if seq is None:
            self._held.clear()
        self._held.discard(-1 if seq is None else seq)
        if self._session is not None:
            self._session.release(seq)

    def forget(self, seqs: Collection[int]) -> None:
        """Rows are gone (CMP-054)."""
        self._early = [entry for entry in self._early if entry.seq not in seqs]
        self._files = None
        self.size = None
        if self._session is not None:
            self._session.forget(seqs)

    def summarized(self, summary: Row, seqs: Collection[int]) -> None:
        """A summary has taken the place of rows."""
        self.forget(seqs)
        if self._session is not None:
            self._session.summarized(_entry(summary), seqs)
        self._shown(self.loop, summary)

    def drop(self) -> None:
        """Let go of the history in memory; the rows supply it again, but for what only memory knows (LOOP-267)."""
        self._early = self.undelivered()
        self._session = self._files = None
        self.size = None

    def undelivered(self) -> list[Entry]:
        """Return the injections that wait and that no row supplies again: those without a key."""
        waiting = self._session.waiting if self._session is not None else ()
        return [*self._early, *(entry for entry in waiting if _is_context(entry) and entry.key is None)]

    def inherit(self, entries: Sequence[Entry]) -> None:
        """Take over what waited for an earlier executor of the same loop."""
        self._early += entries

    def _read(self, path: str) -> bytes | None:
        content = self.store.connection.execute("SELECT content FROM adf_files WHERE path = ?", (path,)).get
        return content.encode("utf-8", "replace") if isinstance(content, str) else content


def _entry(row: Row) -> Entry:
    return Entry(row.seq, row.role, row.blocks or (), row.created_at)


def _is_context(entry: Entry) -> bool:
    text = entry.blocks[0].get("text") if entry.blocks else None
    return isinstance(text, str) and text.startswith("[Context: ")
