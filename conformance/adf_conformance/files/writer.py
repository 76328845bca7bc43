"""From a plan to a file.

| key of a plan | meaning |
|---|---|
| `version` | storage version |
| `journal` | `wal` (the default) or `delete` |
| `config` | changes to the default configuration, top level keys as a whole |
| `entries` | live rows: `seq, role, blocks`, perhaps `loop, ord, model, tokens, created_at` |
| `mark` | counter of the transcript, if it is above all seqs |
| `snapshots` | `source` with `entries` or `value`; perhaps `quality, range, ref, size, damage, created_at` |
| `files` | `path` with `text` or `base64`, perhaps `protection, mime_type` |
| `meta` | meta keys beside those of a fresh file, with value or `[value, protection]` |
| `worked` | whether every other table has a row |
| `odd` | names of legal shapes, see `shapes` |
| `fault` | name of a single fault, see `faults` |
| `log` | rows that are only in the write-ahead log; `log_cut`: the last of them is not committed |
"""

from __future__ import annotations

import base64
import copy
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adf_conformance.files import layout
from adf_conformance.files.encoding import TIME, json_text, snapshot_row
from adf_conformance.files.faults import FAULTS
from adf_conformance.files.odd import Oddity
from adf_conformance.files.shapes import LEGACY, SHAPES

Plan = Mapping[str, Any]
ISO = "2026-01-01T00:00:00.000Z"
AGENT_ID = "V1StGXR8_Z5j"
WORKED = ("adf_inbox", "adf_outbox", "adf_timers", "adf_identity", "adf_tasks", "adf_logs", "adf_attestations")


def write(plan: Plan, path: Path) -> None:
    """Write the file of a plan; nothing may be there yet.

    :raises KeyError: the plan names a shape or fault that does not exist
    """
    known = SHAPES | LEGACY
    odd = [*(known[name] for name in plan.get("odd", ())), *([FAULTS[plan["fault"]]] if plan.get("fault") else [])]
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        _fill(connection, plan, odd)
    finally:
        connection.close()
    if plan.get("log") or "log-beside" in plan.get("odd", ()):
        _leave_log(path, int(plan.get("log", 2)), cut=bool(plan.get("log_cut")))
    for one in odd:
        if one.on_file:
            one.on_file(path)


def _fill(connection: sqlite3.Connection, plan: Plan, odd: list[Oddity]) -> None:
    version = plan["version"]
    journal = "delete" if "journal-delete" in plan.get("odd", ()) else plan.get("journal", "wal")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("BEGIN")
    for table in layout.tables(version):
        connection.execute(layout.create_table(table, version))
        for statement in layout.create_indexes(table, version):
            connection.execute(statement)
    for table, rows in rows_of(plan).items():
        for row in rows:
            insert(connection, table, row)
    _mark(connection, plan)
    connection.execute("COMMIT")
    for one in odd:
        one.apply(connection)


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Insert one row."""
    names = ", ".join(layout.quoted(name) for name in row)
    marks = ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO {layout.quoted(table)} ({names}) VALUES ({marks})", tuple(row.values()))


def rows_of(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every table of a plan."""
    version = plan["version"]
    rows: dict[str, list[dict[str, Any]]] = {
        "adf_meta": meta_rows(plan),
        "adf_config": [{"id": 1, "config_json": json_text(config_of(plan)), "updated_at": ISO}],
        "adf_loop": [_loop_row(entry, version) for entry in plan.get("entries", ())],
        "adf_audit": [snapshot_row(snapshot, version) for snapshot in plan.get("snapshots", ())],
        "adf_files": [_file_row(file) for file in files_of(plan)],
    }
    if plan.get("worked"):
        rows |= {table: [_example(table, version)] for table in WORKED if table in layout.tables(version)}
    return rows


def config_of(plan: Plan) -> dict[str, Any]:
    """Return the configuration of a plan."""
    config = copy.deepcopy(layout.default_config(plan["version"]))
    config |= {"adf_version": "0.2", "id": AGENT_ID, "name": "Ada", "instructions": "Be kind."}
    if plan["version"] >= 31:
        config["icon"] = "🗻"
    config["metadata"] = {"created_at": ISO, "updated_at": ISO}
    changes: dict[str, Any] = plan.get("config", {})
    return config | changes


