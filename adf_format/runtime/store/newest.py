"""The newest moment that a file knows: no virtual clock may start before it."""

from __future__ import annotations

from pathlib import Path

import apsw

from adf_format.container import open_readonly, translate

_COLUMNS = (
    ("adf_loop", "created_at"),
    ("adf_logs", "created_at"),
    ("adf_audit", "created_at"),
    ("adf_inbox", "received_at"),
    ("adf_outbox", "created_at"),
    ("adf_tasks", "created_at"),
    ("adf_timers", "created_at"),
    ("adf_timers", "last_fired_at"),
)


def newest_time(path: str | Path) -> int:
    """Return the newest time in a file, epoch ms; 0 if it holds none.

    :raises UnreadableError: the file cannot be read
    """
    newest = 0
    with open_readonly(path) as container:
        for table, column in _COLUMNS:
            try:
                found = container.connection.execute(f"SELECT max({column}) FROM {table}").get
            except apsw.Error as exc:
                raise translate(exc, Path(path), table) from exc
            newest = max(newest, found) if isinstance(found, int) else newest
    return newest
