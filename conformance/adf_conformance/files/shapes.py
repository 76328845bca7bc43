"""Shapes that are legal though not plain: whoever rejects them rejects real files (STO-016 to STO-018 and others)."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from adf_conformance.files import layout
from adf_conformance.files.encoding import snapshot_row
from adf_conformance.files.odd import Change, Oddity, config_edit, rebuilt

_FIRST = "WHERE seq = (SELECT min(seq) FROM adf_loop)"
_LAST = "WHERE seq = (SELECT max(seq) FROM adf_loop)"
_CALL = '[{"type":"tool_use","id":"toolu_odd","name":"fs_read","input":{"path":"a"}}]'
_RESULT = '[{"type":"tool_result","tool_use_id":"toolu_odd","content":"a"}]'
_MIXED = '[{"type":"text","text":"a"},{"type":"hologram","depth":3}]'
_BIG = '[{"type":"tool_use","id":"toolu_odd","name":"fs_read","input":{"n":123456789012345678901234567890}}]'


def _content(text: str, where: str = _FIRST) -> tuple[str, ...]:
    return (f"UPDATE adf_loop SET content_json = '{text}' {where}",)


def _add_snapshot(**snapshot: object) -> Change:
    def change(connection: sqlite3.Connection) -> None:
        insert_snapshot(connection, dict(snapshot))

    return change


def insert_snapshot(connection: sqlite3.Connection, snapshot: dict[str, object]) -> None:
    """Add a row to `adf_audit`."""
    (text,) = connection.execute("SELECT value FROM adf_meta WHERE key = 'adf_schema_version'").fetchone()
    row = snapshot_row(snapshot, int(text))
    marks = ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO adf_audit ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def _entry(seq: int) -> dict[str, object]:
    return {"seq": seq, "role": "user", "blocks": [{"type": "text", "text": f"odd {seq}"}]}


def _live_copy(connection: sqlite3.Connection) -> None:
    """Archive a copy of the first live row, as a rebuild of the history does (ROW-013)."""
    (seq,) = connection.execute("SELECT min(seq) FROM adf_loop WHERE loop = 'main'").fetchone()
    insert_snapshot(connection, {"source": "loop:main", "entries": [_entry(seq)]})


def _audit_new_shape(connection: sqlite3.Connection) -> None:
    """Give an older file the audit table of version 28, as a newer runtime does that finds none (MIG-011, MIG-042)."""
    connection.execute("DROP TABLE adf_audit")
    connection.execute(layout.create_table("adf_audit", 28))


def _overlapping(connection: sqlite3.Connection) -> None:
    """Add two snapshots whose ranges overlap, with seqs below and above those of another (AUD-007)."""
    (mark,) = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").fetchone()
    base = mark + 1
    for seqs in ((base, base + 4), (base + 2, base + 3)):
        insert_snapshot(connection, {"source": "loop:main", "entries": [_entry(seq) for seq in seqs]})
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'adf_loop'", (base + 4,))


def _declared_last_first(sql: str) -> str:
    """Declare the last column of adf_logs second, as a table that was made again may have it."""
    head, body = sql.split("(", 1)
    columns = re.split(r", (?=\")", body.rstrip()[:-1])
    return f"{head}({', '.join([columns[0], columns[-1], *columns[1:-1]])})"


def _backup(path: Path) -> None:
    path.with_name(path.name + ".bak").write_bytes(path.read_bytes())


def _virtual(connection: sqlite3.Connection) -> None:
    """Declare a virtual table of a module that is not there, with its shadow tables (STO-020)."""
    connection.execute("CREATE TABLE local_notes_chunks (id INTEGER PRIMARY KEY, data BLOB)")
    connection.execute("PRAGMA writable_schema = ON")
    declared = "CREATE VIRTUAL TABLE local_notes USING vec0(embedding float[4])"
    row = ("table", "local_notes", "local_notes", 0, declared)
    connection.execute("INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("PRAGMA writable_schema = OFF")


_ARCHIVED_FILE = {"path": "a.md", "content_base64": "IyBBCg==", "mime_type": "text/markdown", "size": 4}
_SUMMARY = '[{"type":"text","text":"[Loop Compacted, audited] All that was said."}]'
_ROW = "INSERT INTO adf_loop (role, content_json, created_at) VALUES ('user', '%s', 0)"
_CONTEXT = _ROW % '[{"type":"text","text":"[Context: system_prompt] You are Ada."}]'
_LOCKED = (
    "INSERT INTO adf_timers (schedule_json, next_wake_at, scope, created_at, locked, loop)"
    """ VALUES ('{"mode":"once","at":1893456000000}', 1893456000000, '["agent"]', 0, 1, 'departed')"""
)
_SHAPES = (
    Oddity("unknown-table", ("CREATE TABLE adf_future (id INTEGER PRIMARY KEY, data TEXT)",)),
    Oddity(
        "local-table", ("CREATE TABLE local_notes (at INTEGER, note TEXT)", "INSERT INTO local_notes VALUES (1, 'a')")
    ),
    Oddity("virtual-table", change=_virtual),
    Oddity("unknown-column", ("ALTER TABLE adf_files ADD COLUMN colour TEXT",)),
    Oddity("unknown-index", ("CREATE INDEX idx_mine ON adf_logs (created_at)",)),
    Oddity("column-order", change=rebuilt("adf_logs", _declared_last_first)),
    Oddity("tokens-integer", change=rebuilt("adf_loop", lambda sql: sql.replace('"tokens" TEXT', '"tokens" INTEGER'))),
    Oddity("files-protected", ("ALTER TABLE adf_files ADD COLUMN protected INTEGER NOT NULL DEFAULT 0",)),
    Oddity("journal-wal"),
    Oddity("journal-delete"),
    Oddity("log-beside"),
    Oddity("backup-beside", on_file=_backup),
    Oddity("unknown-meta", ("INSERT INTO adf_meta VALUES ('runtime_future', 'x', 'none')",)),
    Oddity("meta-protection", ("UPDATE adf_meta SET protection = 'none' WHERE key = 'adf_name'",)),
    Oddity("unknown-config-key", change=config_edit(lambda config: config.update(hologram={"depth": 3}))),
    Oddity("unknown-loop-key", change=config_edit(lambda config: config["loops"][0].update(mood="calm")), since=29),
    Oddity("unknown-status", ("UPDATE adf_inbox SET status = 'snoozed'",)),
    Oddity("unknown-source", change=_add_snapshot(source="hologram", value={"depth": 3})),
    Oddity("unknown-block", _content(_MIXED)),
    Oddity("empty-content", _content("[]")),
    Oddity("bare-tokens", (f"UPDATE adf_loop SET tokens = 17 {_FIRST}",)),
    Oddity("lone-surrogate", _content('[{"type":"text","text":"cut \\ud83d here"}]')),
    Oddity("large-number", (*_content(_BIG, _LAST), f"UPDATE adf_loop SET role = 'assistant' {_LAST}")),
    Oddity("created-at-zero", (f"UPDATE adf_loop SET created_at = 0 {_FIRST}",)),
    Oddity("null-range", change=_add_snapshot(source="loop", entries=[_entry(1)], range=None), since=28),
    Oddity(
        "size-utf8",
        change=_add_snapshot(
            source="inbox_message",
            value={"id": "msg-odd", "from": "did:key:a", "to": "did:key:b", "payload": {"content": "héllo 😀"}},
            size="utf8",
        ),
    ),
    Oddity("quality", change=_add_snapshot(source="file", value=_ARCHIVED_FILE, quality=0)),
    Oddity("overlapping-ranges", change=_overlapping, since=29),
    Oddity("seq-live-and-archived", change=_live_copy, since=29),
    Oddity("ord-negative", (_ROW % _SUMMARY, f"UPDATE adf_loop SET ord = -3 {_LAST}"), since=28),
    Oddity(
        "summary-usage",
        (_ROW % _SUMMARY, f"""UPDATE adf_loop SET model = 'm', tokens = '{{"input":5,"output":2}}' {_LAST}"""),
    ),
    Oddity("context-repeated", (_CONTEXT, _CONTEXT)),
    Oddity("orphan-result", _content(_RESULT)),
    Oddity("unanswered-call", (_ROW % _CALL, f"UPDATE adf_loop SET role = 'assistant' {_LAST}")),
    Oddity("undeclared-loop-rows", (_ROW % _MIXED, f"UPDATE adf_loop SET loop = 'departed' {_LAST}"), since=29),
    Oddity("kept-locked-timer", (_LOCKED,), since=29),
    Oddity(
        "invalid-override-kept",
        change=config_edit(lambda config: config["loops"][0]["tools"].append("tool_that_went")),
        since=29,
    ),
    Oddity("attestations-empty", ("DELETE FROM adf_attestations",), since=24),
    Oddity("clean-close-missing", ("DELETE FROM adf_meta WHERE key = 'adf_clean_close'",)),
)
LEGACY = {"audit-new-shape": Oddity("audit-new-shape", change=_audit_new_shape, until=27)}
"""Shapes that are for migrations alone."""

SHAPES = {shape.slug: shape for shape in _SHAPES}
