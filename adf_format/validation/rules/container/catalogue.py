"""The rules of the container family, with their examples."""

from __future__ import annotations

from adf_format.validation.rule import Example, Rule, Severity, rule

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _swapped_roots(one: str, other: str) -> str:
    return (
        "PRAGMA writable_schema = ON;\n"
        "UPDATE sqlite_schema SET rootpage = (SELECT sum(rootpage) FROM sqlite_schema\n"
        f"  WHERE name IN ('{one}', '{other}')) - rootpage WHERE name IN ('{one}', '{other}');\n"
        "PRAGMA writable_schema = OFF;"
    )


_LONG_TRANSACTION = (
    "DELETE FROM adf_meta WHERE key = 'adf_clean_close';\n"
    "INSERT INTO adf_logs (message, created_at) VALUES (hex(zeroblob(9000)), 1767225600000);"
)
# magic, no pages, no seed, more pages than the file has, sectors of 512 bytes, page size as in the file
_JOURNAL = f"d9d505f920a163d7{0:08x}{0:08x}{0x7FFFFFFF:08x}{512:08x}{0:08x}".ljust(1024, "0")

INTEGRITY: Rule = rule(
    "ADF101",
    "integrity",
    ERROR,
    what="SQLite's integrity check finds nothing (with --quick: its quick check, which does not compare indexes).",
    why="Pages or indexes contradict each other: queries give wrong rows or none, and writing may spread the damage.",
    source=("STO-006", "STO-007"),
    fires=_swapped_roots("idx_adf_inbox_from", "idx_adf_inbox_status"),
    silent="PRAGMA writable_schema = ON;\n"
    "INSERT INTO sqlite_schema VALUES ('table', 'local_vectors', 'local_vectors', 0,\n"
    "  'CREATE VIRTUAL TABLE local_vectors USING vec0(embedding float[4])');\n"
    "PRAGMA writable_schema = OFF;",
    fix="work on a copy; `VACUUM INTO` writes what can still be read to a new file",
)
DAMAGED: Rule = rule(
    "ADF102",
    "damaged-page",
    ERROR,
    what="Every table can be read from its first row to its last.",
    why="What stands on the damaged pages is lost, and the checks that needed it did not run.",
    source=("STO-007",),
    fires=_swapped_roots("adf_logs", "idx_adf_logs_level"),
    silent="DELETE FROM adf_logs;",
    fix="restore the file from a backup",
)
TRAILING: Rule = rule(
    "ADF103",
    "bytes-after-the-end",
    WARNING,
    what="The file ends with the last page of the database.",
    why="SQLite ignores the rest and overwrites it when the database grows; it may be hidden data or a failed copy.",
    source=("STO-001",),
    fires=Example(append="00" * 100),
    silent=Example("CREATE TABLE local_gone (x);\nDROP TABLE local_gone;"),
)
VERSION: Rule = rule(
    "ADF104",
    "storage-version-unreadable",
    ERROR,
    what="adf_meta holds the storage version as a decimal number, under adf_schema_version or the old schema_version.",
    why="Runtimes take such a file for current and never migrate it; here no rule knows which tables to expect.",
    source=("STO-002", "MIG-007"),
    fires="UPDATE adf_meta SET value = 'thirty-two' WHERE key = 'adf_schema_version';",
    silent="UPDATE adf_meta SET value = '032' WHERE key = 'adf_schema_version';",
)
NEWER: Rule = rule(
    "ADF105",
    "storage-version-newer",
    WARNING,
    what="The storage version is one that this release knows.",
    why="Rules of later versions are not known; findings may be wrong. Nothing may be written to such a file.",
    source=("MIG-005", "MIG-006"),
    fires="UPDATE adf_meta SET value = '33' WHERE key = 'adf_schema_version';",
    silent="UPDATE adf_meta SET value = '0.3' WHERE key = 'adf_version';",
    fix="use a release of adf-format that knows this version",
)
OLDER: Rule = rule(
    "ADF106",
    "storage-version-older",
    WARNING,
    what="The storage version is not older than the first public one.",
    why="Its tables are known only from what migrations do, so most checks are left out.",
    source=("MIG-020", "MIG-027"),
    fires=Example("UPDATE adf_meta SET value = '20' WHERE key = 'adf_schema_version';", on=21),
    silent=Example(on=21),
    fix="open the file once with a runtime that migrates it, then validate again",
)
LOG_TORN: Rule = rule(
    "ADF107",
    "log-torn",
    INFO,
    what="The write-ahead log ends with a complete transaction.",
    why="The last transaction was cut off by a crash; SQLite ignores it, as it was never finished.",
    source=("STO-009", "STO-012"),
    fires=Example(log=_LONG_TRANSACTION, log_cut=8),
    silent=Example(log=_LONG_TRANSACTION),
)
LOG_FOREIGN: Rule = rule(
    "ADF108",
    "log-foreign",
    WARNING,
    what="A write-ahead log beside the file belongs to it.",
    why="SQLite ignores this one: it is overwritten, or of another database, and what it held is lost here.",
    source=("STO-009", "STO-012"),
    fires=Example(beside=(("-wal", "00" * 4200),)),
    silent=Example(beside=(("-wal", ""),)),
)
HOT_JOURNAL: Rule = rule(
    "ADF109",
    "hot-journal",
    WARNING,
    what="No transaction was interrupted: there is no rollback journal that SQLite would play back.",
    why="A writer crashed. The next writer undoes its half-done work; here it was undone in a private copy.",
    source=("STO-009", "STO-012"),
    fires=Example(beside=(("-journal", _JOURNAL),)),
    silent=Example(beside=(("-journal", "00" * 512),)),
)
CLEAN_CLOSE: Rule = rule(
    "ADF110",
    "clean-close-with-log",
    WARNING,
    what="A file that says it was closed cleanly has no write-ahead log with changes.",
    why="The mark makes the next opening skip the full integrity check, but the close was not complete.",
    source=("STO-005", "STO-006", "BUG-11"),
    fires=Example(
        log="INSERT OR REPLACE INTO adf_meta VALUES ('adf_clean_close', '2026-01-01T00:00:00.000Z', 'readonly');"
    ),
    silent=Example(log="DELETE FROM adf_meta WHERE key = 'adf_clean_close';"),
)
LEFTOVERS: Rule = rule(
    "ADF111",
    "leftover-beside-the-file",
    INFO,
    what="There is no `.bak`, `.bak.<time>`, `.corrupt` or `.repaired` file beside the file.",
    why="A runtime leaves one when a migration or deletion did not finish; `adf-format` keeps them as the way back.",
    source=("STO-007", "STO-013", "STO-014"),
    fires=Example(beside=((".bak", "00"),)),
    silent=Example(beside=((".backup", "00"),)),
    fix="compare it with the file; keep it until you know that nothing is missing",
)
HEADER: Rule = rule(
    "ADF112",
    "header-not-default",
    INFO,
    what="application_id and user_version are 0, texts are UTF-8, auto_vacuum is off, no bytes of a page are reserved.",
    why="Nothing breaks, but another program than a runtime of the format set it; the version is not kept there.",
    source=("STO-001", "STO-002"),
    fires="PRAGMA user_version = 32;",
    silent="PRAGMA page_size = 8192;\nVACUUM;",
)
