"""Steps 13 to 21: from before the first release (MIG-020 to MIG-027)."""

from __future__ import annotations

from typing import Any

from adf_format.creation.agent import slug
from adf_format.migration.steps.model import Step
from adf_format.migration.work import Config, Work
from adf_format.schemas import OLDEST

_RENAMED = {"did": "adf_did", "owner_did": "adf_owner_did", "runtime_did": "adf_runtime_did"}
_KDF = {"identity_salt": "crypto:kdf:salt", "identity_kdf_params": "crypto:kdf:params"}
_METHODS = (
    "model_invoke",
    "sys_lambda",
    "task_resolve",
    "loop_inject",
    "identity_status",
    "get_identity",
    "set_identity",
    "authorize_file",
)


def _names(work: Work) -> None:
    """Move what `adf_meta` held to the names it has since (MIG-020)."""
    rule, config = "MIG-020", work.config()
    for key in ("format", "schema_version"):
        work.remove_meta(rule, key)
    work.set_meta(rule, "adf_schema_version", "14")
    for old, new in _RENAMED.items():
        value = work.meta(old)
        if value is not None:
            work.set_meta(rule, new, value)
            work.remove_meta(rule, old)
    for key, value in _identity(config).items():
        work.set_meta(rule, key, value)
    for key, purpose in _KDF.items():
        _move_to_identity(work, key, purpose)
    work.set_meta(rule, "status", "")


def _identity(config: Config) -> dict[str, str]:
    name, dates = _text(config.get("name")), config.get("metadata")
    dates = dates if isinstance(dates, dict) else {}
    return {
        "adf_name": name,
        "adf_handle": _text(config.get("handle")) or slug(name),
        "adf_parent_did": "",
        "adf_created_at": _text(dates.get("created_at")),
        "adf_updated_at": _text(dates.get("updated_at")),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _move_to_identity(work: Work, key: str, purpose: str) -> None:
    value = work.meta(key)
    if value is None:
        return
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    insert = "INSERT OR REPLACE INTO adf_identity (purpose, value, encryption_algo) VALUES (?, ?, 'plain')"
    work.connection.execute(insert, (purpose, data))
    work.note("MIG-020", "row-added", "adf_identity", key=purpose)
    work.remove_meta("MIG-020", key)


def _protect_meta(work: Work) -> None:
    """Protect the keys of the format (MIG-021); `_` is a wildcard of LIKE, and case counts not."""
    rule = "MIG-021"
    work.add_column(rule, "adf_meta", "protection", OLDEST, value="none")
    keys = [key for (key,) in work.connection.execute("SELECT key FROM adf_meta WHERE key LIKE 'adf_%'")]
    work.record.derived.add(("adf_meta", "protection"))
    for key in keys:
        work.set_value(rule, "adf_meta", "key", key, "protection", "readonly")


def _restrictions(work: Work) -> None:
    work.edit_config("MIG-026", _restrict, always=True)


def _restrict(config: Config) -> None:
    """Turn demands for approval into restrictions."""
    security = config.get("security")
    listed = security.pop("require_authorized", None) if isinstance(security, dict) else None
    names = listed if isinstance(listed, list) else []
    for tool in _objects(config.get("tools")):
        _restrict_one(tool, named=tool.get("name") in names)
    mcp = config.get("mcp")
    for server in _objects(mcp.get("servers") if isinstance(mcp, dict) else None):
        _restrict_one(server, named=False)
    methods = [name for name in names if name in _METHODS]
    if methods:
        if not isinstance(config.get("code_execution"), dict):
            config["code_execution"] = {}
        config["code_execution"]["restricted_methods"] = methods


def _restrict_one(entry: Config, *, named: bool) -> None:
    if entry.pop("require_approval", None) or named:
        entry["restricted"] = True


def _objects(value: Any) -> list[Config]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _drop_peers(work: Work) -> None:
    for index in ("idx_adf_peers_handle", "idx_adf_peers_via"):
        work.drop("MIG-027", "index", index)
    work.drop("MIG-027", "table", "adf_peers")


def _column(source: int, rule: str, table: str, column: str) -> Step:
    def run(work: Work) -> None:
        work.add_column(rule, table, column, OLDEST, value=0)

    return Step(source, source + 1, (rule,), f"{table}.{column} is added", run)


STEPS = (
    Step(
        13, 14, ("MIG-020",), "keys of adf_meta get the prefix adf_; identity parameters move to adf_identity", _names
    ),
    Step(14, 15, ("MIG-021",), "adf_meta.protection is added, keys of the format become readonly", _protect_meta),
    _column(15, "MIG-022", "adf_timers", "locked"),
    _column(16, "MIG-023", "adf_files", "authorized"),
    _column(17, "MIG-024", "adf_tasks", "requires_authorization"),
    _column(18, "MIG-025", "adf_tasks", "executor_managed"),
    Step(19, 20, ("MIG-026",), "require_approval becomes restricted in the configuration", _restrictions),
    Step(20, 21, ("MIG-027",), "the table adf_peers goes", _drop_peers),
)
