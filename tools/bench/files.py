"""Files that the benchmarks run on, built once into a folder and reused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import orjson

from adf_format.creation import new

ROW_BYTES = 1000
START = 1767225600000


def transcript(folder: Path, rows: int, version: int = 32) -> Path:
    """Return a file with `rows` transcript rows of about 1 KB: text, tool calls and their results, two loops."""
    path = folder / f"transcript-{rows}.adf"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    new(path, name="Bench", schema_version=version)
    connection = apsw.Connection(str(path))
    with connection:
        connection.executemany(
            "INSERT INTO adf_loop (role, content_json, model, tokens, created_at) VALUES (?, ?, ?, ?, ?)", _rows(rows)
        )
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return path


def _rows(count: int) -> Iterator[tuple[str, str, str | None, str | None, int]]:
    words = "the garden was dry, so the agent wrote down when each bed had last been watered and by whom; "
    text = (words * 12)[:ROW_BYTES]
    for index in range(count):
        kind, turn = index % 4, index // 4
        if kind == 0:
            block: list[dict[str, object]] = [{"type": "text", "text": f"{turn} {text}"}]
        elif kind == 1:
            block = [
                {"type": "text", "text": text[:300]},
                {
                    "type": "tool_use",
                    "id": f"t{turn}",
                    "name": "fs_write",
                    "input": {"path": "a", "content": text[:600]},
                },
            ]
        elif kind == 2:
            block = [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}]
        else:
            block = [{"type": "text", "text": text}]
        assistant = kind in (1, 3)
        yield (
            "assistant" if assistant else "user",
            orjson.dumps(block).decode(),
            "example-model" if assistant else None,
            '{"input":501,"output":42}' if assistant else None,
            START + index * 1000,
        )


def many(folder: Path, count: int) -> list[Path]:
    """Return `count` small files: copies of one sample agent."""
    from adf_format.sample import build

    target = folder / f"many-{count}"
    first = target / "00000.adf"
    target.mkdir(parents=True, exist_ok=True)
    if not first.exists():
        build(first, 32)
    for index in range(1, count):
        path = target / f"{index:05}.adf"
        if not path.exists():
            shutil.copyfile(first, path)
    return sorted(target.glob("*.adf"))
