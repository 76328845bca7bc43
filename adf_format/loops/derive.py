"""The effective configuration of a loop: the agent's, narrowed (loops.md 2). Pure, and sharing nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from adf_format.config.access import entries, section, texts
from adf_format.config.loops import CODE_TOOLS, declared

from .grants import classifier, default_on, may_use
from .preamble import agent_label, instructions
from .rules import MAIN

Config = dict[str, Any]
_CODE_ALLOWED = ("model_invoke", "sys_lambda", "identity_status", "loop_inject", "emit_event")
_CODE_DENIED = (
    "get_identity",
    "set_identity",
    "task_resolve",
    "attestation_list",
    "attestation_add",
    "attestation_issue",
    "network",
)
THRESHOLD = 100_000


def find(config: Mapping[str, Any], name: str) -> Config | None:
    """Return the first declaration of a loop, None if there is none."""
    return next((loop for _, found, loop in declared(dict(config)) if found == name), None)


def effective_tools(config: Mapping[str, Any], loop: Mapping[str, Any]) -> list[str]:
    """Return the tools a loop really has: its list, cut to what the agent enables and does not gate (LOOP-034).

    :param loop: a declaration; the default-on pair comes last
    """
    judge = classifier(config)
    named = [tool for _, tool in texts(loop, "tools") if judge(tool) == "ok"]
    return list(dict.fromkeys([*named, *default_on(config)]))


def derive(config: Mapping[str, Any], name: str) -> Config:
    """Return the configuration under which a declared loop runs.

    :raises ValueError: `main` runs the agent's own
    :raises LookupError: no such loop is declared
    """
    if name == MAIN:
        raise ValueError("main is not derived: it runs the agent's configuration")
    loop = find(config, name)
    if loop is None:
        raise LookupError(f"no loop named {name!r} is declared")
    made: Config = copy.deepcopy(dict(config))
    tools = effective_tools(config, loop)
    made["tools"] = _tools(config, tools)
    made["instructions"] = instructions(name, agent_label(config), str(loop.get("goal", "")), tools)
    made["autonomous"] = loop.get("autonomous") is True
    made["triggers"] = dict(_triggers(made, name))
    made["context"] = section(made, "context") | {"compact_threshold": threshold(config, loop)}
    if isinstance(loop.get("model"), dict) and may_override(config):
        made["model"] = copy.deepcopy(loop["model"])
    made["code_execution"] = _code(section(made, "code_execution"))
    made["loops"] = []
    made["metadata"] = section(made, "metadata") | {"loop_name": name}
    return made


def may_override(config: Mapping[str, Any]) -> bool:
    """Whether loops may have a model of their own: only an agent that runs code may (LOOP-058)."""
    return any(may_use(config, tool) for tool in CODE_TOOLS)


def threshold(config: Mapping[str, Any], loop: Mapping[str, Any] | None = None) -> int:
    """Return the size in tokens at which a loop compacts its history (LOOP-048, CMP-001).

    :param loop: declaration of an inner loop, None for `main`
    """
    chain = (
        loop.get("compact_threshold") if loop else None,
        section(config, "context").get("compact_threshold"),
        section(config, "model").get("compact_threshold"),
    )
    usable = (value for value in chain if isinstance(value, int) and not isinstance(value, bool) and value > 0)
    return next(usable, THRESHOLD)


def targets(config: Mapping[str, Any], name: str) -> Iterator[tuple[str, Config]]:
    """Yield `(trigger type, target)` of the targets that wake a loop: agent scope, naming it (LOOP-051, LOOP-230)."""
    for kind, trigger in section(config, "triggers").items():
        for _, target in entries(trigger, "targets"):
            if target.get("scope") == "agent" and (target.get("loop") or MAIN) == name:
                yield kind, target


def _triggers(config: Config, name: str) -> Iterator[tuple[str, Config]]:
    kept: dict[str, list[Config]] = {}
    for kind, target in targets(config, name):
        kept.setdefault(kind, []).append(target)
    for kind, found in kept.items():
        yield kind, section(config, "triggers")[kind] | {"targets": found}


def _tools(config: Mapping[str, Any], granted: list[str]) -> list[Config]:
    """Declare what is granted as callable and shown, everything else as off; never a gate, which only narrows the
    host's own code (LOOP-035, LOOP-037)."""
    names = dict.fromkeys(tool["name"] for _, tool in entries(config, "tools") if isinstance(tool.get("name"), str))
    names |= dict.fromkeys(granted)
    return [{"name": name, "enabled": name in granted, "visible": name in granted} for name in names]


def _code(agent: Config) -> Config:
    """Narrow what code of the loop may do; an agent that has less gives less (LOOP-049, LOOP-050)."""
    made = agent | {name: agent.get(name) is not False for name in _CODE_ALLOWED}
    made |= dict.fromkeys(_CODE_DENIED, False)
    listed = agent.get("restricted_methods")
    methods = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    return made | {"packages": [], "restricted_methods": list(dict.fromkeys(["attestation_issue", *methods]))}
