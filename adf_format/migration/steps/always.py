"""What every migration does whatever the version: before the first step and after the last (MIG-010 to MIG-017)."""

from __future__ import annotations

from typing import Any

from adf_format.config.access import section
from adf_format.migration.work import Config, Work
from adf_format.schemas import OLDEST

_HARDENED = ("adf_did", "adf_owner_did", "adf_runtime_did", "adf_did_history")


def before(work: Work) -> None:
    """Bring very old files into the shape that the steps expect."""
    _old_transcript(work)
    work.drop("MIG-011", "table", "adf_archive")
    work.create_table("MIG-011", "adf_audit", work.final)
    _old_protection(work)
    with work.best_effort("MIG-013"):
        work.edit_config("MIG-013", lambda config: section(config, "security").pop("allow_protected_writes", None))


def _old_transcript(work: Work) -> None:
    """Give a transcript without times its columns; the time is 0 (MIG-010)."""
    if "created_at" in work.columns("adf_loop"):
        return
    for column in ("model", "tokens"):
        work.add_column("MIG-010", "adf_loop", column, OLDEST)
    work.add_column("MIG-010", "adf_loop", "created_at", OLDEST, default="0", value=0)


def _old_protection(work: Work) -> None:
    """Turn the old yes or no of a file's protection into its name; the old column stays (MIG-012)."""
    columns = work.columns("adf_files")
    if "protected" not in columns or "protection" in columns:
        return
    work.add_column("MIG-012", "adf_files", "protection", OLDEST)
    work.connection.execute("UPDATE adf_files SET protection = 'no_delete' WHERE protected = 1")
    work.record.derived.add(("adf_files", "protection"))


def after(work: Work) -> None:
    """Leave what every runtime would leave."""
    if {"loop", "ord"} <= work.columns("adf_loop"):
        with work.best_effort("MIG-014"):
            work.create_indexes("MIG-014", "adf_loop", work.final, "idx_adf_loop_stream")
    if "protection" in work.columns("adf_meta"):
        for key in _HARDENED:
            if work.meta(key) is not None:
                work.set_value("MIG-015", "adf_meta", "key", key, "protection", "readonly")
    for rule, edit in (("MIG-016", _rename_tool), ("MIG-017", _replace_triggers)):
        with work.best_effort(rule):
            work.edit_config(rule, edit)


def _rename_tool(config: Config) -> None:
    tools = config.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and tool.get("name") == "container_exec":
            tool["name"] = "compute_exec"
            return


def _replace_triggers(config: Config) -> None:
    triggers = config.get("triggers")
    if isinstance(triggers, dict) and (triggers.get("document") or triggers.get("agent")):
        config["triggers"] = _default_triggers()


def _default_triggers() -> Config:
    watch = {"scope": "agent", "filter": {"watch": "README.*"}, "debounce_ms": 2000}
    targets: dict[str, list[dict[str, Any]]] = {
        "on_inbox": [{"scope": "agent", "interval_ms": 30000}],
        "on_outbox": [],
        "on_file_change": [watch],
        "on_chat": [{"scope": "agent"}],
        "on_timer": [{"scope": "system"}, {"scope": "agent"}],
        "on_tool_call": [],
        "on_task_complete": [],
    }
    return {name: {"enabled": bool(found), "targets": found} for name, found in targets.items()}
