"""Inner loops and the hook before model calls."""

from __future__ import annotations

from typing import Any

from adf_format.config import loops, tools
from adf_format.config.access import entries, texts
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Example, Severity, rule

from .reporting import put, report

GOAL_LIMIT = 4000

PROHIBITED = rule(
    "ADF443",
    "loop-tool-prohibited",
    Severity.ERROR,
    what="No loop lists `sys_update_config`, `loop_manage` or `sys_create_adf`.",
    why="A loop is a narrowed part of the agent: it may not change it, make loops or make agents.",
    source=("CFG X13", "LOOP-012", "SEED-LOOPS"),
    fires=put(("$.loops[0].tools[#]", "loop_manage")),
    silent=put(("$.loops[0].tools[#]", "sys_set_state")),
    since=29,
    fix="remove the name from the list",
)
NAME = rule(
    "ADF444",
    "loop-name-taken",
    Severity.ERROR,
    what="No loop is called `main`, and no two loops have the same name, whatever the case.",
    why="The name binds a loop to its transcript: two loops would write into one.",
    source=("CFG X14", "LOOP-005", "LOOP-006", "SEED-LOOPS"),
    fires=put(("$.loops[0].name", "main")),
    silent=put(("$.loops[1].name", "main2")),
    since=29,
    fix="rename the loop",
)
TOO_MANY = rule(
    "ADF445",
    "too-many-loops",
    Severity.ERROR,
    what="An agent declares at most 16 inner loops.",
    why="Loops run at the same time; the limit is what bounds the cost of an agent.",
    source=("CFG X15", "CFG K3", "LOOP-016", "SEED-LOOPS"),
    fires=put(("$.loops", [{"name": f"loop-{n}", "goal": "Wait.", "enabled": False} for n in range(17)])),
    silent=put(("$.loops", [{"name": f"loop-{n}", "goal": "Wait.", "enabled": False} for n in range(16)])),
    since=29,
)
HOOK_LOOPS = rule(
    "ADF446",
    "hook-loops",
    Severity.ERROR,
    what="A hook of scope `loops` lists inner loops: at least one, none twice, and not `main`.",
    why="An empty list never runs; `main` has a switch of its own, `include_main`.",
    source=("CFG X16",),
    fires=put(("$.pre_llm_hook", {"source": "lib/api.ts", "scope": "loops", "loops": ["main"]})),
    silent=put(("$.pre_llm_hook", {"source": "lib/api.ts", "scope": "loops", "loops": ["gardener"]})),
    since=28,
)
HOOK_SCOPE = rule(
    "ADF447",
    "hook-loops-out-of-scope",
    Severity.WARNING,
    what="`loops` and `include_main` of the hook stand only with the scope `loops`.",
    why="With another scope they have no effect, though they look as if they had.",
    source=("CFG X17",),
    fires=put(("$.pre_llm_hook", {"source": "lib/api.ts", "include_main": False})),
    silent=put(
        ("$.pre_llm_hook", {"source": "lib/api.ts", "scope": "loops", "loops": ["gardener"], "include_main": True})
    ),
    since=28,
    fix="remove the key, or make the scope `loops`",
)
UNGRANTED = rule(
    "ADF458",
    "loop-tool-not-enabled",
    Severity.INFO,
    what="The tools that a loop lists are enabled on the agent.",
    why="It is legal: the loop does without the tool until the owner enables it.",
    source=("CFG X28", "LOOP-042", "SEED-LOOPS"),
    fires=put(("$.loops[0].tools[#]", "fs_delete")),
    silent=put(("$.loops[0].tools[#]", "fs_list")),
    since=29,
)
MODEL = rule(
    "ADF459",
    "loop-model-without-code",
    Severity.WARNING,
    what="A loop with a model of its own belongs to an agent with `sys_code` or `sys_lambda` enabled.",
    why="Otherwise the override is ignored and the loop runs on the agent's model.",
    source=("CFG X29", "LOOP-058", "SEED-LOOPS"),
    fires=put(
        ("$.tools", [{"name": name, "enabled": False, "visible": False} for name in loops.CODE_TOOLS]),
        ("$.loops[0].tools", []),
        ("$.loops[1].model", {"provider": "custom:local"}),
    ),
    silent=put(("$.loops[1].model", {"provider": "custom:local"})),
    since=29,
    fix="enable `sys_code` or `sys_lambda`, or remove `model`",
)
HOOK_UNKNOWN_LOOP = rule(
    "ADF461",
    "hook-of-unknown-loop",
    Severity.INFO,
    what="The loops that the hook lists are declared.",
    why="It is legal, the loop may come later; it may also be a typing mistake.",
    source=("CFG X22",),
    fires=put(("$.pre_llm_hook", {"source": "lib/api.ts", "scope": "loops", "loops": ["gardner"]})),
    silent=put(("$.pre_llm_hook", {"source": "lib/api.ts", "scope": "loops", "loops": ["reviewer"]})),
    since=29,
)
TOO_EARLY = rule(
    "ADF462",
    "loops-before-29",
    Severity.WARNING,
    what="Inner loops are declared only from storage version 29 on.",
    why="A runtime of this version ignores them; they come to life when the file is migrated.",
    source=("CFG 2.6", "CFG 1.4"),
    fires=Example(put(("$.loops", [{"name": "gardener", "goal": "Tend.", "enabled": True}])), on=28),
    silent=Example(put(("$.x-loops", [])), on=28),
    until=28,
    fix="remove `loops`, or migrate the file to 29",
)
LONG_GOAL = rule(
    "ADF476",
    "goal-length-utf16",
    Severity.INFO,
    what="A goal of up to 4000 characters is also no longer than 4000 UTF-16 units.",
    why="The reference runtime counts UTF-16 units, so an emoji counts twice.",
    source=("CFG 1.4", "LOOP-007"),
    fires=put(("$.loops[0].goal", "🌱" * 2001)),
    silent=put(("$.loops[0].goal", "🌱" * 2000)),
    since=29,
)
NO_STOP = rule(
    "ADF478",
    "autonomous-loop-without-stop",
    Severity.INFO,
    what="An autonomous loop lists `sys_set_state`.",
    why="It has no other way to end its work than to be forced idle after idle talk.",
    source=("SEED-LOOPS", "LOOP-010"),
    fires=put(("$.loops[0].autonomous", True)),
    silent=put(("$.loops[0].autonomous", True), ("$.loops[0].tools[#]", "sys_set_state")),
    since=29,
    fix="add `sys_set_state` to its tools",
)
RESTRICTED = rule(
    "ADF479",
    "loop-tool-restricted",
    Severity.INFO,
    what="The tools that a loop lists are not restricted on the agent.",
    why="A restricted tool asks the owner, and a loop has no way to ask: it is never granted.",
    source=("LOOP-034", "LOOP-038", "SEED-LOOPS"),
    fires=put(("$.tools[0].restricted", True)),
    silent=put(("$.tools[0].restricted", False)),
    since=29,
)
RULES = (
    PROHIBITED, NAME, TOO_MANY, HOOK_LOOPS, HOOK_SCOPE, UNGRANTED, MODEL, HOOK_UNKNOWN_LOOP, TOO_EARLY, LONG_GOAL,
    NO_STOP, RESTRICTED,
)  # fmt: skip


