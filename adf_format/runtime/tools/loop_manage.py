"""`loop_manage`: `main` makes, reads, changes and deletes loops."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adf_format.loops import MAIN, Refused
from adf_format.loops.derive import find
from adf_format.loops.edits import name_of
from adf_format.runtime.host import Created, Host
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult, failed

_DESCRIPTIONS = {
    "name": "1 to 32 lower-case letters, digits, `_`, `-`. It cannot be changed later.",
    "goal": "Text of up to 4000 characters: what the loop is for.",
    "enabled": "true or false: whether it runs.",
    "autostart": "true or false: run a first turn now and whenever the agent starts (default true).",
    "autonomous": "true or false: go on until it calls sys_set_state (default false).",
    "model": "An object, a model of its own; null takes it away.",
    "compact_threshold": "Size in tokens from which it condenses its history; null for that of the agent.",
    "tools": "A list of names: all the tools it may use.",
}
# without types: what is wrong with a loop is said by the rules of loops, in their words
FIELDS: dict[str, Any] = {key: {"description": text} for key, text in _DESCRIPTIONS.items()}


async def run(call: Call, host: Host) -> ToolResult:
    """Do one of four things; only `main` gets here (LOOP-121)."""
    action, name, config = call.input["action"], call.input.get("name"), call.input.get("config")
    if action == "create":
        return await _create(host, name, config)
    if not isinstance(name, str):
        name = config.get("name") if isinstance(config, dict) else None
    if not isinstance(name, str):
        return failed(f"`{action}` needs the `name` of a loop")
    if action == "get":
        return _get(host, name)
    if action == "update":
        return await _update(host, name, config)
    deleted = await host.delete_loop(name)
    interrupted = " A turn was interrupted." if deleted.interrupted else ""
    text = f"Deleted `{name}`. {deleted.archived} entries are archived in the audit log as loop:{name}.{interrupted}"
    return ToolResult(text)


async def _create(host: Host, name: object, config: object) -> ToolResult:
    if not isinstance(config, dict):
        return failed("`create` needs a `config` with at least a name and a goal")
    created = await host.create_loop({**config, "name": name_of(config, name)})
    return ToolResult(_created(created))


def _created(created: Created) -> str:
    loop = created.loop
    runs = loop.get("enabled") is not False
    lines = [
        f"Created loop `{loop['name']}`, {'running' if runs else 'disabled'}.",
        f"Goal: {loop['goal']}",
        f"Tools: {', '.join(created.tools) or '(none)'}",
        *_excluded(created.excluded),
    ]
    if not runs:
        lines.append("It is disabled and does not run until it is enabled.")
    elif created.kickoff is None:
        lines.append("It waits for a trigger, a timer or a `loop_send`.")
    elif created.kickoff.woke:
        lines.append("Its first turn is running now; it runs one again whenever the agent starts.")
    else:
        lines.append(f"Its first message is delivered, but no turn was started: {created.kickoff.reason}.")
    return "\n".join(lines)


def _excluded(names: tuple[str, ...]) -> list[str]:
    if not names:
        return []
    return [f"Excluded for now: {', '.join(names)}. Each is granted as soon as it is enabled on the agent."]


def _get(host: Host, name: str) -> ToolResult:
    if name == MAIN:
        return failed("`main` is no inner loop: its settings are those of the agent (`sys_get_config`)")
    loop = find(host.config, name)
    if loop is None:
        names = [one["name"] for one in host.roster() if not one["is_main"]]
        return failed(f"there is no inner loop `{name:.40}`; there are: {', '.join(names) or 'none'}")
    status = next((one["status"] for one in host.roster() if one["name"] == name), "idle")
    return ToolResult(json.dumps({**loop, "status": status}, ensure_ascii=False))


async def _update(host: Host, name: str, config: object) -> ToolResult:
    if not isinstance(config, Mapping):
        raise Refused("Nothing to update: give a `config` with the fields to change")
    excluded = await host.update_loop(name, config)
    changed = [key for key in FIELDS if key in config and key != "name"]
    return ToolResult("\n".join([f"Updated `{name}`: {', '.join(changed)}.", *_excluded(excluded)]))


TOOL = Tool(
    name="loop_manage",
    description=(
        "Make (`create`), read (`get`), change (`update`) or remove (`delete`) an inner loop: a stream of your thought "
        "with its own history, a goal and a few of your tools. Deleting stops it at once and archives its history."
    ),
    input_schema={
        "type": "object",
        "required": ["action"],
        "properties": {
            "action": {"enum": ["create", "get", "update", "delete"]},
            "name": {"type": "string", "description": "The loop that is meant."},
            "config": {"type": "object", "properties": FIELDS, "description": "Fields of the loop."},
        },
    },
    run=run,
    main_only=True,
)
