"""Step 27 to 28: the audit is addressed by seq and reference instead of time (MIG-034, MIG-040 to MIG-048)."""

from __future__ import annotations

from typing import Any

from adf_format.creation import seeds
from adf_format.migration.locating import locate_snapshot
from adf_format.migration.steps.model import Step
from adf_format.migration.steps.seeding import add_file, fill_blank_file
from adf_format.migration.work import Work, described
from adf_format.schemas.ddl import create_table, quote_any

OLD_TIMES = ("start_at", "end_at")
NEW = ("start_seq", "end_seq", "ref")
_DRAFT = "adf_audit_draft"


def _seq_addressed(work: Work) -> None:
    work.add_column("MIG-041", "adf_loop", "ord", 28)
    if "start_at" in work.columns("adf_audit"):
        _rebuild(work)
    work.create_indexes("MIG-042", "adf_audit", 28)
    add_file(work, "MIG-048", "mind/log.md", seeds.MIND_LOG)
    fill_blank_file(work, "MIG-048", "mind.md", seeds.MIND)


def _rebuild(work: Work) -> None:
    """Copy every row into a table of the new shape: ids, blobs and the counter stay (MIG-042, MIG-043)."""
    old = work.columns("adf_audit")
    kept = [name for name in described("adf_audit", 28).column if name in old and name not in NEW]
    unknown = _unknown_columns(work)
    others = _others(work)
    mark = _mark(work)
    work.change_schema(create_table(described("adf_audit", 28)).replace("adf_audit", _DRAFT, 1))
    for name, declaration in unknown.items():
        work.change_schema(f"ALTER TABLE {_DRAFT} ADD COLUMN {quote_any(name)} {declaration}")
    _copy(work, [*kept, *unknown])
    work.change_schema("DROP TABLE adf_audit")
    work.change_schema("PRAGMA legacy_alter_table=ON")  # a view of others that is broken is no concern of ours
    work.change_schema(f"ALTER TABLE {_DRAFT} RENAME TO adf_audit")
    work.change_schema("PRAGMA legacy_alter_table=OFF")
    _restore_mark(work, mark)
    for statement in others:
        work.change_schema(statement)
    _note(work, old)


def _copy(work: Work, columns: list[str]) -> None:
    names = ", ".join(map(quote_any, columns))
    copy = (
        f"INSERT INTO {_DRAFT} ({names}, start_seq, end_seq, ref) SELECT {names}, ?, ?, ? FROM adf_audit WHERE id = ?"
    )
    ids = [row[0] for row in work.connection.execute("SELECT id FROM adf_audit ORDER BY id")]
    for done, number in enumerate(ids, 1):
        found = locate_snapshot(work.connection, number, hashing=work.hashing)
        work.record.snapshots[number] = found
        work.connection.execute(copy, (found.start_seq, found.end_seq, found.ref, number))
        work.snapshot_done(done)


def _unknown_columns(work: Work) -> dict[str, str]:
    """Return the columns that no version declares, with their declarations: they are kept (STO-016)."""
    known = {"start_at", "end_at", *described("adf_audit", 28).column}
    query = "SELECT name, type, dflt_value FROM pragma_table_info('adf_audit')"
    return {
        name: f"{quote_any(kind) if kind else ''}{f' DEFAULT ({default})' if default else ''}"
        for name, kind, default in work.connection.execute(query)
        if name not in known
    }


def _others(work: Work) -> list[str]:
    """Return the statements that make again what others hung on the table; our old index is not among them."""
    query = (
        "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND tbl_name = 'adf_audit'"
        " AND sql IS NOT NULL AND name <> 'idx_adf_audit_source' ORDER BY rowid"
    )
    found: list[str] = []
    rows: Any = work.connection.execute(query).fetchall()
    for name, sql in rows:
        if any(word in sql for word in OLD_TIMES):
            work.record.notes.append(f"{name!a} went with the columns start_at and end_at")
            work.note("MIG-042", "index-dropped", "adf_audit", rows=0, column=name)
        else:
            found.append(sql)
    return found


def _mark(work: Work) -> int | None:
    """Return the highest id ever given, as far as it is known; a rebuild alone would forget it (MIG-047)."""
    mark = work.connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'adf_audit'").get
    return mark if isinstance(mark, int) else None


def _restore_mark(work: Work, mark: int | None) -> None:
    highest = work.connection.execute("SELECT max(id) FROM adf_audit").get
    work.connection.execute("DELETE FROM sqlite_sequence WHERE name IN ('adf_audit', ?)", (_DRAFT,))
    if mark is not None or highest is not None:
        values = [value for value in (mark, highest) if isinstance(value, int)]
        work.connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('adf_audit', ?)", (max(values),))


def _note(work: Work, old: set[str]) -> None:
    count = work.count("adf_audit")
    for name in OLD_TIMES:
        if name in old:
            work.note("MIG-043", "column-dropped", "adf_audit", rows=count, column=name)
    for name in NEW:
        if name not in old:
            work.note("MIG-044", "column-added", "adf_audit", rows=count, column=name)
        work.record.derived.add(("adf_audit", name))
    if "idx_adf_audit_source" not in _indexes(work):
        work.note("MIG-042", "index-dropped", "adf_audit", rows=0, column="idx_adf_audit_source")


def _indexes(work: Work) -> set[str]:
    return {name for (name,) in work.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}


STEPS = (
    Step(
        27,
        28,
        ("MIG-034", "MIG-041", "MIG-042", "MIG-043", "MIG-044", "MIG-048"),
        "adf_loop.ord is added; the audit is addressed by seq and reference; mind files are seeded",
        _seq_addressed,
    ),
)
