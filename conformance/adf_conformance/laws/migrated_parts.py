"""What a migration must do to everything but the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_conformance.laws.expected import WHITESPACE, config_after
from adf_conformance.observe import AgentFile

if TYPE_CHECKING:
    from adf_conformance.laws.migrator import Migration

Row = dict[str, Any]
_TABLES = {
    "messages-kept": ("adf_inbox", "adf_outbox"),
    "timers-kept": ("adf_timers",),
    "identity-kept": ("adf_identity",),
    "tasks-logs-kept": ("adf_tasks", "adf_logs"),
}


def judge(migration: Migration, after: AgentFile) -> None:
    """Compare everything but the audit."""
    _transcript(migration, after)
    for law, tables in _TABLES.items():
        for table in tables:
            _same(migration, after, law, table)
    _foreign(migration, after)
    _config(migration, after)
    _meta(migration, after)
    _files(migration, after)
    _attestations(migration, after)


def _common(before: list[Row], after: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return rows with the columns that both have."""
    names = [name for name in (before or [{}])[0] if not after or name in after[0]]
    return [{name: row[name] for name in names} for row in before], [
        {name: row.get(name) for name in names} for row in after
    ]


def _same(migration: Migration, after: AgentFile, law: str, table: str) -> None:
    rows = migration.before.rows(table)
    if rows:
        old, new = _common(rows, after.rows(table))
        migration.demand(law, old == new, f"{table}: {_difference(old, new)}")


def _difference(old: list[Row], new: list[Row]) -> str:
    if len(old) != len(new):
        return f"{len(new)} rows, there were {len(old)}"
    for was, now in zip(old, new, strict=True):
        for name, value in was.items():
            if now[name] != value:
                return f"{name} is {now[name]!r:.200}, was {value!r:.200}"
    return "equal"


def _transcript(migration: Migration, after: AgentFile) -> None:
    rows = migration.before.rows("adf_loop")
    _same(migration, after, "transcript-kept", "adf_loop")
    mark, now = migration.before.sequence.get("adf_loop", 0), after.sequence.get("adf_loop", 0)
    if mark:
        migration.demand("sequence-kept", now == mark, f"the counter says {now}, it said {mark}")
    if rows and migration.crosses(29):
        loops = sorted({str(row["loop"]) for row in after.rows("adf_loop")})
        migration.demand("transcript-main", loops == ["main"], f"rows belong to {loops}")
    if rows and migration.crosses(28):
        orders = {row["ord"] for row in after.rows("adf_loop")}
        migration.demand("transcript-ord-null", orders == {None}, f"rows have ord {orders}")
    if migration.before.timers and migration.crosses(26):
        expired = {row["expired"] for row in after.timers}
        migration.demand("expired-zero", expired == {0}, f"expired is {expired}")


def _foreign(migration: Migration, after: AgentFile) -> None:
    before = migration.before
    for table in sorted(before.tables):
        known = table.startswith(("adf_", "sqlite_"))
        if not known or table == "adf_future":
            kept = table in after.tables and after.rows(table) == before.rows(table)
            migration.demand("foreign-tables-kept", kept, f"{table} is not as it was")
    if "unknown-column" in migration.plan.get("odd", ()):
        migration.demand("unknown-columns-kept", "colour" in after.columns("adf_files"), "adf_files.colour is gone")


def _config(migration: Migration, after: AgentFile) -> None:
    old, new = migration.before.config, after.config
    expected = config_after(old, migration.before.version, migration.target)
    differing = sorted(key for key in expected.keys() | new.keys() if expected.get(key) != new.get(key))
    message = f"{', '.join(differing)}: {[new.get(key) for key in differing]}"[:400]
    for law in _config_laws(migration, old):
        migration.demand(law, not differing, message, right={key: expected.get(key) for key in differing})
    times = [view.rows("adf_config")[0]["updated_at"] for view in (migration.before, after)]
    migration.demand("config-time-kept", times[0] == times[1], f"updated_at is {times[1]}, was {times[0]}")


