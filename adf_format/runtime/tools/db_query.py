"""`db_query`: read the agent's tables with SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime import sql
from adf_format.runtime.tools.inputs import answer, inputs, listed, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

MOST_ROWS = 1000
PARAMS = {"type": ["string", "number", "boolean", "null"]}


async def run(call: Call, host: Host) -> ToolResult:
    """Run one SELECT; rows beyond the limit are told of."""
    found = sql.query(host.store, call.input["sql"], call.input.get("params", ()), most=MOST_ROWS)
    more = {"more": f"only the first {MOST_ROWS} rows are shown; use LIMIT and OFFSET"} if found.more else {}
    return answer({"columns": list(found.columns), "rows": found.rows, **more})


TOOL = Tool(
    "db_query",
    "Run one SELECT over your tables `local_*`, and over adf_loop, adf_inbox, adf_outbox, adf_files, adf_timers,"
    " adf_tasks, adf_logs, adf_meta, adf_attestations and adf_audit, which holds what was archived. BLOBs come as"
    " `base64:…`.",
    inputs(
        "sql",
        sql=text("One SELECT statement; `?` for parameters.", least=1),
        params=listed("Values of the parameters, in order.", PARAMS, most=100),
    ),
    run,
)
