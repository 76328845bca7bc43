"""The receipt: what a file was, what it is, and every change between with the rule that asked for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from adf_format import __version__
from adf_format.audit import Blob, javascript_json
from adf_format.container import Container, open_readonly
from adf_format.container import backup as backups
from adf_format.creation.agent import iso
from adf_format.digest import ALGORITHM, Digest, TableDigest, digest_both
from adf_format.migration.engine import Outcome
from adf_format.migration.locating import locate_snapshot
from adf_format.migration.record import Record

SCHEMA = "urn:adf-format:output:migration-receipt:1"
_LOCATORS = ("start_seq", "end_seq", "ref")
_TIMES = ("start_at", "end_at")


def document(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the receipt of one run; it carries the hash of its own entries."""
    tool = {"name": "adf-format", "version": __version__, "sqlite": apsw.sqlite_lib_version()}
    return {"$schema": SCHEMA, "tool": tool, "files": list(entries), "sha256": seal(entries)}


def text(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the receipt as JSON text, an entry at a time; entries are gone through once."""
    head, rest = json.dumps({**document([]), "files": []}, indent=2).split('"files": []')
    yield f'{head}"files": ['
    hashed = hashlib.sha256(b"[")
    for index, one in enumerate(entries):
        hashed.update((b"," if index else b"") + javascript_json(one, exact=True).encode())
        lines = json.dumps(one, ensure_ascii=False, indent=2).replace("\n", "\n    ")
        yield f"{',' if index else ''}\n    {lines}"
    hashed.update(b"]")
    yield f"\n  ]{rest.replace(seal([]), hashed.hexdigest())}\n"


def seal(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of the entries of a receipt, whatever white space stands between."""
    return hashlib.sha256(javascript_json(list(entries), exact=True).encode()).hexdigest()


def entry(outcome: Outcome, before: Path) -> dict[str, Any]:
    """Describe one migration; both files are read and not changed.

    :param before: the file as it was: the backup, or the original of a copy
    :raises AdfError: one of the files cannot be read
    """
    after = outcome.output or outcome.file
    with open_readonly(before) as old, open_readonly(after) as new:
        old_digest, earlier = digest_both(old, _dropped(outcome.record))
        new_digest, later = digest_both(new, _by_design(outcome.record))
        tables = list(_tables((old_digest, earlier), (new_digest, later), outcome.record))
        snapshots = list(audit(old, new, outcome.record))
        facts = {"before": _facts(old, old_digest), "after": _facts(new, new_digest)}
    for name, path in (("before", before), ("after", after)):
        facts[name]["sha256"] = backups.sha256_of(path) if facts[name].pop("alone") else None
    backup = outcome.backup
    return {
        "file": str(outcome.file),
        "output": str(outcome.output) if outcome.output else None,
        "from": outcome.source,
        "to": outcome.target,
        "now": iso(outcome.now),
        "split_batches": outcome.split,
        **facts,
        "steps": steps(outcome),
        "tables": tables,
        "changes": [touch.as_json() for touch in outcome.record.touches],
        "audit": snapshots,
        "replaced": outcome.record.originals,
        "notes": outcome.record.notes,
        "undo": {"backup": backup.name, "sha256": facts["before"]["sha256"]} if backup else None,
    }


def steps(outcome: Outcome) -> list[dict[str, Any]]:
    """Describe the steps with what each touched."""
    known = [(step.name, step.rules, step.rewrites) for step in outcome.steps]
    if outcome.split:
        known.append(("split", ("SPLIT",), "batches of archived messages become one row per message"))
    return [
        {
            "step": name,
            "rules": list(rules),
            "rewrites": rewrites,
            "touched": [
                {"rule": rule, "kind": kind, "table": table, "rows": rows}
                for rule, kind, table, rows in outcome.record.summary(name)
            ],
        }
        for name, rules, rewrites in known
    ]


def _facts(container: Container, found: Digest) -> dict[str, Any]:
    return {
        "size": container.source.size,
        "alone": container.source.mode == "immutable",
        "digest": {"algorithm": ALGORITHM, "sha256": found.sha256},
    }


_Both = tuple[Digest, dict[str, TableDigest]]


def _tables(before: _Both, after: _Both, record: Record) -> Iterator[dict[str, Any]]:
    """Describe each table: what it was, what it is, and what of it is the same but for columns by design."""
    (old, earlier), (new, later) = before, after
    for name in sorted(old.tables.keys() | new.tables.keys()):
        was, now = old.tables.get(name), new.tables.get(name)
        found: dict[str, Any] = {
            "table": name,
            "before": {"rows": was.rows, "sha256": was.sha256} if was else None,
            "after": {"rows": now.rows, "sha256": now.sha256} if now else None,
            "same": was == now,
        }
        columns = new_columns(record, name)
        if was and now and was != now and columns:
            less, fewer = earlier.get(name, was).sha256, later[name].sha256
            found["same_without"] = {"columns": columns, "before": less, "after": fewer}
        yield found


def _by_design(record: Record) -> dict[str, frozenset[str]]:
    """Return the columns that came or went, by table."""
    found = {table: frozenset(new_columns(record, table)) for table in {one.table for one in record.touches}}
    return {table: columns for table, columns in found.items() if columns}


def _dropped(record: Record) -> dict[str, frozenset[str]]:
    """Return those of tables from which columns went; of the others the old file has none of them."""
    gone = {one.table for one in record.touches if one.kind == "column-dropped"}
    return {table: columns for table, columns in _by_design(record).items() if table in gone}


def new_columns(record: Record, table: str) -> list[str]:
    """Return the columns that came or went by design."""
    kinds = ("column-added", "column-dropped")
    return sorted({str(one.column) for one in record.touches if one.table == table and one.kind in kinds})


def audit(old: Container, new: Container, record: Record) -> Iterator[dict[str, Any]]:
    """Describe each row of the audit: hashes of its blob and of its decoded JSON, before and after."""
    earlier, later = (_rows(one.connection) for one in (old, new))
    for number in sorted(earlier.keys() | later.keys()):
        was, now = earlier.get(number), later.get(number)
        row = now or was or {}
        found: dict[str, Any] = {"id": number, "source": row.get("source")}
        blobs = [_blob_sha256(one.connection, number) if there else None for one, there in ((old, was), (new, now))]
        known = record.snapshots.get(number)
        if known is None or (known.sha256 is None and known.problem is None):
            known = locate_snapshot((old if was else new).connection, number, hashing=True)
        later_json = known.sha256
        if was and now and blobs[0] != blobs[1]:
            later_json = locate_snapshot(new.connection, number, hashing=True).sha256
        found["blob"] = dict(zip(("before", "after"), blobs, strict=True))
        found["json"] = {"before": known.sha256 if was else None, "after": later_json if now else None}
        if known.problem:
            found["problem"] = known.problem
        found["was"] = {name: was[name] for name in (*_TIMES, *_LOCATORS) if was and name in was}
        found["is"] = {name: now[name] for name in (*_TIMES, *_LOCATORS) if now and name in now}
        yield found


def _rows(connection: apsw.Connection) -> dict[int, dict[str, Any]]:
    query = "SELECT name FROM pragma_table_xinfo('adf_audit')"
    there = {str(name) for (name,) in connection.execute(query)}
    if "id" not in there:
        return {}
    names = [name for name in ("source", *_TIMES, *_LOCATORS) if name in there]
    fields = ", ".join(f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE {name} END" for name in names)
    found = connection.execute(f"SELECT id, {fields} FROM adf_audit ORDER BY id")
    return {int(row[0]): dict(zip(names, row[1:], strict=True)) for row in found}


def _blob_sha256(connection: apsw.Connection, number: int) -> str | None:
    found = hashlib.sha256()
    try:
        for chunk in Blob(connection, "adf_audit", "data", number):
            found.update(chunk)
    except (apsw.SQLError, apsw.CorruptError):
        return None
    return found.hexdigest()
