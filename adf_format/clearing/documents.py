"""Emptying a file of the agent: its working memory, or its document (CLS-003, CLS-004)."""

from __future__ import annotations

from datetime import UTC, datetime

from adf_format.clearing.result import Cleared
from adf_format.clearing.state import State
from adf_format.creation.agent import iso

MIND = "mind.md"
_NEVER = "the format archives no file that is emptied"


def primary(state: State) -> str:
    """Return the path of the agent's document; it was renamed with version 22 (MIG-028)."""
    return "document.md" if state.version < 22 else "README.md"


def plan(state: State, what: str, path: str) -> Cleared:
    """Say what emptying a file would do."""
    state.require("adf_files", "path", "content", "size", "updated_at")
    size = state.connection.execute("SELECT octet_length(content) FROM adf_files WHERE path = ?", (path,)).get
    if size is None:
        return Cleared(what, path, 0, reason="there is no such file")
    if size == 0:
        return Cleared(what, path, 0, reason="the file is empty already")
    return Cleared(what, path, 1, size_bytes=size, reason=_NEVER)


def clear(state: State, what: str, path: str) -> Cleared:
    """Empty a file; its protection and everything else of it stay. Inside a transaction."""
    planned = plan(state, what, path)
    if planned.entries:
        update = "UPDATE adf_files SET content = x'', size = 0, updated_at = ? WHERE path = ?"
        state.connection.execute(update, (iso(datetime.now(UTC)), path))
    return planned
