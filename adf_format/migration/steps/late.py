"""Steps 28 to 32 (MIG-035 to MIG-038)."""

from __future__ import annotations

from adf_format.config.access import is_filled
from adf_format.config.fresh import icon
from adf_format.migration.steps.model import Step
from adf_format.migration.work import Config, Work

_INSTRUCTIONS = ("inbox_hints", "context_warning", "idle_reminder", "mesh_updates")


def _loops(work: Work) -> None:
    """Stamp rows with their loop; old snapshots keep the source `loop` (MIG-035)."""
    work.add_column("MIG-035", "adf_loop", "loop", 29, value="main")
    for table in ("adf_timers", "adf_logs", "adf_tasks"):
        work.add_column("MIG-035", table, "loop", 29)
    work.create_indexes("MIG-035", "adf_loop", 29)


def _bare_prompt(work: Work) -> None:
    work.edit_config("MIG-036", _no_instructions)


def _no_instructions(config: Config) -> None:
    """A bare prompt stays bare now that the runtime adds instructions of its own."""
    if config.get("bare_prompt") is True:
        context = config.get("context")
        if not isinstance(context, dict):
            context = config["context"] = {}
        context["dynamic_instructions"] = dict.fromkeys(_INSTRUCTIONS, False)


def _icon(work: Work) -> None:
    work.edit_config("MIG-037", _pick_icon)


def _pick_icon(config: Config) -> None:
    if not config.get("icon") and is_filled(config.get("id")):
        config["icon"] = icon(config["id"])


def _outbox_index(work: Work) -> None:
    work.create_indexes("MIG-038", "adf_outbox", 32, "idx_adf_outbox_created")


STEPS = (
    Step(28, 29, ("MIG-035",), "rows of the transcript, timers, tasks and logs get a loop", _loops),
    Step(29, 30, ("MIG-036",), "a bare prompt gets no dynamic instructions", _bare_prompt),
    Step(30, 31, ("MIG-037",), "an agent without an icon gets the one of its id", _icon),
    Step(31, 32, ("MIG-038",), "an index on adf_outbox.created_at", _outbox_index),
)
