"""Faults of the keys of `adf_meta`, read off their registry. JSON values are mutated as slots, elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.schemas import document, metakeys
from mutation.bench import Change
from mutation.fault import Fault
from mutation.json_faults import of_value
from mutation.slots import text_of
from mutation.values import Node, bases, synthesise

PROTECTIONS = ("none", "readonly", "increment")
INSERT = "INSERT OR REPLACE INTO adf_meta (key, value, protection) VALUES (?, ?, ?)"


def meta_faults(version: int) -> Iterator[Fault]:
    """Yield the faults of every registered key; the valid value is inserted by `prepared` first."""
    for entry in document(metakeys.REGISTRY)["keys"]:
        name = entry["name"] + ("loop" if entry.get("prefix") else "")
        if not _exists(entry, version):
            if entry["until"] is not None and entry["until"] < version:
                yield _put(f"retired/{name}", name, _valid(entry), "none")
            continue
        yield Fault(f"meta/removed/{name}", _deleted(name), ("adf_meta",))
        for protection in PROTECTIONS:
            if entry["protection"] not in (None, protection):
                yield _put(f"protection-{protection}/{name}", name, _valid(entry), protection)
        yield from _values(entry, name)
        if entry["perLoop"] and version >= 29:
            yield _put(f"unknown-loop/{name}", f"{name}:nobody", _valid(entry), entry["protection"])


def prepared(version: int) -> Change:
    """Return the change that gives the sample every registered key of its version."""
    rows = []
    for entry in document(metakeys.REGISTRY)["keys"]:
        if _exists(entry, version):
            name = entry["name"] + ("loop" if entry.get("prefix") else "")
            rows.append((name, _valid(entry, version), entry["protection"] or "none"))

    def insert(connection: Any) -> None:
        for row in rows:
            connection.execute(INSERT.replace("REPLACE", "IGNORE"), row)

    return insert


def _exists(entry: dict[str, Any], version: int) -> bool:
    since = entry["since"] if isinstance(entry["since"], int) else 28
    return bool(since <= version and (entry["until"] is None or version <= entry["until"]))


def _valid(entry: dict[str, Any], version: int = 32) -> str:
    schema = entry["value"]["schema"]
    if isinstance(schema, str):
        return text_of(bases(schema)[0])
    if entry["name"] == "adf_schema_version":
        return str(version)
    return str(synthesise([Node("", schema)]))


def _values(entry: dict[str, Any], name: str) -> Iterator[Fault]:
    schema = entry["value"]["schema"]
    protection = entry["protection"] or "none"
    if isinstance(schema, str):
        return
    for kind, change in of_value([Node("", schema)], _valid(entry)):
        wrong = change(None)
        if isinstance(wrong, str) and not kind.startswith(("type:", "null")):
            yield _put(f"{kind}/{name}", name, wrong, protection)


def _put(kind: str, key: str, value: str, protection: str) -> Fault:
    return Fault(f"meta/{kind}", lambda connection: connection.execute(INSERT, (key, value, protection)), ("adf_meta",))


def _deleted(key: str) -> Change:
    return lambda connection: connection.execute("DELETE FROM adf_meta WHERE key = ?", (key,))
