"""An agent whose mind is tended by a loop on a timer, and the model that plays it: an example of memory upkeep.

Fern keeps notes on a garden. Her index lacks a page, her log does not know of it. Every hour the loop `gardener` reads
the index, adds the line and one `lint` entry to the log (MEM-143, MEM-170). The script is one for `--model scripted:`.
"""

from __future__ import annotations

from typing import Any

import apsw

from adf_format import creation
from adf_format.creation.agent import file_row
from adf_format.sample.build import PAGE_SIZE
from adf_format.sample.header import normalised
from adf_format.sample.story import START, ms, text_time
from adf_format.schemas import LATEST

HOUR_MS = 3_600_000
LOOP = "gardener"
GOAL = (
    "Tend the mind: every page under mind/ has one line in the index, every line leads to a page, and each pass leaves"
    " one `lint` entry on top of mind/log.md. Change nothing else."
)
INDEX = """\
# Mind

## Always

- Principal: Grace; she waters on Mondays and wants to know about frost a day ahead.

## Pages

- [Beds](adf-file://mind/beds.md) — what grows where this year
"""
MISSING = "- [Frost](adf-file://mind/frost.md) — what to cover, and from which temperature\n"
LOG = """\
# Mind Log

## [2026-01-01] ingest | Beds

What Grace said when we walked through the garden.
"""
LINTED = "## [2026-01-01] lint | One page was not in the index\n\nAdded a line for Frost.\n\n"
PAGES = {
    "mind/beds.md": (
        "---\ntype: reference\ndescription: what grows where this year\n---\n# Beds\n\n- 1: beans\n- 2: peas\n"
    ),
    "mind/frost.md": (
        "---\ntype: procedure\ndescription: what to cover, and from which temperature\nstale_after: 2026-12-01\n---\n"
        "# Frost\n\n- below 2 degrees: the lemon tree\n- below -3 degrees: the beans\n"
    ),
}


def content() -> bytes:
    """Return the bytes of the agent: always the same."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        creation.fill(connection, _agent())
        return normalised(connection.serialize("main"))
    finally:
        connection.close()


def script() -> dict[str, Any]:
    """Return the replies of the model that plays the gardener once, and the one of main."""
    log = LOG.replace("# Mind Log\n\n", f"# Mind Log\n\n{LINTED}")
    steps: list[dict[str, Any]] = [
        {"text": "First the index, the pages and the log.", "calls": [_read("mind.md"), _read("mind/log.md"), _list()]},
        {"text": "The page on frost has no line.", "calls": [_write("mind.md", INDEX + MISSING)]},
        {"calls": [_write("mind/log.md", log)]},
        {"text": "The index and the pages agree again."},
    ]
    replies = [{"loop": LOOP, **step} for step in steps]
    said = {"loop": "main", "text": "Nothing to do before Monday.", "repeat": True}
    return {"$schema": "urn:adf-format:runtime:model-script:1", "replies": [*replies, said]}


def _agent() -> creation.Agent:
    tools = ["fs_read", "fs_write", "fs_list"]
    loop = {"name": LOOP, "goal": GOAL, "enabled": True, "autostart": True, "tools": tools}
    agent = creation.plan(
        name="Fern",
        schema_version=LATEST,
        config={
            "description": "Keeps notes on a garden; a loop tends them.",
            "instructions": "You are Fern. You keep notes on the garden.",
            "loops": [loop],
        },
        agent_id="fernGarden01",
        now=START,
    )
    texts = {"mind.md": INDEX, "mind/log.md": LOG, **PAGES}
    kept = [row for row in agent.rows["adf_files"] if row["path"] not in texts]
    made = [
        file_row(
            path, text.encode(), text_time(5), protection="no_delete" if path in ("mind.md", "mind/log.md") else "none"
        )
        for path, text in texts.items()
    ]
    hourly = {"mode": "interval", "every_ms": HOUR_MS, "start_at": ms(HOUR_MS // 1000)}
    timer: creation.Row = {"id": 1, "schedule_json": hourly, "next_wake_at": hourly["start_at"], "scope": ["agent"]}
    timer |= {"loop": LOOP, "payload": "Tend the mind.", "created_at": ms(1)}
    rows = {**agent.rows, "adf_files": [*kept, *made], "adf_timers": [timer]}
    return creation.Agent(agent.version, agent.config, rows)


def _read(path: str) -> dict[str, Any]:
    return {"name": "fs_read", "input": {"path": path}}


def _list() -> dict[str, Any]:
    return {"name": "fs_list", "input": {"prefix": "mind/"}}


def _write(path: str, text: str) -> dict[str, Any]:
    return {"name": "fs_write", "input": {"path": path, "content": text}}
