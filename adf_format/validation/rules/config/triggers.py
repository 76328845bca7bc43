"""Triggers and their targets: what wakes whom, and which keys go together."""

from __future__ import annotations

from typing import Any

from adf_format.config import loops
from adf_format.config.access import entries, is_filled, section
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule

from .reporting import put, report

INBOX = "$.triggers.on_inbox.targets[0]"
TIMINGS = ("debounce_ms", "interval_ms", "batch_ms")
NEEDED_FILTER = {"on_file_change": "watch", "on_tool_call": "tools"}

TWO_TIMINGS = rule(
    "ADF431",
    "target-two-timings",
    Severity.ERROR,
    what="A trigger target has at most one of `debounce_ms`, `interval_ms` and `batch_ms`.",
    why="The three delay events in different ways; with two of them nobody can say which one applies.",
    source=("CFG X1",),
    fires=put((f"{INBOX}.debounce_ms", 1000), (f"{INBOX}.interval_ms", 5000)),
    silent=put((f"{INBOX}.batch_ms", 1000), (f"{INBOX}.batch_count", 5)),
    fix="keep one of the three",
)
BATCH_COUNT = rule(
    "ADF432",
    "target-batch-count-alone",
    Severity.ERROR,
    what="A trigger target with `batch_count` has `batch_ms`.",
    why="A batch that is not collected for some time never has a second event to count.",
    source=("CFG X2",),
    fires=put((f"{INBOX}.batch_count", 5)),
    silent=put((f"{INBOX}.batch_count", 5), (f"{INBOX}.batch_ms", 1000)),
    fix="add `batch_ms`, or remove `batch_count`",
)
AGENT_CODE = rule(
    "ADF433",
    "agent-target-with-code",
    Severity.ERROR,
    what="A target of scope `agent` has no `lambda`, no `command` and no `warm`, not even `warm: false`.",
    why="Such a target starts a turn and runs no code; the three keys belong to scope `system` only.",
    source=("CFG X3",),
    fires=put((f"{INBOX}.warm", False)),
    silent=put((f"{INBOX}.lambda", ""), (f"{INBOX}.command", "")),
    fix="remove the key, or make the scope `system`",
)
TWO_ACTIONS = rule(
    "ADF434",
    "target-lambda-and-command",
    Severity.ERROR,
    what="A trigger target names a lambda or a command, not both.",
    why="Only one of them would run.",
    source=("CFG X4",),
    fires=put((INBOX, {"scope": "system", "lambda": "lib/api.ts:status", "command": "ls"})),
    silent=put((INBOX, {"scope": "system", "lambda": "lib/api.ts:status", "command": ""})),
    fix="remove one of the two",
)
SYSTEM_LOOP = rule(
    "ADF451",
    "system-target-names-loop",
    Severity.WARNING,
    what="A target of scope `system` names no inner loop.",
    why="System code runs under the authority of `main` and wakes no stream: the name is stripped.",
    source=("CFG X21", "SEED-LOOPS"),
    fires=put((INBOX, {"scope": "system", "lambda": "lib/api.ts:status", "loop": "gardener"})),
    silent=put((INBOX, {"scope": "agent", "loop": "gardener"})),
    since=29,
    fix="remove `loop`",
)
UNKNOWN_LOOP = rule(
    "ADF452",
    "target-of-unknown-loop",
    Severity.WARNING,
    what="The loop that a trigger target names is declared.",
    why="The event is dropped and logged; it does not fall back to `main`.",
    source=("CFG X22", "CFG K16"),
    fires=put((f"{INBOX}.loop", "gardner")),
    silent=put((f"{INBOX}.loop", "main")),
    since=29,
    fix="declare the loop, or remove `loop` to wake `main`",
)
FILTER_MISSING = rule(
    "ADF453",
    "trigger-filter-missing",
    Severity.ERROR,
    what="A target of an enabled `on_file_change` has `filter.watch`, one of `on_tool_call` has `filter.tools`.",
    why="Without `watch` every file counts, without `tools` no call does.",
    source=("CFG X23", "CFG K19", "CFG Q2"),
    fires=put(("$.triggers.on_file_change", {"enabled": True, "targets": [{"scope": "agent"}]})),
    silent=put(("$.triggers.on_tool_call", {"enabled": True, "targets": []})),
    fix="add the filter; `*` stands for everything",
)
FILTER_MISSING_DISABLED = rule(
    "ADF460",
    "disabled-trigger-filter-missing",
    Severity.WARNING,
    what="A target of a disabled `on_file_change` or `on_tool_call` has the filter that it needs once enabled.",
    why="Whoever enables the trigger gets every file, or no call.",
    source=("CFG X23", "CFG Q2"),
    fires=put(("$.triggers.on_tool_call.targets", [{"scope": "agent"}])),
    silent=put(("$.triggers.on_tool_call.targets", [{"scope": "agent", "filter": {"tools": ["fs_*"]}}])),
    fix="add the filter; `*` stands for everything",
)
UNKNOWN_FILTER = rule(
    "ADF454",
    "filter-key-not-read",
    Severity.WARNING,
    what="A filter holds only keys that its type of trigger reads.",
    why="Another key is ignored: the target acts on more events than its author thinks.",
    source=("CFG X24", "CFG 1.2", "CFG K15"),
    fires=put((f"{INBOX}.filter", {"watch": "*"})),
    silent=put((f"{INBOX}.filter", {"sender": "did:key:z6MkPeer"})),
    fix="remove the key",
)
WRONG_SOURCE = rule(
    "ADF455",
    "filter-source-form",
    Severity.WARNING,
    what="`filter.source` is one name for `on_inbox` and a list for `on_llm_call`.",
    why="The other form is ignored: the target acts on every source.",
    source=("CFG X25",),
    fires=put((f"{INBOX}.filter", {"source": ["mesh"]})),
    silent=put((f"{INBOX}.filter", {"source": "mesh"})),
)
UNKNOWN_TRIGGER = rule(
    "ADF463",
    "unknown-trigger-type",
    Severity.WARNING,
    what="Every key of `triggers` is a type of trigger.",
    why="An unknown type is ignored, its value unread: nothing will ever fire it.",
    source=("CFG 1.2", "CFG 2.5"),
    fires=put(("$.triggers.on_message", {"enabled": True, "targets": [{"scope": "agent"}]})),
    silent=put(("$.triggers.on_logs", {"enabled": True, "targets": [{"scope": "agent"}]})),
)
DISABLED_LOOP = rule(
    "ADF477",
    "target-of-disabled-loop",
    Severity.INFO,
    what="An enabled trigger wakes a loop that is enabled.",
    why="A disabled loop does not run; the event is refused until someone enables the loop.",
    source=("LOOP-070", "SEED-LOOPS"),
    fires=put((f"{INBOX}.loop", "reviewer")),
    silent=put(("$.triggers.on_logs.targets", [{"scope": "agent", "loop": "reviewer"}])),
    since=29,
)
RULES = (
    TWO_TIMINGS, BATCH_COUNT, AGENT_CODE, TWO_ACTIONS, SYSTEM_LOOP, UNKNOWN_LOOP, FILTER_MISSING,
    FILTER_MISSING_DISABLED, DISABLED_LOOP,
)  # fmt: skip


