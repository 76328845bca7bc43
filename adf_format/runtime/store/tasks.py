"""`adf_tasks`: calls that wait for the owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from adf_format.audit import javascript_json
from adf_format.creation.agent import new_id

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

Ended = Literal["completed", "failed", "denied", "cancelled"]
_INSERT = (
    "INSERT INTO adf_tasks"
    " (id, tool, args, status, created_at, origin, requires_authorization, executor_managed, approval_meta, loop)"
    " VALUES (?, ?, ?, 'pending_approval', ?, ?, 0, 1, ?, ?)"
)


class Tasks:
    """Tasks by id."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ask(self, call: str, tool: str, given: Mapping[str, Any], approval: Mapping[str, Any], loop: str) -> str:
        """Add a task that waits for the owner's word, and return its id.

        :param call: id of the `tool_use` block
        :param approval: why it waits (`approval_meta`)
        :param loop: NULL is stored for `main` (LOOP-125)
        """
        task = f"task_{new_id()}"
        texts = (javascript_json(dict(given), exact=True), self._store.now(), f"hil:{tool}:{call}")
        stored = None if loop == "main" else loop
        self._store.connection.execute(_INSERT, (task, tool, *texts, javascript_json(dict(approval)), stored))
        return task

    def run(self, task: str) -> None:
        """The owner has approved: the call runs."""
        self._store.connection.execute("UPDATE adf_tasks SET status = 'running' WHERE id = ?", (task,))

    def end(self, task: str, status: Ended, *, result: str | None = None, error: str | None = None) -> None:
        """The task has come to its end."""
        sql = "UPDATE adf_tasks SET status = ?, result = ?, error = ?, completed_at = ? WHERE id = ?"
        self._store.connection.execute(sql, (status, result, error, self._store.now(), task))

    def sweep(self) -> int:
        """After a start: what ran has failed, what waited for a prompt that is gone is cancelled. Gives how many."""
        sql = (
            "UPDATE adf_tasks SET completed_at = ?, error = 'the runtime stopped meanwhile',"
            " status = CASE status WHEN 'running' THEN 'failed' ELSE 'cancelled' END"
            " WHERE status = 'running' OR (status = 'pending_approval' AND executor_managed = 1)"
        )
        self._store.connection.execute(sql, (self._store.now(),))
        return self._store.connection.changes()
