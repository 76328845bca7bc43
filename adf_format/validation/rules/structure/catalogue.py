"""The rules of the schema family, with their examples."""

from __future__ import annotations

from adf_format.validation.rule import Example, Rule, Severity, rule

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def edited(table: str, old: str, new: str) -> str:
    """Return SQL that edits the declaration of a table in place; its rows must still fit afterwards."""
    old, new = (text.replace("'", "''") for text in (old, new))
    return (
        "PRAGMA writable_schema = ON;\n"
        f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{table}';\n"
        "PRAGMA writable_schema = OFF;"
    )


def _attestations(key: str = "id INTEGER PRIMARY KEY AUTOINCREMENT", tail: str = "", option: str = "") -> str:
    return (
        f"DROP TABLE adf_attestations;\nCREATE TABLE adf_attestations ({key}, issuer TEXT NOT NULL, "
        "subject TEXT NOT NULL, role TEXT NOT NULL, issued_at TEXT NOT NULL, expires_at TEXT, scope TEXT, "
        f"signature TEXT NOT NULL, raw_json TEXT NOT NULL{tail}){option};\n"
        "CREATE INDEX idx_adf_attestations_subject ON adf_attestations(subject);"
    )


TABLE_MISSING: Rule = rule(
    "ADF201",
    "table-missing",
    ERROR,
    what="Every table of the file's storage version is there.",
    why="Runtimes prepare their statements on opening: without one of its tables the file does not open.",
    source=("STO-030", "STO-031"),
    fires="DROP TABLE adf_attestations;",
    silent="DROP TABLE local_notes;",
    fix="if the table came with a later storage version, the version in adf_meta was raised without a migration",
)
TABLE_KIND: Rule = rule(
    "ADF202",
    "table-not-ordinary",
    ERROR,
    what="Tables of the format are ordinary tables with a rowid: no views, no virtual tables, not WITHOUT ROWID.",
    why="Writers insert into them and number rows by rowid; a view may also compute whatever it likes.",
    source=("STO-030", "STO-033"),
    fires="DROP TABLE adf_attestations;\nCREATE VIEW adf_attestations AS SELECT 1 AS id;",
    silent="CREATE VIEW local_recent AS SELECT * FROM adf_logs;",
)
COLUMN_MISSING: Rule = rule(
    "ADF203",
    "column-missing",
    ERROR,
    what="Every column of the file's storage version is there, in any order.",
    why="Statements that name the column fail. Typical of a version number that was raised without the migration.",
    source=("STO-017", "STO-030", "STO-031"),
    fires="ALTER TABLE adf_tasks DROP COLUMN approval_meta;",
    silent="ALTER TABLE adf_tasks DROP COLUMN approval_meta;\nALTER TABLE adf_tasks ADD COLUMN approval_meta TEXT;",
)
COLUMN_TYPE: Rule = rule(
    "ADF204",
    "column-type",
    ERROR,
    what="A column is declared with the type of the format; adf_loop.tokens may be INTEGER, as in very old files.",
    why="The declared type decides how SQLite stores and compares values: digits put into TEXT stay text.",
    source=("STO-018", "STO-030"),
    fires=edited("adf_logs", "message TEXT NOT NULL", "message INTEGER NOT NULL"),
    silent=edited("adf_loop", "tokens TEXT", "tokens INTEGER"),
)
COLUMN_SPELLING: Rule = rule(
    "ADF205",
    "column-type-spelling",
    INFO,
    what="A column's type is spelled as in the format.",
    why="Values are stored alike, but the file was not made by the statements of the format.",
    source=("STO-017", "STO-030"),
    fires=edited("adf_logs", "message TEXT NOT NULL", "message VARCHAR(200) NOT NULL"),
    silent=edited("adf_logs", "message TEXT NOT NULL", "message text not null"),
)
NOT_NULL_MISSING: Rule = rule(
    "ADF206",
    "not-null-missing",
    WARNING,
    what="Columns that must have a value are declared NOT NULL.",
    why="Nothing stops a writer from storing NULL where readers rely on a value.",
    source=("STO-030",),
    fires=edited("adf_logs", "message TEXT NOT NULL", "message TEXT"),
    silent=edited("adf_logs", "message TEXT NOT NULL", "message TEXT CONSTRAINT filled NOT NULL"),
)
NOT_NULL_ADDED: Rule = rule(
    "ADF207",
    "not-null-added",
    ERROR,
    what="Columns that may be empty are not declared NOT NULL; on a primary key it does no harm.",
    why="Writers store NULL there, and every such insert fails.",
    source=("STO-030",),
    fires="DELETE FROM adf_attestations;\n" + edited("adf_attestations", "expires_at TEXT", "expires_at TEXT NOT NULL"),
    silent=edited("adf_identity", "purpose TEXT PRIMARY KEY", "purpose TEXT PRIMARY KEY NOT NULL"),
)
DEFAULT: Rule = rule(
    "ADF208",
    "default-differs",
    WARNING,
    what="A column has the DEFAULT of the format; adf_loop.created_at may have 0, as in very old files.",
    why="Writers that leave the column out store another value, or fail.",
    source=("STO-018", "STO-030"),
    fires=edited("adf_meta", "DEFAULT 'none'", "DEFAULT 'readonly'"),
    silent=edited("adf_meta", "DEFAULT 'none'", "DEFAULT ('none')"),
)
PRIMARY_KEY: Rule = rule(
    "ADF209",
    "primary-key",
    ERROR,
    what="The primary key is the column of the format and, where that is an INTEGER, the rowid itself.",
    why="Writers replace rows by key and rely on SQLite to number rows; both fail or double rows otherwise.",
    source=("STO-030", "STO-033"),
    fires=_attestations("id INTEGER"),
    silent=_attestations("id INTEGER", ", PRIMARY KEY (id AUTOINCREMENT)"),
)
AUTOINCREMENT: Rule = rule(
    "ADF210",
    "autoincrement-missing",
    ERROR,
    what="Tables that number their rows declare AUTOINCREMENT, and SQLite's table of counters exists.",
    why="Without it the number of the last deleted row is given again, and seq is identity for a lifetime.",
    source=("STO-030", "STO-033"),
    fires=edited("adf_timers", "AUTOINCREMENT", ""),
    silent=edited("adf_timers", "AUTOINCREMENT", "autoincrement"),
)
CHECK: Rule = rule(
    "ADF211",
    "check-differs",
    WARNING,
    what="CHECK constraints are those of the format.",
    why="A missing one lets wrong values in; one that the format does not have may refuse lawful rows.",
    source=("STO-030", "STO-037"),
    fires=edited("adf_config", "CHECK (id = 1)", ""),
    silent=edited("adf_config", "CHECK (id = 1)", 'CONSTRAINT only CHECK(("id"=1))'),
)
INDEX_MISSING: Rule = rule(
    "ADF212",
    "index-missing",
    WARNING,
    what="Every index of the file's storage version is there.",
    why="Queries give the same rows but slow down as tables grow; some migrations did leave an index out.",
    source=("STO-030", "STO-031", "MIG-014", "AMB 14"),
    fires="DROP INDEX idx_adf_outbox_created;",
    silent=Example("DROP INDEX IF EXISTS idx_adf_outbox_created;", on=31),
    fix="create the index as `adf-format schema ddl` prints it",
)
INDEX_DIFFERS: Rule = rule(
    "ADF213",
    "index-differs",
    WARNING,
    what="An index of the format covers the columns of the format, all rows, in plain order.",
    why="It carries the name but does not serve the queries that it is there for.",
    source=("STO-030", "STO-031"),
    fires="DROP INDEX idx_adf_logs_level;\nCREATE INDEX idx_adf_logs_level ON adf_logs(event);",
    silent='DROP INDEX idx_adf_logs_level;\nCREATE INDEX "idx_adf_logs_level" ON "adf_logs" ("level" ASC);',
)
UNIQUE: Rule = rule(
    "ADF214",
    "unique-added",
    ERROR,
    what="Nothing but the primary key is unique.",
    why="Rows that the format allows are refused, or quietly replace others.",
    source=("STO-030",),
    fires="CREATE UNIQUE INDEX local_once ON adf_logs(level) WHERE level = 'fatal';",
    silent="CREATE UNIQUE INDEX local_once ON adf_logs(id, level);",
)
COLUMN_UNKNOWN: Rule = rule(
    "ADF215",
    "column-unknown",
    INFO,
    what="Columns are those that the format knows; a column adf_files.protected is a known relic.",
    why="Other columns are legal and must be kept, but nothing here checks what they hold.",
    source=("STO-016", "STO-018"),
    fires="ALTER TABLE adf_logs ADD COLUMN trace_id TEXT;",
    silent="ALTER TABLE adf_files ADD COLUMN protected INTEGER;",
)
COLUMN_DEMANDED: Rule = rule(
    "ADF216",
    "column-unknown-required",
    ERROR,
    what="A column that the format does not have can be left out of an INSERT.",
    why="It is NOT NULL without a DEFAULT: every insert by a writer that does not know it fails.",
    source=("STO-016",),
    fires=_attestations(tail=", trace_id TEXT NOT NULL"),
    silent="ALTER TABLE adf_attestations ADD COLUMN trace_id TEXT NOT NULL DEFAULT '';",
)
COLUMN_GENERATED: Rule = rule(
    "ADF217",
    "column-generated",
    ERROR,
    what="No column of the format is a generated one.",
    why="SQLite refuses to store a value in it, so writers fail.",
    source=("STO-030",),
    fires="ALTER TABLE adf_tasks DROP COLUMN approval_meta;\n"
    "ALTER TABLE adf_tasks ADD COLUMN approval_meta TEXT GENERATED ALWAYS AS (error) VIRTUAL;",
    silent="ALTER TABLE adf_tasks ADD COLUMN shout TEXT GENERATED ALWAYS AS (upper(tool)) VIRTUAL;",
)
OTHER_VERSION: Rule = rule(
    "ADF218",
    "of-another-version",
    WARNING,
    what="Tables, columns and indexes that only other storage versions have are not there.",
    why="The version number and the tables disagree: a migration was cut short, or the number was set by hand.",
    source=("STO-031", "MIG-002", "T6"),
    fires=Example("ALTER TABLE adf_loop ADD COLUMN ord INTEGER;", on=27),
    silent=Example("ALTER TABLE local_notes ADD COLUMN ord INTEGER;", on=27),
)
INDEX_UNKNOWN: Rule = rule(
    "ADF219",
    "index-unknown",
    INFO,
    what="Indexes on tables of the format are those that the format knows.",
    why="Others are legal and only cost time on writing.",
    source=("STO-016",),
    fires="CREATE INDEX local_by_event ON adf_logs(event);",
    silent="CREATE TABLE local_events (event TEXT);\nCREATE INDEX local_by_event ON local_events(event);",
)
TABLE_UNKNOWN: Rule = rule(
    "ADF220",
    "table-unknown",
    INFO,
    what="Tables are those of the format, or named local_*; adf_usage is a known relic.",
    why="Others are legal and must be kept, but nothing here checks what they hold.",
    source=("STO-016", "STO-018", "STO-020"),
    fires="CREATE TABLE notes (text TEXT);",
    silent="CREATE TABLE local_more (text TEXT);\nCREATE TABLE adf_usage (day TEXT);",
)
TABLE_LEFTOVER: Rule = rule(
    "ADF221",
    "table-leftover",
    WARNING,
    what="The tables adf_archive and adf_peers, given up before storage version 21, are gone.",
    why="The migration drops them; that they are there means that it did not run, and what they hold is lost later.",
    source=("MIG-011", "MIG-027"),
    fires="CREATE TABLE adf_peers (handle TEXT);",
    silent="CREATE TABLE local_peers (handle TEXT);",
)
TRIGGER: Rule = rule(
    "ADF222",
    "trigger",
    WARNING,
    what="There is no trigger on a table of the format, and none that touches one.",
    why="It runs inside every program that writes to the file, and changes data that the program did not mean to.",
    source=("STO-003",),
    fires="CREATE TRIGGER local_hide AFTER INSERT ON adf_loop BEGIN DELETE FROM adf_logs; END;",
    silent="CREATE TABLE local_a (x);\n"
    "CREATE TRIGGER local_trim AFTER INSERT ON local_a BEGIN DELETE FROM local_a WHERE x < 0; END;",
    fix="read what it does, then drop it",
)
FOREIGN_KEY: Rule = rule(
    "ADF223",
    "foreign-key",
    WARNING,
    what="No foreign key starts or ends at a table of the format.",
    why="Runtimes enforce foreign keys: a compaction or a deletion then fails, or deletes rows elsewhere.",
    source=("STO-003",),
    fires="CREATE TABLE local_marks (seq INTEGER REFERENCES adf_loop(seq));",
    silent="CREATE TABLE local_a (x INTEGER PRIMARY KEY);\nCREATE TABLE local_b (x REFERENCES local_a(x));",
)
CLAUSE: Rule = rule(
    "ADF224",
    "clause-added",
    WARNING,
    what="Declarations of the format's tables have no COLLATE and no ON CONFLICT clause.",
    why="Both change which keys count as equal and what happens then: a write may replace another row.",
    source=("STO-030",),
    fires=edited("adf_logs", "message TEXT NOT NULL", "message TEXT COLLATE NOCASE NOT NULL"),
    silent="CREATE TABLE local_words (word TEXT COLLATE NOCASE PRIMARY KEY ON CONFLICT REPLACE);",
)
STRICT: Rule = rule(
    "ADF225",
    "strict-table",
    INFO,
    what="Tables of the format are not STRICT.",
    why="SQLite then refuses values of another type that runtimes of the format may write.",
    source=("STO-030",),
    fires=_attestations(option=" STRICT"),
    silent="CREATE TABLE local_words (word TEXT) STRICT;",
)
