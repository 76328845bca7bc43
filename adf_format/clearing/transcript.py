"""Clearing the transcript of one loop, or a slice of it (LCL, CLS-001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adf_format.clearing.archive import Archive, archive_loop
from adf_format.clearing.policy import read_config
from adf_format.clearing.result import Cleared
from adf_format.clearing.slices import Slice
from adf_format.clearing.state import LOOPS_FROM, RANGES_FROM, UNARCHIVED, State, period, unknown_loop
from adf_format.config.loops import declared
from adf_format.errors import JsonTextError, UnreadableError
from adf_format.schemas import storage_version

MAIN = "main"
BASELINE = "context_baseline_tokens"
CHUNK = 500
WHOLE = Slice()
_ORDERS = (int, type(None))
_STREAMS = "SELECT DISTINCT loop FROM adf_loop WHERE typeof(loop) = 'text'"
_NOT_ARCHIVED = "audit of the loop is off"


@dataclass(frozen=True)
class Selection:
    """The rows that are to go.

    :ivar seqs: in display order
    """

    state: State
    loop: str
    slice: Slice
    seqs: tuple[int, ...]


def select(state: State, loop: str = MAIN, part: Slice = WHOLE) -> Selection:
    """Find the rows of a slice, in display order.

    :raises UsageError: there is no such loop
    :raises UnreadableError: the table has not the columns of its version
    """
    state.require("adf_loop", *_known(state) - {"model", "tokens"})
    if loop != MAIN and loop not in loops(state):
        raise unknown_loop(loop, loops(state))
    where, bindings = _where(state, loop)
    order = "COALESCE(ord, seq), seq" if state.version >= RANGES_FROM else "seq"
    seqs = [seq for (seq,) in state.connection.execute(f"SELECT seq FROM adf_loop{where} ORDER BY {order}", bindings)]
    chosen = part.positions(len(seqs))
    return Selection(state, loop, part, tuple(seqs[chosen.start : chosen.stop]))


def loops(state: State) -> frozenset[str]:
    """Return the names of loops: `main`, those that are declared, and those that have rows."""
    if state.version < LOOPS_FROM:
        return frozenset({MAIN})
    found = {
        name for (name,) in state.connection.execute("SELECT DISTINCT loop FROM adf_loop") if isinstance(name, str)
    }
    return frozenset({MAIN, *found, *(name for _, name, _ in declared(read_config(state.connection)))})


def plan(selection: Selection, *, force: bool = False) -> Cleared:
    """Say what clearing a selection would do.

    :param force: archive whatever the configuration says
    """
    seqs = selection.seqs
    if not seqs:
        return Cleared("loop", selection.loop, 0, reason="no row is selected")
    archived = force or selection.state.archived["loop"]
    reason = None if archived else _NOT_ARCHIVED
    return Cleared("loop", selection.loop, len(seqs), archived, None, min(seqs), max(seqs), reason=reason)


def clear(selection: Selection, *, force: bool = False) -> tuple[Cleared, Archive | None]:
    """Archive the rows of a selection as the configuration says, and delete them; inside a transaction.

    :raises JsonTextError: a row that must be archived has no readable content (AUD-035)
    :raises PolicyError: nobody can tell whether it must be archived
    """
    planned = plan(selection, force=force)
    snapshot = None
    if planned.archived:
        snapshot, times = _snapshot(selection)
        audit_id = selection.state.archive(_source(selection), snapshot, times)
        planned = replace(planned, audit_id=audit_id, size_bytes=snapshot.size_bytes)
    _delete(selection)
    return planned, snapshot


def _known(state: State) -> frozenset[str]:
    return frozenset(storage_version(state.version).tables["adf_loop"].column)


def _where(state: State, loop: str) -> tuple[str, tuple[str, ...]]:
    return (" WHERE loop = ?", (loop,)) if state.version >= LOOPS_FROM else ("", ())


def _source(selection: Selection) -> str:
    """Name the source; `loop` below 29, where there is one transcript (AMB-1)."""
    return f"loop:{selection.loop}" if selection.state.version >= LOOPS_FROM else "loop"


def _snapshot(selection: Selection) -> tuple[Archive, tuple[int, int]]:
    try:
        snapshot = archive_loop(_rows(selection))
    except JsonTextError as error:
        error.hint = UNARCHIVED
        raise
    except (TypeError, UnicodeDecodeError) as exc:
        raise UnreadableError("a row holds what a snapshot cannot hold", place="adf_loop", hint=UNARCHIVED) from exc
    if snapshot.entry_count != len(selection.seqs):
        raise UnreadableError("the transcript cannot be read as a whole", place="adf_loop")
    query = "SELECT created_at FROM adf_loop WHERE seq = ?"
    ends = (snapshot.start_seq, snapshot.end_seq)
    return snapshot, period(selection.state.connection.execute(query, (seq,)).get for seq in ends)


def _rows(selection: Selection) -> Iterator[dict[str, Any]]:
    names = sorted(_known(selection.state) & selection.state.columns("adf_loop"))
    quoted = ", ".join(f'"{name}"' for name in names)
    content, order = names.index("content_json"), names.index("ord") if "ord" in names else None
    for chunk in _chunks(selection.seqs):
        query = f"SELECT seq, {quoted} FROM adf_loop WHERE seq IN ({_marks(chunk)})"
        found = {row[0]: row[1:] for row in selection.state.connection.execute(query, chunk)}
        for seq in chunk:
            row = found.get(seq)
            if row is None:
                continue
            if type(row[content]) is not str or (order is not None and type(row[order]) not in _ORDERS):
                raise TypeError
            yield dict(zip(names, row, strict=True))


def _delete(selection: Selection) -> None:
    connection = selection.state.connection
    deleted = 0
    if connection.execute("SELECT count(*) FROM adf_loop").get == len(selection.seqs):
        connection.execute("DELETE FROM adf_loop")  # SQLite drops the pages without a look at each
        deleted = connection.changes()
    else:
        for chunk in _chunks(selection.seqs):
            connection.execute(f"DELETE FROM adf_loop WHERE seq IN ({_marks(chunk)})", chunk)
            deleted += connection.changes()
    if deleted != len(selection.seqs):
        raise UnreadableError(f"{deleted} rows were deleted instead of {len(selection.seqs)}", place="adf_loop")
    if selection.slice.is_whole and selection.state.version >= RANGES_FROM:
        key = BASELINE if selection.loop == MAIN else f"{BASELINE}:{selection.loop}"
        connection.execute("DELETE FROM adf_meta WHERE key = ?", (key,))


def _marks(chunk: Sequence[int]) -> str:
    return ", ".join("?" * len(chunk))


def _chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (seqs[start : start + CHUNK] for start in range(0, len(seqs), CHUNK))