def check(context: Context) -> None:
    """Look at the declared loops and at the hook."""
    config = context.config
    if context.version.number < 29 and config.get("loops"):
        report(context, TOO_EARLY, "inner loops before storage version 29", "loops")
    elif config.get("loops"):
        _check_roster(context, config)
        _check_tools(context, config)
        for index, loop in entries(config, "loops"):
            _check_loop(context, loop, index)
    if isinstance(config.get("pre_llm_hook"), dict):
        _check_hook(context, config["pre_llm_hook"])


def _check_roster(context: Context, config: dict[str, Any]) -> None:
    count = len(config["loops"]) if isinstance(config["loops"], list) else 0
    if count > loops.MAX_LOOPS:
        report(context, TOO_MANY, f"{count:,} loops where {loops.MAX_LOOPS} are allowed", "loops")
    seen: set[str] = set()
    for index, loop in entries(config, "loops"):
        name = loop.get("name")
        if not isinstance(name, str):
            continue
        if name == "main":
            report(context, NAME, "the name main is taken", "loops", index, "name")
        elif name.lower() in seen:
            report(context, NAME, f"a second loop is called {brief(name)}", "loops", index, "name")
        seen.add(name.lower())


def _check_tools(context: Context, config: dict[str, Any]) -> None:
    enabled = tools.enabled(config)
    is_restricted = tools.restriction(config)
    runs_code = not enabled.isdisjoint(loops.CODE_TOOLS)
    for index, loop in entries(config, "loops"):
        if loop.get("model") is not None and not runs_code:
            report(context, MODEL, "the model override is ignored", "loops", index, "model")
        for position, name in texts(loop, "tools"):
            path = ("loops", index, "tools", position)
            if name in loops.PROHIBITED_TOOLS:
                report(context, PROHIBITED, f"{name} in the tools of a loop", *path)
            elif is_restricted(name):
                report(context, RESTRICTED, f"{brief(name)} is restricted and never granted", *path)
            elif name not in enabled:
                report(context, UNGRANTED, f"{brief(name)} is not enabled on the agent", *path)


def _check_loop(context: Context, loop: dict[str, Any], index: int) -> None:
    goal = loop.get("goal")
    if isinstance(goal, str) and len(goal) <= GOAL_LIMIT and not goal.isascii():
        units = len(goal) + sum(character > "\uffff" for character in goal)
        if units > GOAL_LIMIT:
            report(context, LONG_GOAL, f"a goal of {units:,} UTF-16 units", "loops", index, "goal")
    if loop.get("autonomous") is True and all(name != "sys_set_state" for _, name in texts(loop, "tools")):
        report(context, NO_STOP, "an autonomous loop without sys_set_state", "loops", index)


def _check_hook(context: Context, hook: dict[str, Any]) -> None:
    listed = hook.get("loops")
    if hook.get("scope") != "loops":
        for key in ("loops", "include_main"):
            if hook.get(key) is not None:
                report(context, HOOK_SCOPE, f"{key} without the scope loops", "pre_llm_hook", key)
        return
    if not listed:
        report(context, HOOK_LOOPS, "the scope loops without loops", "pre_llm_hook")
    seen: set[str] = set()
    for index, name in texts(hook, "loops"):
        if name == "main" or name in seen:
            text = "main is no inner loop" if name == "main" else f"{brief(name)} is listed twice"
            report(context, HOOK_LOOPS, text, "pre_llm_hook", "loops", index)
        elif name not in context.declared_loops:
            text = f"no loop {brief(name)} is declared"
            report(context, HOOK_UNKNOWN_LOOP, text, "pre_llm_hook", "loops", index)
        seen.add(name)


PASSES = (Pass("inner loops", RULES, check, ("adf_config",)),)
