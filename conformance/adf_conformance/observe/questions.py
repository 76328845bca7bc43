"""Decoded tables for questions in SQL, so that what a case demands of a file is plain data.

| table | columns |
|---|---|
| `transcript` | `loop, pos, seq, ord, role, text, tool_uses, tool_results, content` |
| `archived` | `audit, source, loop, pos, seq, ord, role, text, content` |

`pos` counts from 0 in display order; `text` is the joined text of the text blocks; `content` the JSON of all blocks.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adf_conformance.observe.agent import AgentFile

_TRANSCRIPT = "CREATE TEMP TABLE transcript (loop, pos, seq, ord, role, text, tool_uses, tool_results, content)"
_ARCHIVED = "CREATE TEMP TABLE archived (audit, source, loop, pos, seq, ord, role, text, content)"


def prepare(connection: sqlite3.Connection, agent: AgentFile) -> None:
    """Create the decoded tables in a private copy, once."""
    known = "SELECT count(*) FROM temp.sqlite_master WHERE name IN ('transcript', 'archived')"
    if connection.execute(known).fetchone()[0]:
        return
    connection.execute(_TRANSCRIPT)
    connection.execute(_ARCHIVED)
    for loop in agent.loops:
        for pos, entry in enumerate(agent.transcript(loop)):
            counts = (len(entry.tool_uses), len(entry.tool_results))
            told = (loop, pos, entry.seq, entry.ord, entry.role, _safe(entry.text), *counts, json.dumps(entry.blocks))
            connection.execute("INSERT INTO transcript VALUES (?,?,?,?,?,?,?,?,?)", told)
    for snapshot in agent.snapshots:
        for pos, entry in enumerate(snapshot.entries):
            known_as = (snapshot.id, snapshot.source, snapshot.loop, pos)
            row = (*known_as, entry.seq, entry.ord, entry.role, _safe(entry.text), json.dumps(entry.blocks))
            connection.execute("INSERT INTO archived VALUES (?,?,?,?,?,?,?,?,?)", row)


def _safe(text: str) -> str:
    """SQLite takes no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