def _config_laws(migration: Migration, old: Row) -> list[str]:
    """Return what the configuration is about: the most particular first."""
    model, limits = old.get("model") or {}, old.get("limits") or {}
    laws = {
        "document-watch": migration.crosses(22) and "document.*" in str(old.get("triggers")),
        "limits-removed": migration.crosses(23) and ("max_loop_rows" in limits or "max_loop_messages" in model),
        "thinking-budget": migration.crosses(23) and "thinking_budget" in model,
        "bare-prompt": migration.crosses(30) and old.get("bare_prompt") is True,
        "icon": migration.crosses(31) and not old.get("icon"),
        "config-unknown-kept": "hologram" in old,
        "config-only-documented": True,
    }
    return [law for law, concerned in laws.items() if concerned]


def _meta(migration: Migration, after: AgentFile) -> None:
    def kept(view: AgentFile) -> dict[str, Any]:
        fixed = {"adf_schema_version", "adf_clean_close", "adf_attestations"}
        rows = {row["key"]: (row["value"], row["protection"]) for row in view.rows("adf_meta")}
        return {key: value for key, value in rows.items() if key not in fixed}

    old, new = kept(migration.before), kept(after)
    migration.demand("meta-kept", old == new, f"meta is {new}, was {old}")


def _files(migration: Migration, after: AgentFile) -> None:
    old, new = dict(migration.before.files), after.files
    if migration.crosses(22) and "document.md" in old:
        if "README.md" not in old:
            old["README.md"] = old.pop("document.md") | {"path": "README.md"}
        same = all(path in new for path in old) and not set(new) - set(old) - {"soul.md", "mind/log.md"}
        migration.demand("document-renamed", same, f"files are {sorted(new)}")
    _seeded(migration, old, new, 25, "soul.md", "soul-seeded")
    _seeded(migration, old, new, 28, "mind/log.md", "mind-log-seeded")
    _mind(migration, old, new)
    extra = sorted(set(new) - set(old))
    migration.demand("files-kept", not extra, f"new files: {', '.join(extra)}")
    for path, row in old.items():
        wanted, found = _common([row], [new.get(path, {})])
        migration.demand("files-kept", wanted == found, f"{path}: {_difference(wanted, found)}")


def _seeded(migration: Migration, old: dict[str, Row], new: dict[str, Row], since: int, path: str, law: str) -> None:
    """Demand a seed, or that what was there is still there; then take it out of the comparison."""
    if not migration.crosses(since):
        return
    found = new.get(path, {})
    if path in old:
        right = found.get("content") == old[path]["content"] and found.get("protection") == old[path]["protection"]
    else:
        right = found.get("protection") == "no_delete" and bool(found.get("content"))
    migration.demand(law, right, f"{path} is {found.get('content', b'')!r:.100}, {found.get('protection')}")
    old.pop(path, None)
    new.pop(path, None)


def _mind(migration: Migration, old: dict[str, Row], new: dict[str, Row]) -> None:
    if not migration.crosses(28) or "mind.md" not in old:
        return
    was, now = old["mind.md"], new.get("mind.md", {})
    if was["content"].decode().strip(WHITESPACE):
        right = now.get("content") == was["content"]
        migration.demand("mind-lived-in-kept", right, f"mind.md is {now.get('content')!r:.100}")
        return
    seeded = bool(now.get("content", b"").decode().strip(WHITESPACE)) and now.get("size") == len(now["content"])
    right = seeded and now["protection"] == was["protection"]
    migration.demand("mind-seeded", right, f"mind.md is {now.get('content')!r:.100}, {now.get('protection')}")
    old.pop("mind.md")
    new.pop("mind.md")


def _attestations(migration: Migration, after: AgentFile) -> None:
    from adf_conformance.observe.entries import decoded

    key = "adf_attestations"
    text = migration.before.meta.get(key)
    if text is None or not migration.crosses(24):
        return
    value = decoded(text)
    if not isinstance(value, list):
        migration.demand("attestations-unreadable", after.meta.get(key) == text, f"the key is {after.meta.get(key)!r}")
        return
    names = ("issuer", "subject", "signature", "role", "issued_at")
    complete = [one for one in value if all(one.get(name) for name in names[:3])]
    right = [tuple(one.get(name, "") for name in names) for one in complete]
    told = [tuple(row[name] for name in names) for row in after.rows(key)]
    message = f"the table has {told}, right is {right}; the key is {after.meta.get(key)!r}"
    migration.demand("attestations-moved", told == right and key not in after.meta, message)
