"""Everything else that Ada's file holds: meta keys, timers, tasks, logs, identity, attestations."""

from __future__ import annotations

import base64
from typing import Any

from adf_format.audit import javascript_json
from adf_format.sample.story import did, keys, ms, opaque, text_time
from adf_format.schemas.metakeys import find

Row = dict[str, Any]
HOUR = 3600
NEWER_BUILDS = 29  # the sample writes keys of newer builds from here on, and the token baseline from 28


def meta(version: int) -> list[Row]:
    """Return the keys that a fresh file does not have; only those that the version knows."""
    checkpoint = {"id": "turn000019", "status": "completed", "started_at": ms(18), "updated_at": ms(19)}
    checkpoint |= {"completed_at": ms(19), "event_type": "chat", "scope": "agent", "replay": "not_attempted"}
    values = {
        "adf_did_history": "[]",
        "adf_owner_did": did("owner"),
        "adf_runtime_did": did("runtime"),
        "adf_runtime_turn_checkpoint": javascript_json(checkpoint),
        "adf_clean_close": text_time(60),
        "context_baseline_tokens": javascript_json({"tokens": 584, "estimated": False, "updated_at": ms(19)}),
        "adf_loop_tools_backfilled": "1",
        "progress": "half",
        "counter": "8",
    }
    own = {"progress": "none", "counter": "increment"}
    return [_meta_row(key, value, own) for key, value in values.items() if _known(key, version)]


def _known(key: str, version: int) -> bool:
    entry = find(key)
    late = key == "adf_loop_tools_backfilled" and version < NEWER_BUILDS
    return entry is None or (entry.since <= version and not late)


def _meta_row(key: str, value: str, own: dict[str, str]) -> Row:
    entry = find(key)
    protection = own.get(key) or (entry.protection if entry else None)
    return {"key": key, "value": value, "protection": protection or "none"}


def timers(version: int) -> list[Row]:
    """Return the rows of `adf_timers`: once, every hour, on weekdays and locked; from 29 one for an inner loop."""
    seven = ms(7 * HOUR)
    rows = [
        {"schedule_json": {"mode": "once", "at": ms(24 * HOUR)}, "next_wake_at": ms(24 * HOUR), "scope": ["agent"]}
        | {"payload": "Ask Grace about the seeds."},
        {"schedule_json": {"mode": "interval", "every_ms": HOUR * 1000}, "next_wake_at": ms(HOUR + 20)}
        | {"scope": ["system"], "lambda": "lib/watch.ts:tick", "warm": 1, "run_count": 1, "last_fired_at": ms(20)},
        {"schedule_json": {"mode": "cron", "cron": "0 7 * * 1-5"}, "next_wake_at": seven, "scope": ["system", "agent"]}
        | {"lambda": "lib/watch.ts:tick", "locked": 1},
    ]
    if version >= NEWER_BUILDS:
        hourly = {"mode": "interval", "every_ms": HOUR * 1000, "start_at": ms(HOUR)}
        rows.append({"schedule_json": hourly, "next_wake_at": ms(HOUR), "scope": ["agent"], "loop": "gardener"})
    return [{"id": number, "created_at": ms(1), **row} for number, row in enumerate(rows, 1)]


def tasks() -> list[Row]:
    """Return the rows of `adf_tasks`: one done, one that waits for the owner."""
    why = {"kind": "file_protection", "target": "mind.md", "level": "no_delete", "description": "mind.md stays"}
    return [
        {"id": "task_aaaaaaaaaaaa", "tool": "sys_fetch", "args": {"url": "https://garden.example.org/weather"}}
        | {"status": "completed", "result": '{"rain":true}', "created_at": ms(24), "completed_at": ms(25)}
        | {"origin": "agent"},
        {"id": "task_bbbbbbbbbbbb", "tool": "fs_delete", "args": {"path": "mind.md"}, "status": "pending_approval"}
        | {"created_at": ms(26), "origin": "hil:ada:adaGarden001", "requires_authorization": 1, "executor_managed": 1}
        | {"approval_meta": {"reason": "protection", "protection": why}},
    ]


def logs() -> list[Row]:
    """Return the rows of `adf_logs`."""
    loaded = {"tools": 22, "loops": ["gardener", "reviewer"]}
    return [
        {"id": 1, "level": "info", "origin": "runtime", "event": "loaded", "message": "The agent is loaded."}
        | {"data": loaded, "created_at": ms(1)},
        {
            "id": 2,
            "level": "warn",
            "origin": "mesh",
            "event": "retry",
            "target": did("peer"),
            "message": "No answer yet.",
        }
        | {"created_at": ms(34)},
        {"id": 3, "level": "debug", "origin": "lambda", "event": "tick", "message": "14 degrees", "created_at": ms(40)}
        | {"loop": "gardener"},
    ]


def identity() -> list[Row]:
    """Return the rows of `adf_identity` beside the two signing keys: an envelope, and two sealed credentials."""
    slots = [_slot("owner"), _slot("runtime")]
    envelope = javascript_json({"v": 1, "slots": slots}).encode()
    sealed = {"encryption_algo": "env:credentials", "code_access": 0}
    return [
        {"purpose": "crypto:envelope:credentials", "value": envelope, "encryption_algo": "plain"},
        {"purpose": "adapter:telegram:BOT_TOKEN", "value": opaque("telegram token", 74), **sealed},
        {"purpose": "mcp:github:GITHUB_TOKEN", "value": opaque("github token", 68), **sealed},
    ]


def _slot(who: str) -> Row:
    parts = {"ephemeral_pub": 32, "iv": 12, "wrapped_dek": 48}
    coded = {name: base64.b64encode(opaque(f"{who} {name}", size)).decode() for name, size in parts.items()}
    return {"type": who, "recipient_did": did(who), **coded}


def attestations() -> list[Row]:
    """Return the row of `adf_attestations`: the owner says so, and signed it (K13)."""
    said = {"issuer": did("owner"), "subject": did("agent"), "role": "owner", "issued_at": text_time(2)}
    text = javascript_json(dict(sorted(said.items())))
    signature = "ed25519:" + base64.b64encode(keys("owner").sign(text.encode())).decode()
    return [{"id": 1, **said, "signature": signature, "raw_json": javascript_json({**said, "signature": signature})}]