def meta_rows(plan: Plan) -> list[dict[str, Any]]:
    """Return the rows of `adf_meta`."""
    own = {"adf_version": "0.2", "adf_schema_version": str(plan["version"]), "adf_name": "Ada", "adf_handle": "ada"}
    own |= {"adf_parent_did": "", "adf_created_at": ISO, "adf_updated_at": ISO, "adf_clean_close": ISO}
    rows = {key: {"key": key, "value": value, "protection": "readonly"} for key, value in own.items()}
    for key, told in plan.get("meta", {}).items():
        value, protection = told if isinstance(told, list) else (told, "none")
        rows[key] = {"key": key, "value": value, "protection": protection}
    return list(rows.values())


def files_of(plan: Plan) -> list[Plan]:
    """Return the files of a plan, those of a fresh agent if it names none."""
    if "files" in plan:
        return list(plan["files"])
    version = plan["version"]
    names = ["document.md" if version < 22 else "README.md", "mind.md"]
    names += ["soul.md"] if version >= 25 else []
    names += ["mind/log.md"] if version >= 28 else []
    texts = {"mind.md": "# Mind\n\n## Always\n\n## Pages\n", "mind/log.md": "# Mind Log\n"}
    return [{"path": name, "text": texts.get(name, f"# {name}\n"), "protection": "no_delete"} for name in names]


def _loop_row(entry: Plan, version: int) -> dict[str, Any]:
    row = {key: entry[key] for key in ("seq", "role") if key in entry}
    row |= {"content_json": json_text(entry["blocks"]), "model": entry.get("model")}
    tokens = entry.get("tokens")
    row |= {"tokens": json_text(tokens) if isinstance(tokens, dict) else tokens}
    row["created_at"] = entry.get("created_at", TIME + entry.get("seq", 0))
    row |= {"ord": entry.get("ord")} if version >= 28 else {}
    return row | ({"loop": entry.get("loop", "main")} if version >= 29 else {})


def _file_row(file: Plan) -> dict[str, Any]:
    content = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
    row = {"path": file["path"], "content": content, "mime_type": file.get("mime_type", "text/markdown")}
    row |= {"size": len(content), "protection": file.get("protection", "none"), "authorized": 0}
    return row | {"created_at": ISO, "updated_at": ISO}


def _example(table: str, version: int) -> dict[str, Any]:
    """Return the example row of a schema, BLOBs decoded."""
    row = layout.example(table, version)
    declared = layout.columns(layout.tables(version)[table])
    blobs = {name for name, about in declared.items() if about["type"] == "BLOB" and row.get(name) is not None}
    return {name: base64.b64decode(value) if name in blobs else value for name, value in row.items()}


def _mark(connection: sqlite3.Connection, plan: Plan) -> None:
    """Set the counter of the transcript above every seq that was ever given."""
    archived = [entry["seq"] for snapshot in plan.get("snapshots", ()) for entry in snapshot.get("entries", ())]
    mark = max([plan.get("mark", 0), *archived, *(entry["seq"] for entry in plan.get("entries", ()))])
    if mark:
        connection.execute("DELETE FROM sqlite_sequence WHERE name = 'adf_loop'")
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('adf_loop', ?)", (mark,))


def _leave_log(path: Path, rows: int, *, cut: bool) -> None:
    """Leave committed rows in the log alone, as a writer does that is killed."""
    live = path.with_name("live-" + path.name)
    path.rename(live)
    connection = sqlite3.connect(live, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    for number in range(rows):
        text = json_text([{"type": "text", "text": f"logged {number} " + "x" * 6000}])
        connection.execute(
            "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', ?, ?)", (text, TIME + 900_000)
        )
    log = live.with_name(live.name + "-wal").read_bytes()
    path.write_bytes(live.read_bytes())
    path.with_name(path.name + "-wal").write_bytes(log[:-2000] if cut else log)
    connection.close()
    live.unlink()
