"""`adf_logs`: what the operator may want to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

_INSERT = (
    "INSERT INTO adf_logs (level, origin, event, target, message, data, created_at, loop)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Logs:
    """Rows, newest last."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(
        self,
        level: str,
        event: str,
        message: str,
        *,
        origin: str = "runtime",
        target: str | None = None,
        data: Any = None,
        loop: str | None = None,
    ) -> int:
        """Write a row and return its id.

        :param loop: on whose behalf; NULL is stored for `main` (LOOP-125)
        """
        text = None if not data else javascript_json(data)
        stored = None if loop in (None, "main") else loop
        self._store.connection.execute(
            _INSERT, (level, origin, event, target, message, text, self._store.now(), stored)
        )
        return self._store.connection.last_insert_rowid()

    def prune(self, most: int | None) -> None:
        """Keep the newest rows only; None keeps all."""
        if most is not None:
            sql = "DELETE FROM adf_logs WHERE id <= (SELECT max(id) FROM adf_logs) - ?"
            self._store.connection.execute(sql, (most,))
