"""Faults of the rows of `adf_audit`: figures, blobs, sources, references."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import apsw

from adf_format.audit import compress, decompress_all, utf16_length
from adf_format.schemas import storage_version
from mutation.bench import Change, sample
from mutation.fault import Fault

FIGURES = ("entry_count", "size_bytes", "start_seq", "end_seq", "start_at", "end_at")
GARBAGE = bytes(range(7, 107))


def audit_faults(version: int) -> Iterator[Fault]:
    """Yield the faults of every audit row of the rich sample."""
    connection = apsw.Connection(str(sample(version)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('adf_audit')")]
        rows = [dict(zip(columns, row, strict=True)) for row in connection.execute("SELECT * FROM adf_audit")]
    finally:
        connection.close()
    assert len(rows) >= 6, "the rich sample has an audit row of every source"
    for row in rows:
        name = f"{row['source']}:{row['id']}"
        yield from _figures(row, name)
        yield from _blobs(row, name)
        yield from _sources(row, name, version)
        yield from _references(row, name)


def _figures(row: dict[str, Any], name: str) -> Iterator[Fault]:
    for column in FIGURES:
        if row.get(column) is not None:
            for step in (1, -1):
                yield _set(f"figure:{column}{step:+d}/{name}", row, {column: row[column] + step})
    for low, high in (("start_seq", "end_seq"), ("start_at", "end_at")):
        if row.get(low) is not None and row[low] != row[high]:
            yield _set(f"figure:{low}-{high}-swapped/{name}", row, {low: row[high], high: row[low]})


def _blobs(row: dict[str, Any], name: str) -> Iterator[Fault]:
    data = bytes(row["data"])
    text = decompress_all([data], limit_bytes=1 << 20).decode()
    wrong = {
        "cut-by-one": data[:-1],
        "cut-in-half": data[: len(data) // 2],
        "empty": b"",
        "extended": data + b"\0",
        "extended-by-itself": data + data,
        "garbage": GARBAGE,
        "first-byte": bytes([data[0] ^ 0xFF]) + data[1:],
        "plain-json": text.encode(),
        "compressed-twice": compress(data.hex()),
    }
    for kind, blob in wrong.items():
        yield _set(f"blob:{kind}/{name}", row, {"data": blob})
    for kind, other in _texts(text):
        yield _set(f"text:{kind}/{name}", row, {"data": compress(other), "size_bytes": utf16_length(other)})


def _texts(text: str) -> Iterator[tuple[str, str]]:
    """Yield other texts that keep the figure of their size true."""
    value = json.loads(text)
    yield "cut", text[:-1]
    yield "not-json", "x" + text
    yield "trailing", text + "]"
    yield "null", "null"
    yield "number", "7"
    if isinstance(value, list):
        yield "object-for-array", json.dumps(value[0])
        yield "no-entries", "[]"
        yield "entry-lost", json.dumps(value[:-1], ensure_ascii=False, separators=(",", ":"))
        yield "entry-twice", json.dumps([*value, value[-1]], ensure_ascii=False, separators=(",", ":"))
    else:
        yield "array-for-object", f"[{text}]"


def _sources(row: dict[str, Any], name: str, version: int) -> Iterator[Fault]:
    known = [source.get("source") or "loop:other" for source in storage_version(version).audit_sources]
    for source in (*known, "loop:Not A Name", "unheard-of", ""):
        if source != row["source"]:
            yield _set(f"source:{source}/{name}", row, {"source": source})


def _references(row: dict[str, Any], name: str) -> Iterator[Fault]:
    if "ref" not in row:
        return
    if row["ref"] is None:
        yield _set(f"ref:added/{name}", row, {"ref": "some-ref"})
    else:
        yield _set(f"ref:changed/{name}", row, {"ref": row["ref"] + "x"})
        yield _set(f"ref:removed/{name}", row, {"ref": None})
        yield _set(f"ref:emptied/{name}", row, {"ref": ""})
    if row["start_seq"] is None:
        yield _set(f"range:added/{name}", row, {"start_seq": 1, "end_seq": 2})
    else:
        yield _set(f"range:removed/{name}", row, {"start_seq": None, "end_seq": None})
        yield _set(f"range:half/{name}", row, {"end_seq": None})


def _set(kind: str, row: dict[str, Any], values: dict[str, Any]) -> Fault:
    return Fault(f"audit/{kind}", _update(row["id"], values), ("adf_audit",), rowid=row["id"])


def _update(rowid: int, values: dict[str, Any]) -> Change:
    assignments = ", ".join(f"{name} = ?" for name in values)
    sql = f"UPDATE adf_audit SET {assignments} WHERE id = ?"
    return lambda connection: connection.execute(sql, (*values.values(), rowid))
