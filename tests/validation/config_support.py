"""Run the rules on the configuration on a value in memory, without a file."""

from __future__ import annotations

import copy
import json
from functools import cache
from types import SimpleNamespace
from typing import Any

from adf_format.config.fresh import defaults
from adf_format.schemas import storage_version
from adf_format.structure import Structure
from adf_format.validation.context import Context, Meta
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats
from adf_format.validation.rules import config as family

TIME = "2026-01-01T00:00:00.000Z"
OWN = {
    "id": "V1StGXR8_Z5j",
    "name": "Ada",
    "icon": "🗻",
    "metadata": {"created_at": TIME, "updated_at": TIME},
}
LOOPS = [
    {"name": "gardener", "goal": "Tend the notes.", "enabled": True, "tools": ["loop_send", "fs_read"]},
    {"name": "reviewer", "goal": "Read drafts.", "enabled": False, "tools": []},
]


@cache
def _fresh(version: int) -> dict[str, Any]:
    return defaults(version) | OWN | ({"loops": LOOPS} if version >= 29 else {})


def fresh(version: int = 32, **changes: Any) -> dict[str, Any]:
    """Return a fresh configuration (from 29 on with two loops) with some top-level keys replaced."""
    return copy.deepcopy(_fresh(version)) | changes


def with_target(kind: str = "on_inbox", *, enabled: bool = True, **target: Any) -> dict[str, Any]:
    """Return a configuration with one trigger of one target, of scope `agent` unless said otherwise."""
    return fresh(triggers={kind: {"enabled": enabled, "targets": [{"scope": "agent", **target}]}})


def with_loop(**changes: Any) -> dict[str, Any]:
    """Return a configuration with one loop."""
    return fresh(loops=[LOOPS[0] | changes])


def context_of(config: Any, version: int = 32, meta: dict[Any, Meta] | None = None) -> Context:
    """Return a context whose configuration is a value, or a JSON text."""
    context = Context(
        container=SimpleNamespace(connection=None, check_deadline=lambda: None),  # type: ignore[arg-type]
        structure=Structure(),
        stored=version,
        version=storage_version(version),
        collector=Collector(None, {}, version),
        stats=Stats(),
    )
    context.__dict__["config_text"] = config if isinstance(config, str) else json.dumps(config)
    context.__dict__["meta"] = meta or {}
    return context


def looked_at(context: Context) -> Context:
    """Run the whole family."""
    for one in family.PASSES:
        one.run(context)
    return context


def found(config: Any, version: int = 32, meta: dict[Any, Meta] | None = None) -> list[tuple[str, str | None]]:
    """Return rule and pointer of every finding, sorted."""
    findings = looked_at(context_of(config, version, meta)).collector.findings()
    return sorted((one.rule, one.pointer) for one in findings)


def rules(config: Any, version: int = 32) -> set[str]:
    """Return the ids of the rules that report."""
    return {rule for rule, _ in found(config, version)}
