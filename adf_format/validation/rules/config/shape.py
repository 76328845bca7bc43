"""The configuration against the schema of its storage version: types, values, limits, missing and unknown keys.

Some violations have a rule of their own (see `OWNED`): there the general rule keeps silent.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from adf_format.config import keys
from adf_format.jsontext import Decoded
from adf_format.schemas import Problem, checker
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.explained import explained
from adf_format.validation.rule import Example, Rule, Severity, rule

from . import document, serving, tools, triggers
from .reporting import drop, put, report, report_at

REMARKS = 100_000  # keys remarked upon

WRONG_TYPE = rule(
    "ADF404",
    "config-wrong-type",
    Severity.ERROR,
    what="Every documented field has its JSON type.",
    why='Runtimes use the value without asking; `"false"` is true in JavaScript.',
    source=("CFG 2", "CFG 3"),
    fires=put(("$.autonomous", "false")),
    silent=put(("$.limits.execution_timeout_ms", 60000.0)),
)
OUTSIDE_LIST = rule(
    "ADF405",
    "config-value-not-listed",
    Severity.ERROR,
    what="A field with a closed list of values holds one of them.",
    why="No runtime knows what another value means; most fall back to a default in silence.",
    source=("CFG 2", "CFG 3", "CFG 5"),
    fires=put(("$.state", "thinking")),
    silent=put(("$.state", "suspended")),
    fix="choose one of the listed values",
)
MISSING = rule(
    "ADF406",
    "config-key-missing",
    Severity.ERROR,
    what="The keys without which an object has no meaning are there.",
    why="There is no default for them: an entry without its name or kind cannot be used.",
    source=("CFG 2", "CFG 3"),
    fires=drop("$.loops[0].goal"),
    silent=drop("$.loops[0].tools"),
)
SECTION_MISSING = rule(
    "ADF407",
    "config-section-missing",
    Severity.WARNING,
    what="The sections that every writer writes are there (`context`, `triggers`, `security`, `limits`, …).",
    why="Runtimes fall back to defaults, but their own validation complains at every load.",
    source=("CFG 3",),
    fires=drop("$.limits"),
    silent=drop("$.compute"),
    fix="add the section as a fresh file has it: see `adf-format new`",
)
LIMIT = rule(
    "ADF408",
    "config-limit-broken",
    Severity.ERROR,
    what="Lengths, numbers and forms keep the limits that the specification states.",
    why="A loop name outside its form cannot be addressed; a longer goal or list is refused by every writer.",
    source=("CFG 3", "CFG 2.6", "SEED-LOOPS"),
    fires=put(("$.loops[0].name", "gardener\n")),
    silent=put(("$.loops[0].goal", "g" * 4000)),
)
LIMIT_TOLERATED = rule(
    "ADF409",
    "config-limit-of-runtime",
    Severity.WARNING,
    what="Lengths, numbers and forms keep the limits of the reference runtime too.",
    why="The specification is silent, but the runtime reports the value at every load and refuses to write it.",
    source=("CFG 3",),
    fires=put(("$.model.temperature", 2.5)),
    silent=put(("$.model.temperature", None)),
)
NULL = rule(
    "ADF410",
    "config-null-for-optional-key",
    Severity.WARNING,
    what="An optional key that is unset is left out, not written as null.",
    why="The specification's examples show null in places; the reference runtime's validation refuses it.",
    source=("CFG K9", "CFG 1.4"),
    fires=put(("$.triggers.on_inbox.targets[0].interval_ms", None)),
    silent=put(("$.limits.max_active_turns", None)),
    fix="remove the key",
)
UNKNOWN_KEY = rule(
    "ADF411",
    "config-unknown-key",
    Severity.INFO,
    what="Every key is one that this storage version knows.",
    why="It is legal and must be kept; it may be a newer runtime's, or a typing mistake that has no effect.",
    source=("CFG 1.2", "CFG 3", "STO-016"),
    fires=put(("$.model.temprature", 0.5)),
    silent=put(("$.model.provider_params", {"temprature": 0.5})),
)
DEPRECATED = rule(
    "ADF412",
    "config-deprecated-key",
    Severity.WARNING,
    what="No key is in use that has a successor or never had an effect.",
    why="A runtime may stop reading it; where both are present, the successor wins.",
    source=("CFG 2.1", "CFG 2.3", "CFG 3"),
    fires=put(("$.reply_to", "https://example.org/inbox")),
    silent=put(("$.model.vision", True)),
)
REMOVED = rule(
    "ADF413",
    "config-removed-key",
    Severity.WARNING,
    what="No key is present that a migration to this or an earlier storage version removes.",
    why="Nothing reads it; the migration was done by halves, or an old tool wrote to the file since.",
    source=("CFG 2.1", "CFG 3"),
    fires=put(("$.limits.max_loop_rows", 500)),
    silent=Example(put(("$.limits.max_loop_rows", 500)), on=21),
    fix="remove the key",
)
OUTSIDE_LIST_TOLERATED = rule(
    "ADF415",
    "config-value-of-real-files",
    Severity.WARNING,
    what="A field holds a value that the specification lists, not one that only real files hold.",
    why="Hosts without that extension cannot use it.",
    source=("CFG K2", "CFG 2.22"),
    fires=put(("$.providers[0].type", "chatgpt-subscription")),
    silent=put(("$.providers[0].type", "openrouter")),
)
FORM_ADVICE = rule(
    "ADF416",
    "config-form-for-agents",
    Severity.INFO,
    what="Names, route paths and route lambdas have the form that an agent is held to when it writes them.",
    why="The owner may write others; an agent that sends the value back unchanged is refused.",
    source=("CFG 2.1", "CFG 2.18"),
    fires=put(("$.name", "Ada?")) + "; UPDATE adf_meta SET value = 'Ada?' WHERE key = 'adf_name'",
    silent=put(("$.name", "Ada!")) + "; UPDATE adf_meta SET value = 'Ada!' WHERE key = 'adf_name'",
)
FILLED_LATER = rule(
    "ADF417",
    "config-key-not-filled",
    Severity.INFO,
    what="From storage version 31 on, `icon` is there.",
    why="The migration fills it in; a host picks one for display where it is missing.",
    source=("CFG 2.1", "MIG-037"),
    fires=drop("$.icon"),
    silent=Example(drop("$.icon"), on=30),
)
WRONG_TYPE_TOLERATED = rule(
    "ADF418",
    "config-unusual-type",
    Severity.WARNING,
    what="A known setting in an open map, such as `adapters.email.config.folders`, has its usual type.",
    why="The map is the adapter's own affair, but known adapters do not understand the value.",
    source=("CFG 2.17",),
    fires=put(("$.adapters.email", {"enabled": False, "config": {"folders": "INBOX"}})),
    silent=put(("$.adapters.matrix", {"enabled": False, "config": {"folders": "INBOX"}})),
)
STORED_LOOP_NAME = rule(
    "ADF473",
    "stored-loop-name",
    Severity.WARNING,
    what="`metadata.loop_name` is never stored.",
    why="It marks the config of an inner loop in memory; a runtime that believed it would bind `main` to that loop.",
    source=("CFG 2.1", "LOOP-022"),
    fires=put(("$.metadata.loop_name", "gardener")),
    silent=put(("$.metadata.author", "gardener")),
    since=29,
    fix="remove the key",
)
RULES = (
    WRONG_TYPE, OUTSIDE_LIST, MISSING, SECTION_MISSING, LIMIT, LIMIT_TOLERATED, NULL, UNKNOWN_KEY, DEPRECATED, REMOVED,
    OUTSIDE_LIST_TOLERATED, FORM_ADVICE, FILLED_LATER, WRONG_TYPE_TOLERATED, STORED_LOOP_NAME, document.UNLOADABLE,
    triggers.UNKNOWN_FILTER, triggers.WRONG_SOURCE, triggers.UNKNOWN_TRIGGER, serving.NO_LAMBDA, tools.SERVER_NAME,
)  # fmt: skip
TIERS = {
    "type": (WRONG_TYPE, WRONG_TYPE_TOLERATED, WRONG_TYPE_TOLERATED),
    "enum": (OUTSIDE_LIST, OUTSIDE_LIST_TOLERATED, OUTSIDE_LIST_TOLERATED),
    "const": (OUTSIDE_LIST, OUTSIDE_LIST_TOLERATED, OUTSIDE_LIST_TOLERATED),
    "required": (MISSING, SECTION_MISSING, FILLED_LATER),
}
OTHERS = (LIMIT, LIMIT_TOLERATED, FORM_ADVICE)
SEVERITIES = ("error", "warning", "info")
OWNED: tuple[tuple[re.Pattern[str], str, Rule | None], ...] = (
    (re.compile(r"|/tools|/metadata"), "type", document.UNLOADABLE),
    (re.compile(r""), "required tools", document.UNLOADABLE),
    (re.compile(r"/triggers/on_(inbox|llm_call)/targets/\d+/filter/source"), "type warning", triggers.WRONG_SOURCE),
    (re.compile(r"/serving/api/\d+"), "required lambda", serving.NO_LAMBDA),
    (re.compile(r"/serving/api/\d+/lambda"), "minLength", serving.NO_LAMBDA),
    (re.compile(r"/serving/api/\d+/lambda"), "pattern", None),
    (re.compile(r"/mcp/servers/\d+/name"), "pattern", tools.SERVER_NAME),
    (re.compile(r"/pre_llm_hook/loops"), "minItems", None),
)
"""Pointer, keyword (with the missing key or the severity), and the rule that stands for it.

