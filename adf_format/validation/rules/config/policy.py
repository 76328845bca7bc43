"""Settings that contradict each other, mean different things to different readers, or point nowhere."""

from __future__ import annotations

from typing import Any

from adf_format.config import keys
from adf_format.config.access import entries, is_filled, is_number, section, texts
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule

from .reporting import drop, put, report

AUDITED = ("loop", "inbox", "outbox", "files")
AMBIGUOUS = (("security", "level"), ("messaging", "receive"), ("messaging", "inbox_mode"))
BUILT_IN = frozenset({"anthropic", "openai", "openrouter", "chatgpt-subscription", "grok-subscription"})
DELAYS = {"base_delay_ms": 15000, "max_delay_ms": 300000}

TABLE_NAME = rule(
    "ADF457",
    "protected-table-not-local",
    Severity.WARNING,
    what="A table named in `security.table_protections` is a `local_` table.",
    why="Only those can be protected this way; the entry has no effect.",
    source=("CFG X27",),
    fires=put(("$.security.table_protections.notes", "append_only")),
    silent=put(("$.security.table_protections.local_more", "append_only")),
    fix="remove the entry",
)
AUDIT_PLACES = rule(
    "ADF464",
    "audit-places-differ",
    Severity.WARNING,
    what="`context.audit` and `audit` say the same where both are present.",
    why="`context.audit` alone decides; whoever changes only the other one audits less than he thinks.",
    source=("CFG K5", "AUD-001"),
    fires=put(("$.context.audit.loop", False)),
    silent=drop("$.audit"),
    fix="change both, or remove `audit`",
)
AMBIGUOUS_DEFAULT = rule(
    "ADF466",
    "default-not-agreed",
    Severity.WARNING,
    what="`security.level`, `messaging.receive` and `messaging.inbox_mode` are written out.",
    why="Specification and reference runtime disagree on what applies when one of them is missing.",
    source=("CFG K8",),
    fires=drop("$.messaging.receive"),
    silent=drop("$.messaging.mode"),
    fix="write the key out",
)
SIGNATURE = rule(
    "ADF467",
    "signature-required-and-not",
    Severity.INFO,
    what="`require_signature` goes with `allow_unsigned: false`.",
    why="The reference runtime lets unsigned messages in as long as `allow_unsigned` is true.",
    source=("CFG K21",),
    fires=put(("$.security.require_signature", True)),
    silent=put(("$.security.require_signature", True), ("$.security.allow_unsigned", False)),
    fix="set `allow_unsigned` to false",
)
PROVIDER = rule(
    "ADF469",
    "provider-not-in-file",
    Severity.WARNING,
    what="The provider of a model is built in or stands in `providers`.",
    why="The file runs only on a host that happens to have a provider of that id.",
    source=("CFG 3", "CFG 2.22", "LOOP-059"),
    fires=put(("$.model.provider", "custom:remote")),
    silent=put(("$.model.provider", "custom:local")),
    fix="add the provider to `providers`",
)
LOCKED_FIELD = rule(
    "ADF471",
    "locked-field-unknown",
    Severity.WARNING,
    what="An entry of `locked_fields` names a field: a key, or a dotted path without the items of arrays.",
    why="A lock on what does not exist protects nothing.",
    source=("CFG 7",),
    fires=put(("$.locked_fields", ["model.temprature"])),
    silent=put(("$.locked_fields", ["model.temperature", "tools.enabled", "mcp.new_tools_restricted"])),
    fix="correct the path, or remove the entry",
)
DELAY_ORDER = rule(
    "ADF472",
    "recovery-delays",
    Severity.WARNING,
    what="`recovery.max_delay_ms` is not below `base_delay_ms`.",
    why="The first delay would already be longer than the longest one.",
    source=("CFG Q6", "CFG 2.10"),
    fires=put(("$.recovery", {"base_delay_ms": 400000})),
    silent=put(("$.recovery", {"base_delay_ms": 400000, "max_delay_ms": 400000})),
    since=28,
    fix="raise `max_delay_ms`",
)
COPY_DIFFERS = rule(
    "ADF474",
    "meta-copy-differs",
    Severity.WARNING,
    what="`adf_name` and `adf_handle` in `adf_meta` are the `name` and `handle` of the configuration.",
    why="Listings show the copy, the agent uses the configuration: it goes by two names.",
    source=("STO-038", "CFG K10"),
    fires="UPDATE adf_meta SET value = 'Eda' WHERE key = 'adf_name'",
    silent=drop("$.handle"),
)
RULES = (
    TABLE_NAME, AUDIT_PLACES, AMBIGUOUS_DEFAULT, SIGNATURE, PROVIDER, LOCKED_FIELD, DELAY_ORDER, COPY_DIFFERS,
)  # fmt: skip


