"""Writing a new agent into a file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import apsw

from adf_format import container
from adf_format.config.fresh import Config
from adf_format.creation.agent import Agent, plan
from adf_format.creation.inserts import insert
from adf_format.identity import Identity
from adf_format.schemas import LATEST, ddl, storage_version


def new(
    path: str | Path,
    *,
    name: str,
    schema_version: int = LATEST,
    config: Config | None = None,
    handle: str | None = None,
    agent_id: str | None = None,
    identity: Identity | None = None,
    now: datetime | None = None,
) -> Agent:
    """Make a new agent in a new file, which appears complete or not at all; parameters as in `plan`.

    :raises UsageError: the path exists, or an argument that the format forbids
    :raises UnreadableError: the system or SQLite refused
    """
    agent = plan(
        name=name,
        schema_version=schema_version,
        config=config,
        handle=handle,
        agent_id=agent_id,
        identity=identity,
        now=now,
    )
    write(path, agent)
    return agent


def write(path: str | Path, agent: Agent) -> None:
    """Write an agent that was planned into a new file, which appears complete or not at all; errors as in `new`."""
    container.create(path, lambda connection: fill(connection, agent))


def fill(connection: apsw.Connection, agent: Agent) -> None:
    """Create every table and index in an empty database and write the agent into it, in one transaction."""
    tables = storage_version(agent.version).tables
    with connection:
        for statement in ddl(agent.version):
            connection.execute(statement)
        for table, rows in agent.rows.items():
            for row in rows:
                insert(connection, tables[table], row)