def check(context: Context) -> None:
    """Look at every target of every trigger."""
    disabled = loops.disabled(context.config)
    for kind, trigger in section(context.config, "triggers").items():
        enabled = isinstance(trigger, dict) and trigger.get("enabled") is True
        for index, target in entries(trigger, "targets"):
            path = ("triggers", kind, "targets", index)
            _check_timing(context, target, path)
            _check_code(context, target, path)
            _check_filter(context, kind, target, path, enabled=enabled)
            if "loop" in target and target["loop"] != "main":
                _check_loop(context, target, path, disabled if enabled else frozenset())


def _check_timing(context: Context, target: dict[str, Any], path: tuple[str | int, ...]) -> None:
    given = [key for key in TIMINGS if target.get(key) is not None]
    if len(given) > 1:
        report(context, TWO_TIMINGS, f"{' and '.join(given)} are given together", *path)
    if target.get("batch_count") is not None and target.get("batch_ms") is None:
        report(context, BATCH_COUNT, "batch_count without batch_ms", *path)


def _check_code(context: Context, target: dict[str, Any], path: tuple[str | int, ...]) -> None:
    if target.get("scope") == "agent":
        given = [key for key in ("lambda", "command") if is_filled(target.get(key))]
        given += ["warm"] if target.get("warm") is not None else []
        for key in given:
            report(context, AGENT_CODE, f"{key} in a target of scope agent", *path, key)
    if is_filled(target.get("lambda")) and is_filled(target.get("command")):
        report(context, TWO_ACTIONS, "lambda and command are given together", *path)


def _check_filter(
    context: Context, kind: str, target: dict[str, Any], path: tuple[str | int, ...], *, enabled: bool
) -> None:
    key = NEEDED_FILTER.get(kind)
    found = target.get("filter")
    if key is None or not (found is None or isinstance(found, dict)):
        return
    if found is None or found.get(key) is None:
        broken = FILTER_MISSING if enabled else FILTER_MISSING_DISABLED
        report(context, broken, f"a target of {kind} has no filter.{key}", *path)


def _check_loop(
    context: Context, target: dict[str, Any], path: tuple[str | int, ...], disabled: frozenset[str]
) -> None:
    name = target["loop"]
    if not is_filled(name):
        return
    if target.get("scope") == "system":
        report(context, SYSTEM_LOOP, f"loop {brief(name)} in a target of scope system", *path, "loop")
    elif name not in context.declared_loops:
        report(context, UNKNOWN_LOOP, f"no loop {brief(name)} is declared", *path, "loop")
    elif name in disabled:
        report(context, DISABLED_LOOP, f"the loop {brief(name)} is disabled", *path, "loop")


PASSES = (Pass("triggers", RULES, check, ("adf_config",)),)
