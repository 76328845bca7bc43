"""`adf-format audit export`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from adf_format.audit import javascript_json
from adf_format.cli.history import reading
from adf_format.cli.options import Output, common
from adf_format.container import Container
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, JsonTextError, UsageError
from adf_format.history import Reading, SnapshotRow, snapshots
from adf_format.jsontext import decode
from adf_format.terminal import harmless_json

ROWS = 10_000  # of one row group of Parquet
SIZE = 16 << 20  # characters of content of one row group
COLUMNS = ("audit_id", "source", "loop", "index", "seq", "archived_at", "content", "error")


@click.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--source", metavar="SOURCE", help="Only snapshots of this source, such as loop:main or file.")
@common("jsonl", "parquet")
def export(path: str, source: str | None, out: Output) -> int:
    """Write every archived entry: as lines of JSON, or as a Parquet file (needs the extra `export`).

    Each entry comes with the id and source of its snapshot, its place in it, its seq, the time of archiving, and its
    content as it was archived, to the last digit. A snapshot that cannot be read to its end gives one line more,
    without content and with `error`.

    \b
      adf-format audit export agent.adf --output past.jsonl
      adf-format audit export agent.adf --source loop:main

    Exit codes: 0 done; 1 a snapshot is damaged, so something is missing; 2 Parquet is wanted and pyarrow is not
    installed; 3 the file could not be read.
    """
    with reading(path, out, seconds=None) as container:
        damaged: list[int] = []
        records = _records(container, source, damaged)
        if out.format == "parquet":
            _parquet(out, records)
        else:
            for record in records:
                out.line(json_line(record))
        for number in damaged[:20]:
            out.note(f"snapshot {number} is damaged: not all of it was exported")
    return EXIT_FINDINGS if damaged else EXIT_OK


def _records(container: Container, source: str | None, damaged: list[int]) -> Iterator[dict[str, Any]]:
    """Yield a record per entry; `content` is JSON text."""
    for row in snapshots(container):
        if source is not None and row.source != source:
            continue
        entries = Reading(container, row)
        for index, text in entries.texts():
            yield _record(entries, row, index, text)
        if entries.problems:
            damaged.append(row.id)
            why = "; ".join(problem.message for problem in entries.problems)
            yield _base(row, None) | {"error": why}


def _record(entries: Reading, row: SnapshotRow, index: int, text: str | bytes) -> dict[str, Any]:
    record = _base(row, index)
    try:
        value = decode(text).value
    except JsonTextError as error:
        entries.problem("entry", f"entry {index}: not JSON: {error.message}")
        return record | {"error": f"not JSON: {error.message}"}
    seq = value.get("seq") if row.loop is not None and isinstance(value, dict) else None
    record["seq"] = seq if type(seq) is int and abs(seq) < 2**63 else None
    content = text if isinstance(text, str) else text.decode()
    return record | {"content": " ".join(content.split("\n")).replace("\r", " ")}


def _base(row: SnapshotRow, index: int | None) -> dict[str, Any]:
    facts = {"audit_id": row.id, "source": row.source, "loop": row.loop, "index": index, "seq": None}
    return facts | {"archived_at": row.created_at, "content": None, "error": None}


def json_line(record: dict[str, Any]) -> str:
    """Return a record as a line; its content is not parsed again, so no digit changes."""
    members = (
        f'"{key}":{(value or "null") if key == "content" else javascript_json(value, exact=True)}'
        for key, value in record.items()
        if value is not None or key in ("seq", "content")
    )
    return harmless_json(f"{{{','.join(members)}}}")


def _parquet(out: Output, records: Iterator[dict[str, Any]]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UsageError("Parquet needs pyarrow", hint="pip install 'adf-format[export]', or --format jsonl") from None
    if out.stream.isatty():
        raise UsageError("Parquet is not for a terminal", hint="--output FILE")
    numbers = ("audit_id", "index", "seq", "archived_at")
    schema = pa.schema([(name, pa.int64() if name in numbers else pa.string()) for name in COLUMNS])
    with pq.ParquetWriter(out.stream.buffer, schema, compression="zstd") as writer:
        for group in _groups(records):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _groups(records: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for record in records:
        group.append(record)
        size += len(record["content"] or "")
        if len(group) >= ROWS or size >= SIZE:
            yield group
            group, size = [], 0
    if group:
        yield group
