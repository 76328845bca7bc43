"""What a new agent consists of, worked out before anything is written."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adf_format.config import fresh
from adf_format.creation import seeds
from adf_format.errors import UsageError
from adf_format.identity import Identity
from adf_format.schemas import LATEST, checker, storage_version

ADF_VERSION = "0.2"
ID_SIZE = 12
_ID_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-"
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\ud800-\udfff]')  # CFG 2.1: a name can be a file name
_HANDLE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

Row = dict[str, Any]


@dataclass(frozen=True)
class Agent:
    """A new agent: the rows of its file.

    :ivar version: storage version
    :ivar rows: rows by table, as `creation.insert` takes them
    """

    version: int
    config: fresh.Config
    rows: dict[str, list[Row]]


def plan(
    *,
    name: str,
    schema_version: int = LATEST,
    config: fresh.Config | None = None,
    handle: str | None = None,
    agent_id: str | None = None,
    identity: Identity | None = None,
    now: datetime | None = None,
) -> Agent:
    """Work out a new agent. The same arguments give the same agent, if `now` and `agent_id` are among them.

    :param config: merged over the defaults of the version: objects key by key, arrays as a whole. Its id is taken
        unless `agent_id` is given; `adf_version`, `name` and the dates in `metadata` are the creator's
    :param handle: address name; made from the name when left out, and then not in the configuration (K10)
    :param agent_id: 12 characters; random when left out
    :param identity: signing key whose DID the agent gets; without one a runtime makes it when it needs it
    :param now: time of creation, an aware datetime
    :raises UsageError: a name, handle or configuration that the format forbids, or an unknown version
    """
    storage_version(schema_version)
    _check_name(name)
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    time = iso(moment)
    made = _config(schema_version, config or {}, name=name, handle=handle, agent_id=agent_id, time=time)
    texts = seeds.files(schema_version, name, time[:10])
    rows = {
        "adf_meta": _meta(schema_version, name, made.get("handle") or slug(name), time, identity),
        "adf_config": [{"id": 1, "config_json": made, "updated_at": time}],
        "adf_files": [file_row(path, text.encode(), time) for path, text in texts.items()],
        "adf_identity": identity.rows() if identity else [],
    }
    return Agent(schema_version, made, rows)


def iso(moment: datetime) -> str:
    """Write a time as the format does: ISO 8601 in UTC with milliseconds (STO-019)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def slug(name: str) -> str:
    """Make a handle from a name (K10)."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:64].strip("-") or "untitled"


def new_id(size: int = ID_SIZE) -> str:
    """Return a random nanoid (STO-021)."""
    return "".join(secrets.choice(_ID_ALPHABET) for _ in range(size))


def file_row(path: str, content: bytes, time: str, mime: str = "text/markdown", protection: str = "no_delete") -> Row:
    """Return the row of one file in `adf_files`."""
    row: Row = {"path": path, "content": content, "mime_type": mime, "size": len(content), "protection": protection}
    return row | {"authorized": 0, "created_at": time, "updated_at": time}


def _check_name(name: str) -> None:
    wrong = not name.strip() or len(name) > 100 or name.endswith(".") or _FORBIDDEN.search(name)
    if wrong:
        raise UsageError(
            f"{name!a:.60} cannot be the name of an agent", hint="1 to 100 characters that a file name can have"
        )


def _config(
    version: int, changes: fresh.Config, *, name: str, handle: str | None, agent_id: str | None, time: str
) -> fresh.Config:
    made = fresh.merge(fresh.defaults(version), changes)
    dates = {"created_at": time, "updated_at": time}
    made |= {"adf_version": ADF_VERSION, "id": agent_id or made.get("id") or new_id(), "name": name}
    made["metadata"] = fresh.merge(made["metadata"], dates) if isinstance(made.get("metadata"), dict) else dates
    made.setdefault("icon", fresh.icon(str(made["id"])))
    if handle is not None:
        made["handle"] = handle
    if "handle" in made and not _HANDLE.fullmatch(str(made["handle"])):
        raise UsageError(
            f"{made['handle']!a:.80} cannot be a handle", hint="up to 64 lower-case letters, digits, hyphens"
        )
    if "state" not in changes and "start_in_state" in made:
        made["state"] = made["start_in_state"]
    return _checked(fresh.in_order(made, version), version)


def _checked(config: fresh.Config, version: int) -> fresh.Config:
    for problem in checker(storage_version(version).agent_config).problems(config):
        if problem.severity == "error":
            raise UsageError(f"the configuration is not valid: {problem.message}", place=problem.pointer or "/")
    return config


def _meta(version: int, name: str, handle: str, time: str, identity: Identity | None) -> list[Row]:
    values = {
        "adf_version": ADF_VERSION,
        "adf_schema_version": str(version),
        "adf_name": name,
        "adf_handle": handle,
        "adf_parent_did": "",
        "adf_created_at": time,
        "adf_updated_at": time,
    }
    if identity:
        values["adf_did"] = identity.did
    rows: list[Row] = [{"key": key, "value": value, "protection": "readonly"} for key, value in values.items()]
    return [*rows, {"key": "status", "value": "", "protection": "none"}]
