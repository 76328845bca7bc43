"""What of the mind reaches the prompt (MEM-150, MEM-151, MEM-154)."""

from __future__ import annotations

from adf_format.memory.injection import MIND, collect
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule

_SET = "UPDATE adf_config SET config_json = json_set(config_json, {})"

NOT_LOADED = rule(
    "ADF952",
    "mind-not-injected",
    Severity.WARNING,
    what="`mind.md` is part of the prompt: by the base prompt, or by a placeholder in the instructions.",
    why="The agent keeps a memory that it never reads.",
    source=("MEM-154",),
    since=28,
    fires=_SET.format("'$.include_base_prompt', json('false')"),
    silent=_SET.format("'$.include_base_prompt', json('false'), '$.instructions', 'Be kind. {{mind.md}}'"),
    fix="put {{mind.md}} into the instructions",
)
MISSING = rule(
    "ADF954",
    "injection-missing",
    Severity.WARNING,
    what="A placeholder in the instructions names a file that is there.",
    why="The prompt says that something is missing, in every turn.",
    source=("MEM-151",),
    since=28,
    fires=_SET.format("'$.instructions', 'Read {{notes/gone.md}}.'"),
    silent=_SET.format("'$.instructions', 'Use {{' || char(10) || '}} as brackets, read {{notes/plan.md}}.'"),
)
RULES = (NOT_LOADED, MISSING)


def check(context: Context, paths: frozenset[str]) -> None:
    """Look at the instructions of the agent."""
    config = context.config
    instructions = config.get("instructions")
    named = collect([instructions]) if isinstance(instructions, str) else []
    place = {"table": "adf_config", "rowid": 1, "column": "config_json"}
    based = config.get("include_base_prompt") is not False and config.get("bare_prompt") is not True
    if not based and MIND not in named and MIND in paths:
        context.report(NOT_LOADED, "neither the base prompt nor the instructions bring it in", **place)
    for path in named:
        if path not in paths:
            context.report(MISSING, f"{path[:80]!a} is no file of the agent", **place, pointer="/instructions")
