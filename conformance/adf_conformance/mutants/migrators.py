"""Saboteurs of migrators: the real one does its work, and then something is spoiled."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import brotli

from adf_conformance.mutants.mutant import Mutant, Params
from adf_conformance.mutants.tampering import afterwards, afterwards_do, database

_MIGRATE = "file/migrate"


def _recompressed(connection: sqlite3.Connection) -> None:
    for number, data in connection.execute("SELECT id, data FROM adf_audit").fetchall():
        try:
            packed = brotli.compress(brotli.decompress(data), quality=3)
        except brotli.error:
            continue
        connection.execute("UPDATE adf_audit SET data = ? WHERE id = ?", (packed, number))


def _ranges_sorted(connection: sqlite3.Connection) -> None:
    """Write min and max where the first and the last are right."""
    connection.execute(
        "UPDATE adf_audit SET start_seq = min(start_seq, end_seq), end_seq = max(start_seq, end_seq)"
        " WHERE start_seq IS NOT NULL"
    )


def _ids_rewritten(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE adf_audit SET id = id + 1000")


def _stringified(connection: sqlite3.Connection) -> None:
    """Drop what the migrator does not know from the configuration."""
    (text,) = connection.execute("SELECT config_json FROM adf_config").fetchone()
    config = json.loads(text)
    config.pop("hologram", None)
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))


def _icon(connection: sqlite3.Connection) -> None:
    (text,) = connection.execute("SELECT config_json FROM adf_config").fetchone()
    config = json.loads(text)
    if config.get("icon"):
        config["icon"] = "🤖"
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))


def _sidecar(params: Params, answer: Params) -> Params:
    if "result" in answer:
        Path(params["path"] + "-wal").write_bytes(b"")
    return answer


def _newer_taken(params: Params) -> Params:
    """Take a file that is newer than anybody knows for one that is a bit older."""
    try:
        with database(params["path"]) as connection:
            connection.execute(
                "UPDATE adf_meta SET value = '32' WHERE key = 'adf_schema_version' AND CAST(value AS INTEGER) > 32"
            )
    except sqlite3.Error:
        return params
    return params


def _log_lost(params: Params) -> Params:
    Path(params["path"] + "-wal").unlink(missing_ok=True)
    return params


def _backup_overwritten(params: Params, answer: Params) -> Params:
    old = Path(params["path"] + ".bak")
    if old.exists():
        old.write_bytes(Path(params["path"]).read_bytes())
    return answer


def _all_the_way(params: Params) -> Params:
    return {key: value for key, value in params.items() if key != "to"}


def _version_first(params: Params) -> Params:
    """Write the new version before anything else is done."""
    try:
        with database(params["path"]) as connection:
            connection.execute("UPDATE adf_meta SET value = '32' WHERE key = 'adf_schema_version'")
    except sqlite3.Error:
        return params
    return params


MUTANTS = (
    Mutant("migrator.snapshots-recompressed", _MIGRATE, after=afterwards_do(_recompressed)),
    Mutant("migrator.ranges-sorted", _MIGRATE, after=afterwards_do(_ranges_sorted)),
    Mutant("migrator.audit-renumbered", _MIGRATE, after=afterwards_do(_ids_rewritten)),
    Mutant("migrator.refs-forgotten", _MIGRATE, after=afterwards("UPDATE adf_audit SET ref = NULL")),
    Mutant(
        "migrator.damaged-dropped",
        _MIGRATE,
        after=afterwards("DELETE FROM adf_audit WHERE source = 'loop' AND start_seq IS NULL"),
    ),
    Mutant("migrator.seq-renumbered", _MIGRATE, after=afterwards("UPDATE adf_loop SET seq = seq + 100000")),
    Mutant("migrator.ord-filled", _MIGRATE, after=afterwards("UPDATE adf_loop SET ord = seq")),
    Mutant(
        "migrator.counter-reset",
        _MIGRATE,
        after=afterwards(
            "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM adf_loop) WHERE name = 'adf_loop'"
        ),
    ),
    Mutant("migrator.index-forgotten", _MIGRATE, after=afterwards("DROP INDEX idx_adf_loop_stream")),
    Mutant("migrator.column-dropped", _MIGRATE, after=afterwards("ALTER TABLE adf_files DROP COLUMN colour")),
    Mutant("migrator.foreign-table-dropped", _MIGRATE, after=afterwards("DROP TABLE local_notes")),
    Mutant("migrator.unknown-keys-dropped", _MIGRATE, after=afterwards_do(_stringified)),
    Mutant("migrator.icons-alike", _MIGRATE, after=afterwards_do(_icon)),
    Mutant(
        "migrator.mind-always-seeded",
        _MIGRATE,
        after=afterwards("UPDATE adf_files SET content = X'23204D696E64', size = 6 WHERE path = 'mind.md'"),
    ),
    Mutant("migrator.protection-lost", _MIGRATE, after=afterwards("UPDATE adf_files SET protection = 'none'")),
    Mutant("migrator.time-touched", _MIGRATE, after=afterwards("UPDATE adf_config SET updated_at = 'now'")),
    Mutant("migrator.meta-hardened", _MIGRATE, after=afterwards("UPDATE adf_meta SET protection = 'readonly'")),
    Mutant("migrator.sidecar-left", _MIGRATE, after=_sidecar),
    Mutant("migrator.newer-taken", _MIGRATE, before=_newer_taken),
    Mutant("migrator.log-lost", _MIGRATE, before=_log_lost),
    Mutant("migrator.backup-overwritten", _MIGRATE, after=_backup_overwritten),
    Mutant("migrator.target-ignored", _MIGRATE, before=_all_the_way),
    Mutant("migrator.version-before-work", _MIGRATE, before=_version_first),
)
