"""`adf_inbox` and `adf_outbox`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from adf_format.creation.inserts import insert
from adf_format.schemas import LATEST, storage_version

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

Box = Literal["inbox", "outbox"]
FILTERS: Mapping[Box, Mapping[str, str]] = {
    "inbox": {
        "ids": '"id"',
        "message_id": "message_id = ?",
        "status": "status = ?",
        "from": '"from" = ?',
        "source": "source = ?",
        "before": "received_at < ?",
        "thread_id": "thread_id = ?",
    },
    "outbox": {
        "ids": '"id"',
        "status": "status = ?",
        "to": '"to" = ?',
        "before": "created_at < ?",
        "thread_id": "thread_id = ?",
    },
}
"""What rows can be chosen by, with its SQL (AUD-038)."""
_TIME: Mapping[Box, str] = {"inbox": "received_at", "outbox": "created_at"}


class Messages:
    """Rows of both boxes, as dictionaries by column name."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, box: Box, row: Mapping[str, Any]) -> None:
        """Insert a row; objects and arrays become JSON text."""
        insert(self._store.connection, storage_version(LATEST).tables[f"adf_{box}"], row)

    def find(
        self, box: Box, wanted: Mapping[str, Any], *, limit: int = -1, offset: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Return rows, newest first, and how many there are in all.

        :param wanted: by the names of `FILTERS`; an empty one means all
        """
        where, bindings = _where(box, wanted)
        connection = self._store.connection
        total = int(connection.execute(f"SELECT count(*) FROM adf_{box}{where}", bindings).get)
        order = f" ORDER BY {_TIME[box]} DESC, rowid DESC LIMIT ? OFFSET ?"
        found = connection.execute(f"SELECT * FROM adf_{box}{where}{order}", (*bindings, limit, offset))
        names = [column[0] for column in found.get_description()] if total > offset else []
        return [dict(zip(names, row, strict=True)) for row in found], total

    def mark(self, ids: Sequence[str], status: str) -> int:
        """Set the status of received messages; gives how many there were."""
        where, bindings = _where("inbox", {"ids": ids})
        self._store.connection.execute(f"UPDATE adf_inbox SET status = ?{where}", (status, *bindings))
        return self._store.connection.changes()

    def delete(self, box: Box, wanted: Mapping[str, Any]) -> int:
        """Delete rows, without an audit row (AUD-037); gives how many. An empty filter means all."""
        where, bindings = _where(box, wanted)
        self._store.connection.execute(f"DELETE FROM adf_{box}{where}", bindings)
        return self._store.connection.changes()


def _where(box: Box, wanted: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    terms, bindings = list[str](), list[Any]()
    for key, value in wanted.items():
        sql = FILTERS[box][key]
        if key == "ids":
            terms.append(f"{sql} IN ({', '.join('?' * len(value))})")
            bindings.extend(value)
        else:
            terms.append(sql)
            bindings.append(value)
    return (f" WHERE {' AND '.join(terms)}" if terms else ""), tuple(bindings)
