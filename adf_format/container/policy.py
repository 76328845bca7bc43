"""Settings for a connection to a file that somebody else made: it may be read and nothing else."""

from __future__ import annotations

import apsw

from .clock import Clock
from .model import Limits


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAFE_FUNCTIONS = _words(
    """
    abs acos asin atan atan2 avg ceil ceiling char coalesce concat concat_ws cos count cume_dist date
    datetime degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr if json
    json_array json_array_length json_error_position json_extract json_group_array json_group_object
    json_object json_pretty json_quote json_type json_valid jsonb
    jsonb_extract julianday lag last_value lead length like
    likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length
    percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians rank replace
    round row_number rtrim sign sin sqlite_version sqrt strftime string_agg substr substring sum tan time
    timediff total total_changes trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely
    upper -> ->>
    """
)
OWN_PREFIX = "adff_"  # functions that this package registers itself

_PRAGMAS_WITH_TABLE = _words(
    """
    foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check
    table_info table_list table_xinfo
    """
)
_PRAGMAS_READ = _words(
    """
    application_id auto_vacuum busy_timeout cache_size cell_size_check collation_list compile_options
    data_version database_list encoding foreign_keys freelist_count journal_mode max_page_count mmap_size
    page_count page_size schema_version temp_store user_version
    """
)
_PLAIN_READS = frozenset(
    {
        apsw.SQLITE_SELECT,
        apsw.SQLITE_READ,
        apsw.SQLITE_RECURSIVE,
        apsw.SQLITE_TRANSACTION,
        apsw.SQLITE_SAVEPOINT,
    }
)
_WRITES = frozenset({apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE})
_SWITCHES = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    (apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
)
# The number of columns, variables and arguments stays SQLite's: lowering it would refuse lawful user tables.
_LIMITS = (
    (apsw.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (apsw.SQLITE_LIMIT_EXPR_DEPTH, 500),
    (apsw.SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (apsw.SQLITE_LIMIT_VDBE_OP, 2_000_000),
    (apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (apsw.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (apsw.SQLITE_LIMIT_ATTACHED, 0),
    (apsw.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_KEPT_MODULES = ("json_each", "json_tree", "dbstat")
_STEPS = 50_000  # SQLite instructions between two looks at the clock: about a millisecond


def authorize(action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None) -> int:
    """Allow reading, known harmless functions and asking pragmas; deny everything else."""
    if action in _PLAIN_READS:
        return apsw.SQLITE_OK
    if action == apsw.SQLITE_FUNCTION and second is not None:
        name = second.lower()
        return apsw.SQLITE_OK if name in SAFE_FUNCTIONS or name.startswith(OWN_PREFIX) else apsw.SQLITE_DENY
    if action == apsw.SQLITE_PRAGMA and first is not None:
        name = first.lower()
        if name in _PRAGMAS_WITH_TABLE or (name in _PRAGMAS_READ and second is None):
            return apsw.SQLITE_OK
    return apsw.SQLITE_DENY


def authorize_writing(
    action: int, first: str | None, second: str | None, database: str | None, inner: str | None
) -> int:
    """Allow what `authorize` does, and rows of tables to be written; SQLite's own tables but for the counters not."""
    if action in _WRITES and first is not None:
        own = first.lower().startswith("sqlite_") and first.lower() != "sqlite_sequence"
        return apsw.SQLITE_DENY if own else apsw.SQLITE_OK
    return authorize(action, first, second, database, inner)


def secure(connection: apsw.Connection, limits: Limits, clock: Clock) -> None:
    """Put the settings for untrusted input on a connection, the authorizer last.

    Modules of virtual tables are dropped: what the file declares with FTS5, R-Tree or `vec0` is treated
    alike (STO-020), and none of their code reads hostile bytes.
    """
    for switch, value in _SWITCHES:
        connection.config(switch, value)
    for category, bound in _LIMITS:
        connection.limit(category, bound)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, limits.max_value_bytes)
    connection.drop_modules(_KEPT_MODULES)
    kib = max(1, limits.cache_bytes >> 10)
    connection.execute(f"PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-{kib}").fetchall()
    connection.set_progress_handler(clock.tick, _STEPS)
    connection.authorizer = authorize
