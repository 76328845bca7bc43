"""Building the sample: as bytes, so that the same version is always the same file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import apsw

from adf_format import creation
from adf_format.sample import messages, settings, snapshots, state, story, transcript
from adf_format.sample.header import normalised
from adf_format.schemas import storage_version

PAGE_SIZE = 512  # small pages keep the corpus small
Base = Literal["fresh", "rich"]
LAST_SEQ = 21  # highest seq ever given, that of an archived row of a deleted loop
LOCAL_TABLE = "CREATE TABLE local_notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL, created_at INTEGER NOT NULL)"
LOCAL_NOTES = ((1, "Beans: 2.5 kg", story.ms(3)), (2, "Peas: 1.75 kg", story.ms(4)))


def build(path: str | Path, version: int, base: Base = "rich") -> None:
    """Write the sample of a storage version; an existing file is replaced.

    :raises UsageError: a version that is not described
    """
    Path(path).write_bytes(content(version, base))


@cache
def content(version: int, base: Base = "rich") -> bytes:
    """Return the bytes of the sample: page size 512, rollback journal, no clean-up needed."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        creation.fill(connection, _fresh(version) if base == "fresh" else _rich(version))
        if base == "rich":
            _add_local(connection)
            if version >= transcript.LOOPS_FROM:
                connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'adf_loop'", (LAST_SEQ,))
        return normalised(connection.serialize("main"))
    finally:
        connection.close()


def _fresh(version: int, config: dict[str, Any] | None = None) -> creation.Agent:
    return creation.plan(
        name="Ada",
        schema_version=version,
        config=config,
        agent_id=story.AGENT_ID,
        identity=story.keys("agent") if config else None,
        now=story.START,
    )


def _rich(version: int) -> creation.Agent:
    agent = _fresh(version, settings.changes(version))
    rows = {table: list(found) for table, found in agent.rows.items()}
    added = {
        "adf_meta": state.meta(version),
        "adf_loop": transcript.live(version),
        "adf_audit": snapshots.audit(version),
        "adf_inbox": messages.inbox(),
        "adf_outbox": messages.outbox(),
        "adf_timers": state.timers(version),
        "adf_tasks": state.tasks(),
        "adf_logs": state.logs(),
        "adf_identity": state.identity(),
        "adf_attestations": state.attestations(),
    }
    for table, more in added.items():
        if table in storage_version(version).tables:
            rows[table] = rows.get(table, []) + more
    for row in rows["adf_meta"]:
        row["value"] = "resting" if row["key"] == "status" else row["value"]
    rows["adf_files"] = _files(version, rows["adf_files"])
    return creation.Agent(version, agent.config, rows)


def _files(version: int, fresh: list[creation.Row]) -> list[creation.Row]:
    """Replace the texts of a fresh file by Ada's, and add her own files."""
    own = {
        path: creation.file_row(path, content, story.text_time(5), mime, protection)
        for path, (content, mime, protection) in story.files(version).items()
    }
    return [*({row["path"]: row for row in fresh} | own).values()]


def _add_local(connection: apsw.Connection) -> None:
    connection.execute(LOCAL_TABLE)
    connection.executemany("INSERT INTO local_notes VALUES (?, ?, ?)", LOCAL_NOTES)
