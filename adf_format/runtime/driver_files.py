"""Methods of the driver that need no agent: one file is judged, migrated or read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from adf_format import history, migration
from adf_format.container import open_readonly
from adf_format.loops import MAIN
from adf_format.runtime.jsonrpc import FAILED, RpcError
from adf_format.schemas import LATEST
from adf_format.validation.engine import validate_file

Params = dict[str, Any]
Method = Callable[[Params], Awaitable[Params]]


async def validate(params: Params) -> Params:
    """Judge a file."""
    report = await asyncio.to_thread(validate_file, params["path"])
    findings = [finding.as_json() for finding in report.findings]
    if report.error is not None:
        findings.append({"severity": "error", "message": report.error})
    return {"valid": report.valid, "findings": findings}


async def migrate(params: Params) -> Params:
    """Bring a file to a newer version."""
    order = migration.Order(params.get("to", LATEST))
    outcome = await asyncio.to_thread(migration.migrate, params["path"], order)
    backup = None if outcome.backup is None else str(outcome.backup)
    return {"from": outcome.source, "to": outcome.target, "backup": backup}


async def read_audit(params: Params) -> Params:
    """Decode one snapshot; a damaged one is an error, not a part."""
    with open_readonly(params["path"]) as container:
        row = next((row for row in history.snapshots(container) if row.id == params["id"]), None)
        if row is None:
            raise RpcError(FAILED, f"there is no snapshot {params['id']}")
        reading = history.Reading(container, row)
        entries = [value for _, value in reading]
        if reading.problems:
            raise RpcError(FAILED, reading.problems[0].message)
    return {"entries": entries}


async def resolve(params: Params) -> Params:
    """Say where a row is."""
    with open_readonly(params["path"]) as container:
        places = history.resolve(container, params.get("loop", MAIN), params["seq"]).places
    if not places:
        return {"where": "missing"}
    return {"where": "loop" if places[0].audit_id is None else "audit", "entry": _entry(places[0])}


async def read_transcript(params: Params) -> Params:
    """Return the live rows of a loop in display order."""
    with open_readonly(params["path"]) as container:
        items = history.transcript(container, params.get("loop", MAIN))
        return {"entries": [_entry(item.place) for item in items if isinstance(item, history.Item)]}


FILE_METHODS: dict[str, Method] = {
    "file/validate": validate,
    "file/migrate": migrate,
    "audit/read": read_audit,
    "audit/resolve": resolve,
    "transcript/read": read_transcript,
}


def _entry(place: history.Place) -> Params:
    entry = place.entry
    told = {"model": entry.model, "tokens": entry.tokens, "created_at": entry.created_at, "ord": entry.ord}
    shown = {key: value for key, value in told.items() if value is not None}
    return {"seq": entry.seq, "role": entry.role, "content_json": entry.content, **shown}
