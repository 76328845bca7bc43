"""A driver of the toolkit itself: reader, validator and migrator over the library `adf_format`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import apsw

from adf_format import __version__, migration
from adf_format.container import open_readonly
from adf_format.errors import AdfError
from adf_format.history import Reading, resolve, snapshots
from adf_format.history.live import Live
from adf_format.history.snapshots import file_of
from adf_format.schemas import LATEST, OLDEST
from adf_format.validation.engine import validate_file

Params = dict[str, Any]
CAPABILITIES = ["reader", "validator", "migrator"]


class Refused(Exception):  # noqa: N818
    """The request is answered with an error."""


def initialize(params: Params) -> Params:
    offered = params["protocol"]
    if not offered["min"] <= 1 <= offered["max"]:
        raise Refused(-32001, "no common protocol")
    storage = {"min": OLDEST, "max": LATEST}
    told = {"protocol": 1, "name": "adf-format", "version": __version__, "language": "python", "storage": storage}
    return {**told, "capabilities": CAPABILITIES}


def validate(params: Params) -> Params:
    report = validate_file(params["path"])
    findings = [{"rule": one.rule, "severity": str(one.severity), "message": one.message} for one in report.findings]
    if report.error:
        findings.append({"severity": "error", "message": str(report.error)})
    return {"valid": report.valid, "findings": findings}


def migrate(params: Params) -> Params:
    outcome = migration.migrate(params["path"], migration.Order(target=params.get("to", LATEST)))
    return {"from": outcome.source, "to": outcome.target, "backup": str(outcome.backup) if outcome.backup else None}


def audit_read(params: Params) -> Params:
    with open_readonly(params["path"]) as container:
        row = next((row for row in snapshots(container) if row.id == params["id"]), None)
        if row is None:
            raise Refused(-32000, f"no snapshot {params['id']}")
        reading = Reading(container, row)
        entries = [value for _, value in reading]
        if reading.problems:
            raise Refused(-32000, reading.problems[0].message)
        return {"entries": entries}


def audit_resolve(params: Params) -> Params:
    with open_readonly(params["path"]) as container:
        found = resolve(container, params["loop"], params["seq"])
        if not found.found:
            return {"where": "missing"}
        place = found.places[0]
        return {"where": "loop" if place.audit_id is None else "audit", "entry": _entry(place)}


def transcript(params: Params) -> Params:
    with open_readonly(params["path"]) as container:
        return {"entries": [_entry(place) for place in Live(file_of(container)).displayed(params["loop"])]}


def _entry(place: Any) -> Params:
    entry = place.entry
    told = {"seq": entry.seq, "role": entry.role, "content_json": entry.content, "created_at": entry.created_at}
    return {**told, "model": entry.model, "tokens": entry.tokens, "ord": entry.ord}


METHODS: dict[str, Callable[[Params], Params]] = {
    "initialize": initialize,
    "file/validate": validate,
    "file/migrate": migrate,
    "audit/read": audit_read,
    "audit/resolve": audit_resolve,
    "transcript/read": transcript,
    "shutdown": lambda _: {},
}


def answer(message: Params) -> Params:
    """Answer one request."""
    method = METHODS.get(message["method"])
    try:
        if method is None:
            raise Refused(-32601, f"no method {message['method']}")
        return {"result": method(message["params"])}
    except Refused as refusal:
        return {"error": {"code": refusal.args[0], "message": refusal.args[1]}}
    except (AdfError, apsw.Error) as error:
        return {"error": {"code": -32000, "message": str(error)}}


def main() -> None:
    """Serve requests until the end."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}) + "\n")
            sys.stdout.flush()
        if message.get("method") == "shutdown":
            return


if __name__ == "__main__":
    main()
