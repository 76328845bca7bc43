"""`db_execute`: change the agent's own tables with SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime import sql
from adf_format.runtime.sql.authority import protections
from adf_format.runtime.tools.db_query import MOST_ROWS, PARAMS
from adf_format.runtime.tools.inputs import answer, inputs, listed, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:
    """Run one statement, as a whole or not at all."""
    levels = protections(host.config)
    given = call.input.get("params", ())
    found = sql.execute(host.store, call.input["sql"], given, protections=levels, most=MOST_ROWS)
    rows = {"columns": list(found.columns), "rows": found.rows} if found.columns else {}
    return answer({"changes": found.changes, **rows})


TOOL = Tool(
    "db_execute",
    "Run one statement that makes, changes, fills or drops tables of your own: their names begin with `local_`.",
    inputs(
        "sql",
        sql=text("One statement; `?` for parameters.", least=1),
        params=listed("Values of the parameters, in order.", PARAMS, most=100),
    ),
    run,
)
