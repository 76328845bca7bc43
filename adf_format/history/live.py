"""Live rows as entries: read one by one, so that one broken value hides nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from adf_format import rows
from adf_format.audit import LoopEntry
from adf_format.errors import JsonTextError
from adf_format.history.model import MAIN, Place
from adf_format.inspection.file import File
from adf_format.jsontext import decode

_COLUMNS = ("role", "content_json", "model", "tokens", "created_at", "ord", "loop")


class Live:
    """The table `adf_loop` of a file; it may be missing, or lack columns."""

    def __init__(self, file: File) -> None:
        self._file = file
        table = file.structure.tables.get("adf_loop")
        self.exists = file.has("adf_loop", "seq")
        self._names = [name for name in _COLUMNS if table is not None and name in table.columns]
        self._fields = ", ".join(f'"{name}"' for name in self._names)
        self._loop = "CAST(loop AS TEXT)" if "loop" in self._names else "'main'"
        self._key = "COALESCE(ord, seq)" if "ord" in self._names else "seq"

    def get(self, seq: int, loop: str | None = None) -> Place | None:
        """Return one row, of any loop or of a given one; None if there is none."""
        return next(self.between(seq, seq, loop), None) if self.exists and abs(seq) < 2**63 else None

    def between(self, start: int, end: int, loop: str | None = None) -> Iterator[Place]:
        """Yield rows by seq."""
        where, bindings = "seq BETWEEN ? AND ?", [start, end]
        for (seq,) in self._file.connection.execute(f"SELECT seq FROM adf_loop WHERE {where} ORDER BY seq", bindings):
            place = self._row(seq)
            if loop is None or place.loop == loop:
                yield place

    def displayed(self, loop: str, last: int | None = None) -> Iterator[Place]:
        """Yield the rows of a loop in display order (STO-032), all of them or the last few."""
        if not self.exists:
            return
        query = f"SELECT seq FROM adf_loop WHERE {self._loop} = ? ORDER BY {self._key}, seq"
        if last is not None:
            query = (
                f"SELECT seq FROM (SELECT seq, {self._key} AS place FROM adf_loop WHERE {self._loop} = ?"
                f" ORDER BY place DESC, seq DESC LIMIT {last:d}) ORDER BY place, seq"
            )
        for (seq,) in self._file.connection.execute(query, (loop,)):
            yield self._row(seq)

    def _row(self, seq: int) -> Place:
        try:
            found = self._file.connection.execute(
                f"SELECT {self._fields} FROM adf_loop WHERE seq = ?", (seq,)
            ).fetchone()
            values = dict(zip(self._names, found or (), strict=bool(found)))
        except (UnicodeDecodeError, apsw.TooBigError):
            values = {name: rows.value(self._file.connection, "adf_loop", name, seq) for name in self._names}
        content, problem = _content(values.get("content_json"))
        model, time, order = values.get("model"), values.get("created_at"), values.get("ord")
        loop = values.get("loop", MAIN)
        entry = LoopEntry(
            seq=seq,
            role=_text(values.get("role")),
            content=content,
            model=model if isinstance(model, str) else None,
            tokens=_usage(values.get("tokens")),
            created_at=time if type(time) is int else None,
            ord=order if type(order) is int else None,
        )
        return Place(entry, _text(loop), problem=problem)


def loop_of_each_row(file: File) -> Iterator[tuple[int, str]]:
    """Yield `(seq, loop)` of all live rows by seq; a name that is no text is `?`."""
    if not file.has("adf_loop", "loop"):
        query = "SELECT seq, 'main' FROM adf_loop WHERE typeof(seq) = 'integer' ORDER BY seq"
        yield from file.connection.execute(query)
        return
    for seq, loop in rows.scan(file.connection, "adf_loop", ("loop",)):
        yield seq, loop if isinstance(loop, str) else "?"


def _content(stored: Any) -> tuple[Any, str | None]:
    if not isinstance(stored, str):
        return None, f"content_json cannot be read ({type(stored).__name__})"
    try:
        return decode(stored).value, None
    except JsonTextError as error:
        return stored, f"content_json is not JSON: {error.message}"


def _usage(stored: Any) -> Any:
    """Return a usage record: an object, or a bare number as in old files (STO-036)."""
    if isinstance(stored, str):
        try:
            stored = decode(stored).value
        except JsonTextError:
            return None
    is_number = isinstance(stored, (int, float)) and not isinstance(stored, bool)
    return stored if isinstance(stored, dict) or is_number else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "?"
