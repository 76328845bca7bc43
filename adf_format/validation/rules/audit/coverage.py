"""Rows that are nowhere: neither in the transcripts nor in any snapshot, although transcripts are archived."""

from __future__ import annotations

from adf_format.config.auditing import audit_policy
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.transcript.sequence import high_water_mark

SHOWN = 20  # gaps told one by one

_OFF = (
    "UPDATE adf_config SET config_json = json_set(config_json, '$.audit.loop', json('false'),"
    " '$.context.audit.loop', json('false'))"
)

NOWHERE = rule(
    "ADF534",
    "rows-nowhere",
    Severity.INFO,
    what="With `--deep`: while transcripts are archived, every `seq` given out is live or in a snapshot's range.",
    why="Rows went without being archived: while auditing was off, or by something that deletes without archiving.",
    source=("STO-033", "AUD-001", "AUD-007"),
    since=28,
    fires="DELETE FROM adf_loop WHERE seq = 12",
    silent=f"DELETE FROM adf_loop WHERE seq = 12; {_OFF}",
    fix="`adf-format audit verify` says of each such row what is known",
)
RULES = (NOWHERE,)

# A range is a bounding interval (AUD-007): what lies in none is surely in no snapshot.
_GAPS = """
WITH spans (low, high) AS (
    SELECT seq, seq FROM adf_loop WHERE typeof(seq) = 'integer' AND seq > 0
    UNION ALL
    SELECT max(start_seq, 1), end_seq FROM adf_audit
    WHERE (source = 'loop' OR source GLOB 'loop:*') AND typeof(start_seq) = 'integer' AND typeof(end_seq) = 'integer'
    UNION ALL
    SELECT ?1 + 1, ?1 + 1
), seen (low, before) AS (
    SELECT low, coalesce(max(high) OVER (ORDER BY low ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) FROM spans
)
SELECT before + 1, low - 1 FROM seen WHERE low > before + 1 AND low <= ?1 + 1 ORDER BY 1
"""
_UNRANGED = "SELECT 1 FROM adf_audit WHERE (source = 'loop' OR source GLOB 'loop:*') AND start_seq IS NULL LIMIT 1"


def run(context: Context) -> None:
    """Look for numbers that are nowhere."""
    mark = high_water_mark(context)
    needed = context.has("adf_loop", "seq") and context.has("adf_audit", "source", "start_seq", "end_seq")
    if not mark or not needed or not audit_policy(context.config)["loop"]:
        return
    connection = context.container.connection
    if connection.execute(_UNRANGED).fetchone():
        context.not_checked("rows that are nowhere", "a snapshot has no range, so anything may be in it")
        return
    more = rows = 0
    for number, (start, end) in enumerate(connection.execute(_GAPS, (mark,))):
        if number >= SHOWN:
            more, rows = more + 1, rows + end - start + 1
            continue
        what = f"S{start} is" if start == end else f"S{start} to S{end} ({end - start + 1:,} rows) are"
        context.report(NOWHERE, f"{what} neither live nor in a snapshot", table="adf_loop")
    if more:
        context.report(
            NOWHERE, f"{rows:,} rows in {more:,} further gaps are neither live nor in a snapshot", table="adf_loop"
        )
