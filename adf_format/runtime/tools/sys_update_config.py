"""`sys_update_config`: change the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json
from adf_format.loops import Refused
from adf_format.runtime.settings import guard, paths
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.inputs import flag, inputs, text
from adf_format.runtime.tools.protocol import Call, EndTurn, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Change one part. What is locked needs the owner's word, what is the owner's alone is refused."""
    path, removes = call.input["path"], call.input.get("remove", False)
    if removes == ("value" in call.input):
        raise Refused("give either `value` or `remove: true`")
    lifted = False
    denial = _denial(host.config, call.input)
    if denial is not None and denial.approvable:
        level = denial.level or "locked"
        await protections.demand(call, host, protections.Protection("config_lock", path, level, denial.text))
        lifted = True

    def edit(config: dict[str, Any]) -> dict[str, Any]:
        """Judge the configuration as it is at this moment: it may have changed while the owner was asked."""
        now = _denial(config, call.input)
        if now is not None and not (now.approvable and lifted):
            raise Refused(now.text)
        return _touched(_edited(config, call.input), host.store.iso())

    await host.edit_config(edit)
    shown = "removed" if removes else javascript_json(call.input["value"], exact=True)
    told = f"{path}: {shown if len(shown) <= 200 else f'{shown[:200]}…'}"
    return ToolResult(told, effect=EndTurn(call.input["value"]) if path == "state" else None)


def _denial(config: dict[str, Any], given: Any) -> guard.Denial | None:
    try:
        segments = paths.resolve(config, given["path"])
    except paths.PathError as error:
        raise Refused(str(error)) from error
    return guard.denial(config, _edited(config, given), segments, given["path"])


def _edited(config: dict[str, Any], given: Any) -> dict[str, Any]:
    path = given["path"]
    try:
        if given.get("remove"):
            return paths.remove(config, path)
        return (paths.append if given.get("append") else paths.put)(config, path, given["value"])
    except paths.PathError as error:
        raise Refused(str(error)) from error


def _touched(config: dict[str, Any], now: str) -> dict[str, Any]:
    metadata = config.get("metadata")
    return config | {"metadata": metadata | {"updated_at": now}} if isinstance(metadata, dict) else config


TOOL = Tool(
    "sys_update_config",
    "Change one part of your configuration: set a value, append to a list, or remove it. Some parts are the owner's.",
    inputs(
        "path",
        path=text("Dot path such as `model.temperature`; list elements by name, id or index.", least=1, most=500),
        value={"description": "The new value, or the element to append."},
        append=flag("Whether `value` is one more element of the list at `path`."),
        remove=flag("Whether to take out what is at `path`."),
    ),
    run,
    main_only=True,
)
