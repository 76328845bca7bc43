"""Everything but the transcript: who the agent is, and what its tables hold."""

from __future__ import annotations

from typing import Any

import apsw

from adf_format.errors import JsonTextError
from adf_format.inspection.file import File, whole
from adf_format.jsontext import decode
from adf_format.schemas.ddl import quote_any

MAX_TABLES = 200
MAX_TIMERS = 5
_META = {
    "name": "adf_name",
    "handle": "adf_handle",
    "did": "adf_did",
    "owner_did": "adf_owner_did",
    "runtime_did": "adf_runtime_did",
    "parent_did": "adf_parent_did",
    "created_at": "adf_created_at",
    "updated_at": "adf_updated_at",
    "clean_close": "adf_clean_close",
    "status": "status",
}


def identity(file: File) -> dict[str, Any]:
    """Who it is: names, DIDs and times from `adf_meta`, and which keys are kept in `adf_identity`."""
    found: dict[str, Any] = {name: file.meta_text(key) or None for name, key in _META.items()}
    if file.has("adf_identity", "purpose"):
        found["keys"] = list(file.counts("adf_identity", "purpose", limit=20))
    return found


def agent(file: File) -> dict[str, Any]:
    """What the configuration says, in short."""
    config = file.config
    model = config.get("model")
    model = model if isinstance(model, dict) else {}
    tools = config.get("tools")
    enabled = [one for one in tools if isinstance(one, dict) and one.get("enabled")] if isinstance(tools, list) else []
    return {
        "id": _text(config.get("id")),
        "description": _text(config.get("description")),
        "provider": _text(model.get("provider")),
        "model": _text(model.get("model_id")),
        "state": _text(config.get("state")),
        "autonomous": config.get("autonomous") if isinstance(config.get("autonomous"), bool) else None,
        "tools_enabled": len(enabled),
    }


def tables(file: File) -> dict[str, int | None]:
    """Count the rows of every ordinary table; None where SQLite cannot count them."""
    names = [
        name for kind, name, _, sql in file.structure.objects if kind == "table" and not _internal(file, name, sql)
    ]
    return {name: _count(file, name) for name in names[:MAX_TABLES]}


def _internal(file: File, name: str, sql: str | None) -> bool:
    """Whether a table belongs to SQLite or to a virtual table (STO-020)."""
    shadow = any(name == virtual or name.startswith(f"{virtual}_") for virtual in file.structure.virtual)
    return name.startswith("sqlite_") or sql is None or shadow


def _count(file: File, name: str) -> int | None:
    try:
        return whole(file.one(f"SELECT count(*) FROM {quote_any(name)}"))
    except (apsw.CorruptError, apsw.SQLError):
        return None


def timers(file: File) -> dict[str, Any]:
    """Return how many timers there are, and those due next."""
    file.need("adf_timers", "id", "schedule_json", "next_wake_at")
    columns = [name for name in ("run_count", "locked", "expired", "loop") if file.has("adf_timers", name)]
    where = "WHERE expired = 0" if "expired" in columns else ""
    fields = "".join(f", {quote_any(name)}" for name in columns)
    found = file.rows(
        f"SELECT id, next_wake_at, substr(schedule_json, 1, 4000){fields} FROM adf_timers {where}"
        f" ORDER BY next_wake_at, id LIMIT {MAX_TIMERS}"
    )
    due = [
        {"id": row[0], "next_wake_at": whole(row[1]), "schedule": _schedule(row[2])} | _marks(columns, row[3:])
        for row in found
    ]
    return {"count": whole(file.one("SELECT count(*) FROM adf_timers")), "next": due}


def _marks(columns: list[str], values: tuple[Any, ...]) -> dict[str, Any]:
    named = dict(zip(columns, values, strict=True))
    loop = named.pop("loop", None)
    return {name: whole(value) for name, value in named.items()} | ({"loop": loop} if isinstance(loop, str) else {})


def _schedule(text: Any) -> str:
    """Say a schedule in a few words."""
    try:
        schedule = decode(text).value if isinstance(text, str) else None
    except JsonTextError:
        schedule = None
    if not isinstance(schedule, dict):
        return "unreadable schedule"
    mode = _text(schedule.get("mode")) or "?"
    detail = {"interval": schedule.get("every_ms"), "cron": schedule.get("cron")}.get(mode)
    unit = " ms" if mode == "interval" else ""
    return f"{mode} {_text(detail)}{unit}" if detail is not None else mode


def messages(file: File) -> dict[str, dict[str, int]]:
    """Count messages by status."""
    return {box: file.counts(f"adf_{box}", "status") for box in ("inbox", "outbox")}


def tasks(file: File) -> dict[str, int]:
    """Count tasks by status."""
    return file.counts("adf_tasks", "status")


def memory(file: File) -> dict[str, Any]:
    """What the agent keeps in mind: sizes in bytes, None where there is no such file."""
    file.need("adf_files", "path", "content")
    sizes = {path: file.one("SELECT octet_length(content) FROM adf_files WHERE path = ?", (path,)) for path in _MIND}
    count, size = file.rows("SELECT count(*), total(octet_length(content)) FROM adf_files WHERE path GLOB 'mind/*'")[0]
    return {**{name: sizes[path] for path, name in _MIND.items()}, "pages": count, "pages_bytes": whole(size)}


_MIND = {"mind.md": "mind", "mind/log.md": "log", "soul.md": "soul"}


def files(file: File) -> dict[str, int]:
    """Count the files of the virtual filesystem and their bytes."""
    file.need("adf_files", "content")
    count, size = file.rows("SELECT count(*), total(octet_length(content)) FROM adf_files")[0]
    return {"count": count, "bytes": whole(size)}


def _text(value: Any) -> str | None:
    return str(value)[:200] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
