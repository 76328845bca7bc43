"""Single faults: each breaks one MUST of the format in a file that is otherwise valid."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli

from adf_conformance.files import layout
from adf_conformance.files.encoding import json_text, units
from adf_conformance.files.odd import Change, Oddity, config_edit, rebuilt, unconstrained
from adf_conformance.files.shapes import insert_snapshot

_FIRST = "WHERE seq = (SELECT min(seq) FROM adf_loop)"
_TRANSCRIPT = "WHERE id = (SELECT min(id) FROM adf_audit WHERE source = 'loop' OR source LIKE 'loop:%')"
_MESSAGE = "WHERE id = (SELECT min(id) FROM adf_audit WHERE source = 'inbox_message')"


def _content(text: str) -> tuple[str, ...]:
    return (f"UPDATE adf_loop SET content_json = '{text}' {_FIRST}",)


def _data(make: Callable[[bytes], bytes]) -> Change:
    """Change the bytes of the first snapshot of a transcript."""

    def change(connection: sqlite3.Connection) -> None:
        number, data = connection.execute(f"SELECT id, data FROM adf_audit {_TRANSCRIPT}").fetchone()
        connection.execute("UPDATE adf_audit SET data = ? WHERE id = ?", (make(data), number))

    return change


def _text(make: Callable[[str], str]) -> Change:
    """Change the JSON text of the first snapshot of a transcript, and the size with it."""

    def change(connection: sqlite3.Connection) -> None:
        number, data = connection.execute(f"SELECT id, data FROM adf_audit {_TRANSCRIPT}").fetchone()
        text = make(brotli.decompress(data).decode("utf-8"))
        packed = (brotli.compress(text.encode()), units(text), number)
        connection.execute("UPDATE adf_audit SET data = ?, size_bytes = ? WHERE id = ?", packed)

    return change


def _seq_twice(connection: sqlite3.Connection) -> None:
    entry = {"seq": 1, "role": "user", "blocks": [{"type": "text", "text": "twice"}]}
    (source,) = connection.execute(f"SELECT source FROM adf_audit {_TRANSCRIPT}").fetchone()
    insert_snapshot(connection, {"source": source, "entries": [entry, entry]})


def _above_mark(connection: sqlite3.Connection) -> None:
    (mark,) = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").fetchone()
    entry = {"seq": mark + 7, "role": "user", "blocks": [{"type": "text", "text": "from nowhere"}]}
    (source,) = connection.execute(f"SELECT source FROM adf_audit {_TRANSCRIPT}").fetchone()
    insert_snapshot(connection, {"source": source, "entries": [entry]})


def _old_audit(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE adf_audit")
    connection.execute(layout.create_table("adf_audit", 21))


def _without_column(table: str, column: str) -> Change:
    def change(connection: sqlite3.Connection) -> None:
        wanted = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        for (index,) in connection.execute(wanted, (table,)).fetchall():
            connection.execute(f'DROP INDEX "{index}"')
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')

    return change


def _declared(edit: Callable[[list[dict[str, Any]]], object]) -> Change:
    return config_edit(lambda config: edit(config["loops"]))


def _loop(**fields: Any) -> dict[str, Any]:
    return {"name": "odd", "goal": "Be odd.", "enabled": False, "tools": [], **fields}


def _set_config(value: str) -> tuple[str, ...]:
    return (f"UPDATE adf_config SET config_json = '{value}'",)


def _no_database(path: Path) -> None:
    path.write_text("This is a letter, not an agent.\n" * 200, encoding="utf-8")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _damaged_page(path: Path) -> None:
    """Overwrite the page on which the transcript begins."""
    with sqlite3.connect(path) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'adf_loop'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


def _dropped(name: str) -> Oddity:
    return Oddity(f"no-{name.removeprefix('adf_')}-table", (f"DROP TABLE {name}",))


_FAULTS = (
    Oddity("not-a-database", on_file=_no_database),
    Oddity("empty-file", on_file=_empty),
    Oddity("truncated", on_file=_truncated),
    Oddity("damaged-page", on_file=_damaged_page),
    *map(_dropped, ("adf_meta", "adf_loop", "adf_audit", "adf_files", "adf_inbox", "adf_timers")),
    Oddity("no-version", ("DELETE FROM adf_meta WHERE key = 'adf_schema_version'",)),
    Oddity("version-not-numeric", ("UPDATE adf_meta SET value = 'newest' WHERE key = 'adf_schema_version'",)),
    Oddity("column-missing", change=_without_column("adf_files", "mime_type")),
    Oddity("loop-column-missing", change=_without_column("adf_loop", "loop"), since=29),
    Oddity("ord-column-missing", change=_without_column("adf_loop", "ord"), since=28),
    Oddity("audit-shape-old", change=_old_audit, since=28),
    Oddity("loop-not-autoincrement", change=rebuilt("adf_loop", lambda sql: sql.replace(" AUTOINCREMENT", ""))),
    Oddity("no-config-row", ("DELETE FROM adf_config",)),
    Oddity("config-not-json", _set_config('{"name": ')),
    Oddity("config-not-object", _set_config("[]")),
    Oddity("config-no-name", change=_declared(lambda loops: loops[0].pop("name")), since=29),
    Oddity("config-model-missing", change=config_edit(lambda config: config.pop("model"))),
    Oddity("role-unknown", (f"UPDATE adf_loop SET role = 'system' {_FIRST}",)),
    Oddity("content-not-json", _content("Hello")),
    Oddity("content-not-array", _content('{"type":"text","text":"Hello"}')),
    Oddity("block-without-type", _content('[{"text":"Hello"}]')),
    Oddity("text-block-without-text", _content('[{"type":"text"}]')),
    Oddity("loop-name-bad", (f"UPDATE adf_loop SET loop = 'Main Loop' {_FIRST}",), since=29),
    Oddity(
        "loop-name-null",
        change=unconstrained("adf_loop", "NOT NULL DEFAULT 'main'", f"UPDATE adf_loop SET loop = NULL {_FIRST}"),
        since=29,
    ),
    Oddity("declared-main", change=_declared(lambda loops: loops.append(_loop(name="main"))), since=29),
    Oddity("declared-twice", change=_declared(lambda loops: loops.append(_loop(name=loops[0]["name"]))), since=29),
    Oddity("declared-name-bad", change=_declared(lambda loops: loops.append(_loop(name="Bad Name"))), since=29),
    Oddity("declared-newline", change=_declared(lambda loops: loops.append(_loop(name="odd\n"))), since=29),
    Oddity("goal-too-long", change=_declared(lambda loops: loops.append(_loop(goal="x" * 4001))), since=29),
    Oddity(
        "too-many-tools",
        change=_declared(lambda loops: loops.append(_loop(tools=[f"tool_{n}" for n in range(65)]))),
        since=29,
    ),
    Oddity("prohibited-tool", change=_declared(lambda loops: loops.append(_loop(tools=["loop_manage"]))), since=29),
    Oddity(
        "seventeen-loops",
        change=_declared(lambda loops: loops.extend(_loop(name=f"odd{n}") for n in range(17 - len(loops)))),
        since=29,
    ),
    Oddity(
        "file-protection-bad",
        ("PRAGMA ignore_check_constraints = ON", "UPDATE adf_files SET protection = 'secret' WHERE path = 'mind.md'"),
    ),
    Oddity("snapshot-not-brotli", change=_data(lambda _: b"\xff\xff not brotli")),
    Oddity("snapshot-cut-short", change=_data(lambda data: data[: len(data) // 2])),
    Oddity("snapshot-not-json", change=_text(lambda _: "[{")),
    Oddity("snapshot-wrong-shape", change=_text(lambda _: json_text({"no": "list"}))),
    Oddity("snapshot-count-wrong", (f"UPDATE adf_audit SET entry_count = entry_count + 3 {_TRANSCRIPT}",)),
    Oddity("snapshot-size-wrong", (f"UPDATE adf_audit SET size_bytes = size_bytes * 2 + 7 {_TRANSCRIPT}",)),
    Oddity(
        "snapshot-range-inverted",
        (f"UPDATE adf_audit SET start_seq = end_seq, end_seq = start_seq - 1 {_TRANSCRIPT}",),
        since=28,
    ),
    Oddity("snapshot-range-short", (f"UPDATE adf_audit SET start_seq = start_seq + 1 {_TRANSCRIPT}",), since=28),
    Oddity(
        "snapshot-range-missing", (f"UPDATE adf_audit SET start_seq = NULL, end_seq = NULL {_TRANSCRIPT}",), since=29
    ),
    Oddity("snapshot-both-locators", (f"UPDATE adf_audit SET start_seq = 1, end_seq = 1 {_MESSAGE}",), since=28),
    Oddity("snapshot-ref-wrong", (f"UPDATE adf_audit SET ref = 'msg-of-another' {_MESSAGE}",), since=28),
    Oddity("snapshot-seq-twice", change=_seq_twice, since=28),
    Oddity("archived-above-mark", change=_above_mark, since=28),
    Oddity("timer-schedule-not-json", ("UPDATE adf_timers SET schedule_json = 'every day'",)),
    Oddity("timer-scope-not-array", ("""UPDATE adf_timers SET scope = '"agent"'""",)),
    Oddity("inbox-attachments-not-json", ("UPDATE adf_inbox SET attachments = 'a.txt'",)),
    Oddity(
        "null-in-required",
        change=unconstrained("adf_loop", "NOT NULL", f"UPDATE adf_loop SET content_json = NULL {_FIRST}"),
    ),
)
FAULTS = {fault.slug: fault for fault in _FAULTS}
