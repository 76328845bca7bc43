"""A statement that runs beside the work of the caller, in a thread and on a connection of its own."""

from __future__ import annotations

from threading import Thread
from typing import Any

import apsw


class Beside:
    """One statement that is running; `rows()` waits for it, `close()` gives it up.

    SQLite needs no Python while it works, so a long check and the caller's own scan do not wait for each other.
    """

    def __init__(self, connection: apsw.Connection, sql: str) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, args=(sql,), name="beside", daemon=True)
        self._thread.start()

    def _run(self, sql: str) -> None:
        try:
            self._rows = self._connection.execute(sql).fetchall()
        except Exception as error:  # noqa: BLE001 - it is raised where the rows are asked for
            self._error = error

    def rows(self) -> list[Any]:
        """Return the rows of the statement.

        :raises apsw.Error, LimitError: what the statement raised
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._rows

    def close(self) -> None:
        """Interrupt the statement if it still runs, and close its connection."""
        while self._thread.is_alive():  # an interrupt before the statement has begun is lost
            self._connection.interrupt()
            self._thread.join(0.02)
        self._connection.close()