None: another pass reports it.
"""


def check(context: Context) -> None:
    """Compare the configuration with its schema; the schema is asked for reasons only if it says no."""
    decoded = context.config_decoded
    if not isinstance(decoded, Decoded):
        return
    if not checker(context.version.agent_config).is_valid(decoded.value):
        _explain(context, decoded.value)
    _remark(context, decoded.value)


def _explain(context: Context, config: Any) -> None:
    top = keys.place(context.version.agent_config)
    whole = checker(context.version.agent_config)
    for problem in explained(context, whole, config, "configuration against its schema"):
        broken = _rule_of(problem, config, top)
        if broken is not None:
            message = "null where the key can be left out" if broken is NULL else problem.message
            report_at(context, broken, message, problem.pointer)


def _rule_of(problem: Problem, config: Any, top: keys.Place) -> Rule | None:
    """Choose the rule: the one that owns the place, else by keyword and severity."""
    words = {problem.keyword, f"{problem.keyword} {problem.key}", f"{problem.keyword} {problem.severity}"}
    for pattern, word, owner in OWNED:
        if word in words and pattern.fullmatch(problem.pointer):
            return owner
    if (
        problem.keyword == "type"
        and problem.message.startswith("null ")
        and keys.is_optional(top, config, problem.pointer)
    ):
        return NULL
    return TIERS.get(problem.keyword, OTHERS)[SEVERITIES.index(problem.severity)]


def _remark(context: Context, config: Any) -> None:
    remarks = keys.remarks_by_section(context.version.agent_config, config)
    if context.undescribed:  # nobody here can tell which keys that version knows
        context.not_checked("unknown keys of the configuration", context.undescribed)
        remarks = (one for one in remarks if one[0] != "unknown")
    for what, path in itertools.islice(remarks, REMARKS):
        broken, message = _remark_on(what, path)
        if broken is not None:
            report(context, broken, message, *path)
    if next(remarks, None) is not None:
        context.not_checked("keys of the configuration", f"only the first {REMARKS:,} remarkable keys are looked at")


def _remark_on(what: str, path: keys.Path) -> tuple[Rule | None, str]:
    name = brief(path[-1])
    if path == ("metadata", "loop_name"):
        return STORED_LOOP_NAME, "metadata.loop_name is stored"
    if what != "unknown":
        return (REMOVED if what == "removed" else DEPRECATED), f"the key {name} is {what}"
    if path == ("loops",):
        return None, ""  # ADF462
    if path[0] == "triggers" and len(path) == 2:
        return triggers.UNKNOWN_TRIGGER, f"{name} is no type of trigger"
    if path[0] == "triggers" and path[-2] == "filter":
        return triggers.UNKNOWN_FILTER, f"the filter of {brief(path[1])} has no key {name}"
    return UNKNOWN_KEY, f"the key {name} is not known"


PASSES = (Pass("configuration against its schema", RULES, check, ("adf_config",)),)
