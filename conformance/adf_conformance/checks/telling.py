"""The story of a scene, as data for reports: steps, open model calls, rows before and after."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adf_conformance.observe import AgentFile, Unreadable

if TYPE_CHECKING:
    from adf_conformance.schedule.scene import Scene

TABLES = (
    "adf_meta",
    "adf_config",
    "adf_loop",
    "adf_audit",
    "adf_inbox",
    "adf_outbox",
    "adf_timers",
    "adf_files",
    "adf_logs",
)
LINES = 40
LENGTH = 240


def timeline(scene: Scene) -> list[dict[str, Any]]:
    """Return one object per step: number, what was done, what is open after it, how it ended."""
    told = []
    for moment in scene.history:
        entry = {"step": moment.number, "do": moment.step["do"], "says": _brief(_essence(moment.step))}
        entry |= {"open": moment.open, "loops": [_loop(scene, label) for label in moment.open]}
        if moment.note:
            entry["note"] = _brief(moment.note)
        told.append(entry)
    return told


def plain(details: dict[str, Any]) -> dict[str, Any]:
    """Return details as JSON values, whatever they hold."""
    found: dict[str, Any] = json.loads(json.dumps(details, default=_bytes))
    return found


def _essence(step: dict[str, Any]) -> str:
    shown = {key: value for key, value in step.items() if key not in {"do", "law", "expect"}}
    return json.dumps(shown, ensure_ascii=False) if shown else ""


def _loop(scene: Scene, label: str) -> str:
    call = scene.labels.get(label)
    return call.loop if call else label.partition(" ")[2]


def changes(scene: Scene) -> list[str]:
    """Say which rows the last step that was looked at added, removed or changed."""
    told: list[str] = []
    for name in [path.name for path in sorted(scene.folder.glob("*.adf"))]:
        before = scene.look_before(name)
        try:
            after = scene.look(name)
            told += _differences(before, after) if before else [f"{name}: {_sizes(after)}"]
        except Unreadable as error:
            told.append(f"{name}: {error}")
    left_out = len(told) - LINES
    return told[:LINES] + ([f"… and {left_out} more"] if left_out > 0 else [])


def _sizes(agent: AgentFile) -> str:
    return ", ".join(f"{table} {len(agent.rows(table))}" for table in TABLES if table in agent.tables)


def _differences(before: AgentFile, after: AgentFile) -> list[str]:
    told = []
    for table in TABLES:
        old, new = (_by_key(view, table) for view in (before, after))
        told += [f"- {table} {_brief(old[key])}" for key in old if key not in new]
        told += [f"+ {table} {_brief(new[key])}" for key in new if key not in old]
        told += [f"~ {table} {_brief(new[key])}" for key in new if key in old and new[key] != old[key]]
    return told


def _by_key(agent: AgentFile, table: str) -> dict[str, str]:
    rows = agent.rows(table)
    return {str(next(iter(row.values()))): json.dumps(row, default=_bytes, ensure_ascii=True) for row in rows}


def _bytes(value: object) -> str:
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else str(value)


def _brief(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}…"