def check(context: Context) -> None:
    """Look at each of these settings."""
    config = context.config
    _check_security(context, section(config, "security"))
    _check_audit(context, config)
    _check_providers(context, config)
    _check_locks(context, config)
    _check_delays(context, section(config, "recovery"))
    _check_copies(context, config)
    _check_defaults(context, config)


def _check_security(context: Context, security: dict[str, Any]) -> None:
    for table in section(security, "table_protections"):
        if not table.startswith("local_"):
            text = f"{brief(table)} is no local table"
            report(context, TABLE_NAME, text, "security", "table_protections", table)
    if security.get("require_signature") is True and security.get("allow_unsigned", True) is True:
        report(context, SIGNATURE, "require_signature together with allow_unsigned", "security")


def _check_audit(context: Context, config: dict[str, Any]) -> None:
    inner, outer = section(config, "context").get("audit"), config.get("audit")
    if isinstance(inner, dict) and isinstance(outer, dict):
        different = [key for key in AUDITED if (inner.get(key) is True) != (outer.get(key) is True)]
        if different:
            text = f"audit and context.audit differ in {', '.join(different)}; the latter applies"
            report(context, AUDIT_PLACES, text, "audit")


def _check_defaults(context: Context, config: dict[str, Any]) -> None:
    """Old versions leave some of these keys out of a fresh file: there they are not missed."""
    for name, key in AMBIGUOUS:
        if isinstance(config.get(name), dict) and key not in config[name]:
            known = keys.place(context.version.agent_config).children[name].children.get(key)
            if known is not None and known.is_created:
                report(context, AMBIGUOUS_DEFAULT, f"{key} is missing", name)


def _check_providers(context: Context, config: dict[str, Any]) -> None:
    own = {entry["id"] for _, entry in entries(config, "providers") if isinstance(entry.get("id"), str)}
    models: list[tuple[tuple[str | int, ...], Any]] = [(("model",), config.get("model"))]
    models += [(("loops", index, "model"), loop.get("model")) for index, loop in entries(config, "loops")]
    for path, model in models:
        name = model.get("provider") if isinstance(model, dict) else None
        if is_filled(name) and name not in own and name not in BUILT_IN:
            report(context, PROVIDER, f"no provider {brief(name)} in the file", *path, "provider")


def _check_locks(context: Context, config: dict[str, Any]) -> None:
    if not config.get("locked_fields"):
        return
    top = keys.place(context.version.agent_config)
    foreign = config.keys() - top.children.keys()  # unknown keys of this file may be locked as well
    for index, entry in texts(config, "locked_fields"):
        if entry.partition(".")[0] not in foreign and not keys.names_field(top, entry):
            report(context, LOCKED_FIELD, f"no field {brief(entry)}", "locked_fields", index)


def _check_delays(context: Context, recovery: dict[str, Any]) -> None:
    base, longest = (recovery.get(key, default) for key, default in DELAYS.items())
    if recovery and is_number(base) and is_number(longest) and longest < base:
        report(context, DELAY_ORDER, "max_delay_ms is below base_delay_ms", "recovery")


def _check_copies(context: Context, config: dict[str, Any]) -> None:
    for key, name in (("adf_name", "name"), ("adf_handle", "handle")):
        row = context.meta.get(key)
        value = config.get(name)
        if row is not None and isinstance(row.value, str) and isinstance(value, str) and row.value != value:
            text = f"{brief(row.value)} where the configuration says {brief(value)}"
            context.report(COPY_DIFFERS, text, table="adf_meta", rowid=row.rowid, column="value")


PASSES = (Pass("settings of the configuration", RULES, check, ("adf_config",)),)
