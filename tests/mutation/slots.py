"""Every place of a file where a JSON value with a schema of ours stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from adf_format.audit import compress, utf16_length
from adf_format.schemas import StorageVersion, metakeys, storage_version

TIME = 1767225600000


@dataclass(frozen=True)
class Slot:
    """One place for a JSON value.

    :ivar name: table and column, or source or key
    :ivar put: store the text of a value there, in a row that it adapts or adds
    :ivar where: SQL that finds the rowid of that row
    """

    name: str
    urn: str
    table: str
    column: str
    where: str
    put: Callable[[apsw.Connection, str], object]


def slots(version: int) -> Iterator[Slot]:
    """Yield the places of a storage version, `adf_config` left out."""
    about = storage_version(version)
    yield from _columns(about)
    yield from _meta(version)
    yield from _audit(about)
    yield from _identity(about)
    yield from _files(about)


def text_of(value: Any) -> str:
    """Write a value as a runtime does."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _columns(about: StorageVersion) -> Iterator[Slot]:
    for table in about.tables.values():
        for column in table.columns:
            if column.content is not None and table.name != "adf_config":
                held = f'SELECT min(rowid) FROM {table.name} WHERE "{column.name}" IS NOT NULL'
                row = f"COALESCE(({held}), (SELECT min(rowid) FROM {table.name}))"
                if (table.name, column.name) == ("adf_loop", "content_json"):
                    row = "(SELECT max(seq) FROM adf_loop WHERE role = 'assistant' AND model IS NOT NULL)"
                if (table.name, column.name) == ("adf_identity", "kdf_params"):
                    row = "(SELECT min(rowid) FROM adf_identity WHERE purpose NOT LIKE 'crypto:%')"
                update = f'UPDATE {table.name} SET "{column.name}" = ? WHERE rowid = {row}'
                if (table.name, column.name) == ("adf_identity", "kdf_params"):
                    update = update.replace("SET", "SET encryption_algo = 'aes-256-gcm', salt = zeroblob(16),")
                yield Slot(
                    f"{table.name}.{column.name}", column.content, table.name, column.name, f"SELECT {row}",
                    lambda connection, text, update=update: connection.execute(update, (text,)),
                )  # fmt: skip


def _meta(version: int) -> Iterator[Slot]:
    insert = "INSERT OR REPLACE INTO adf_meta (key, value, protection) VALUES (?, ?, ?)"
    for key, urn in meta_json_keys(version):
        row = (key.name, key.protection or "none")
        yield Slot(
            f"adf_meta.{key.name}", urn, "adf_meta", "value",
            f"SELECT rowid FROM adf_meta WHERE key = '{key.name}'",
            lambda connection, text, row=row: connection.execute(insert, (row[0], text, row[1])),
        )  # fmt: skip


def meta_json_keys(version: int) -> Iterator[tuple[metakeys.MetaKey, str]]:
    """Yield the JSON keys of `adf_meta` at a version, with the URN of the schema of each."""
    from adf_format.schemas import document

    urns = {entry["name"]: entry["value"]["schema"] for entry in document(metakeys.REGISTRY)["keys"]}
    for key in metakeys.registry():
        if key.json and key.since <= version and (key.until is None or version <= key.until):
            yield key, urns[key.name]


def _audit(about: StorageVersion) -> Iterator[Slot]:
    for source in about.audit_sources:
        name = source.get("source") or "loop:main"
        if source["format"] is None:
            continue
        yield Slot(
            f"adf_audit.{name}", source["format"], "adf_audit", "data",
            "SELECT max(rowid) FROM adf_audit",
            lambda connection, text, name=name, source=source: put_audit(connection, name, text, source),
        )  # fmt: skip


def put_audit(connection: apsw.Connection, name: str, text: str, source: dict[str, Any]) -> None:
    """Add an audit row whose figures fit its blob, as far as the blob tells them."""
    try:
        value = json.loads(text)
    except ValueError:
        value = []
    entries = value if isinstance(value, list) else [value]
    row: dict[str, Any] = {
        "source": name,
        "entry_count": len(entries),
        "size_bytes": utf16_length(text),
        "data": compress(text, quality=1),
        "created_at": TIME,
    }
    columns = {found[0] for found in connection.execute("SELECT name FROM pragma_table_info('adf_audit')")}
    if source["format"].split(":")[3] == "loop-snapshot":
        _make_room(connection)
    if "start_seq" in columns:
        row |= _locator(source, entries)
    else:
        row |= {"start_at": TIME, "end_at": TIME} | _times(entries)
    names = ", ".join(row)
    marks = ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO adf_audit ({names}) VALUES ({marks})", tuple(row.values()))


def _make_room(connection: apsw.Connection) -> None:
    """Let no other row, live or archived, claim the seqs of the examples."""
    connection.execute("DELETE FROM adf_audit WHERE source LIKE 'loop%'")
    mark = "UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM adf_audit) WHERE name = 'adf_audit'"
    connection.execute(mark)  # the snapshot of a mutation gets the id of the one that it replaces
    connection.execute("DELETE FROM adf_loop WHERE seq < 10")
    connection.execute("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'adf_loop' AND seq < 1000")


def _locator(source: dict[str, Any], entries: list[Any]) -> dict[str, Any]:
    numbers = _all(entries, "seq", int)
    if source["locator"] == "range" and numbers:
        return {"start_seq": min(numbers), "end_seq": max(numbers)}
    texts = _all(entries, source.get("locator_key", ""), str)
    return {"ref": texts[0]} if source["locator"] == "ref" and texts else {}


def _times(entries: list[Any]) -> dict[str, Any]:
    times = [time for key in ("created_at", "received_at") for time in _all(entries, key, int)]
    return {"start_at": min(times), "end_at": max(times)} if times else {}


def _all(entries: list[Any], key: str, kind: type) -> list[Any]:
    return [entry[key] for entry in entries if isinstance(entry, dict) and type(entry.get(key)) is kind]


def _identity(about: StorageVersion) -> Iterator[Slot]:
    insert = (
        "INSERT OR REPLACE INTO adf_identity (purpose, value, encryption_algo) VALUES (?, CAST(? AS BLOB), 'plain')"
    )
    for name in ("identity-envelope", "credentials-envelope"):
        purpose = f"crypto:envelope:{name.removesuffix('-envelope')}"
        yield Slot(
            f"adf_identity.{name}", about.value(name), "adf_identity", "value",
            f"SELECT rowid FROM adf_identity WHERE purpose = '{purpose}'",
            lambda connection, text, purpose=purpose: connection.execute(insert, (purpose, text)),
        )  # fmt: skip


def _files(about: StorageVersion) -> Iterator[Slot]:
    insert = (
        "INSERT OR REPLACE INTO adf_files (path, content, mime_type, size, created_at, updated_at)"
        " VALUES (?1, CAST(?2 AS BLOB), 'application/json', octet_length(?2), ?3, ?3)"
    )
    for name in ("skills-state", "skills-registry"):
        if name not in about.entry["values"]:
            continue
        path = f"{name}.json"
        yield Slot(
            f"adf_files.{path}", about.value(name), "adf_files", "content",
            f"SELECT rowid FROM adf_files WHERE path = '{path}'",
            lambda connection, text, path=path: connection.execute(insert, (path, text, "2026-01-01T00:00:00.000Z")),
        )  # fmt: skip
