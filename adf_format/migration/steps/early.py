"""Steps 21 to 27 (MIG-028 to MIG-033)."""

from __future__ import annotations

from typing import Any

from adf_format.audit import javascript_json
from adf_format.config.access import is_number, section
from adf_format.creation import seeds
from adf_format.errors import JsonTextError, MigrationError
from adf_format.jsontext import decode
from adf_format.migration.steps.model import Step
from adf_format.migration.steps.seeding import add_file
from adf_format.migration.work import Config, Work

_OLD, _NEW = "document.md", "README.md"
_REMOVED = (
    ("model", "max_loop_messages"),
    ("context", "max_loop_messages"),
    ("limits", "max_loop_rows"),
    ("limits", "max_daily_budget_usd"),
)


def _readme(work: Work) -> None:
    """Rename the primary document (MIG-028)."""
    rule = "MIG-028"
    paths = {
        path for (path,) in work.connection.execute("SELECT path FROM adf_files WHERE path IN (?, ?)", (_OLD, _NEW))
    }
    if paths == {_OLD}:
        work.set_value(rule, "adf_files", "path", _OLD, "path", _NEW)
    with work.best_effort(rule):
        work.edit_config(rule, _watch_readme)


def _watch_readme(config: Config) -> None:
    targets = section(config, "triggers", "on_file_change").get("targets")
    for target in targets if isinstance(targets, list) else []:
        found = target.get("filter") if isinstance(target, dict) else None
        if isinstance(found, dict) and found.get("watch") == "document.*":
            found["watch"] = "README.*"


def _limits(work: Work) -> None:
    """Remove limits that no runtime keeps, and move the budget of thinking (MIG-029)."""
    with work.best_effort("MIG-029"):
        work.edit_config("MIG-029", _remove_limits)


def _remove_limits(config: Config) -> None:
    for group, key in _REMOVED:
        section(config, group).pop(key, None)
    model = section(config, "model")
    budget = model.get("thinking_budget")
    if not model.get("reasoning") and is_number(budget) and budget > 0:
        model["reasoning"] = {"enabled": True, "max_tokens": budget}
        del model["thinking_budget"]


def _attestations(work: Work) -> None:
    """Give attestations a table of their own (MIG-030)."""
    rule = "MIG-030"
    work.create_table(rule, "adf_attestations", 24)
    with work.best_effort(rule):
        text = work.meta("adf_attestations")
        if text is None:
            return
        for element in _list(text):
            if isinstance(element, dict) and all(element.get(key) for key in ("issuer", "subject", "signature")):
                _attest(work, element)
        work.remove_meta(rule, "adf_attestations")


def _list(text: Any) -> list[Any]:
    value = decode(text).value if isinstance(text, str) else None
    if not isinstance(value, list):
        raise JsonTextError("the attestations are not a JSON array")
    return value


def _attest(work: Work, element: Config) -> None:
    names = ("issuer", "subject", "role", "issued_at", "expires_at", "scope", "signature")
    values = [_bound(element.get(name)) for name in names]
    for at in (2, 3):
        values[at] = "" if values[at] is None else values[at]
    values.append(javascript_json(element, exact=True))
    columns = ", ".join((*names, "raw_json"))
    marks = ", ".join("?" * len(values))
    work.connection.execute(f"INSERT INTO adf_attestations ({columns}) VALUES ({marks})", values)
    work.note("MIG-030", "row-added", "adf_attestations", key=work.connection.last_insert_rowid())


def _bound(value: Any) -> Any:
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool)):
        return value
    raise MigrationError("a member of an attestation is neither text nor number")


def _soul(work: Work) -> None:
    add_file(work, "MIG-031", "soul.md", seeds.SOUL)


def _expired(work: Work) -> None:
    work.add_column("MIG-032", "adf_timers", "expired", 26, value=0)


def _approval(work: Work) -> None:
    work.add_column("MIG-033", "adf_tasks", "approval_meta", 27)


STEPS = (
    Step(21, 22, ("MIG-028",), "document.md becomes README.md, in files and in triggers that watch it", _readme),
    Step(22, 23, ("MIG-029",), "limits that have no effect leave the configuration", _limits),
    Step(23, 24, ("MIG-030",), "the table adf_attestations is added and filled from adf_meta", _attestations),
    Step(24, 25, ("MIG-031",), "soul.md is added if it is missing", _soul),
    Step(25, 26, ("MIG-032",), "adf_timers.expired is added", _expired),
    Step(26, 27, ("MIG-033",), "adf_tasks.approval_meta is added", _approval),
)
