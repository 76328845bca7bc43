"""Agents with transcripts of a known shape."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import brotli

from adf_format import sample


def connect(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path))


def run(path: Path, *statements: str) -> None:
    """Change a file."""
    connection = connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def rows(path: Path, query: str, *bindings: Any) -> list[tuple[Any, ...]]:
    """Ask a file."""
    connection = connect(path)
    found = connection.execute(query, bindings).fetchall()
    connection.close()
    return found


def agent(path: Path, version: int, keys: Iterable[tuple[int, int | None]], *, audit: bool = True) -> Path:
    """Make a fresh agent whose main loop has rows of these seqs and ords."""
    sample.build(path, version, "fresh")
    connection = connect(path)
    for seq, order in keys:
        content = json.dumps([{"type": "text", "text": f"row {seq}"}], separators=(",", ":"))
        values = {"seq": seq, "role": "user", "content_json": content, "created_at": 1_000_000 - seq}
        values |= {"ord": order} if order is not None else {}
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO adf_loop ({names}) VALUES ({marks})", tuple(values.values()))
    connection.close()
    policy(path, {"loop": audit})
    return path


def policy(path: Path, audit: Any, context: Any = None) -> None:
    """Say what is archived."""
    [(text,)] = rows(path, "SELECT config_json FROM adf_config")
    config = json.loads(text)
    config["audit"] = audit
    config["context"] = {**config.get("context", {}), "audit": context}
    connection = connect(path)
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config, separators=(",", ":")),))
    connection.close()


def snapshot(path: Path, rowid: int) -> Any:
    """Decode a snapshot."""
    [(data,)] = rows(path, "SELECT data FROM adf_audit WHERE id = ?", rowid)
    return json.loads(brotli.decompress(data))
