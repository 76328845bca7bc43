"""`sys_set_state`: end the turn in a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.loops import MAIN
from adf_format.runtime.settings.guard import STATES
from adf_format.runtime.tools.inputs import choice, inputs
from adf_format.runtime.tools.protocol import Call, EndTurn, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


async def run(call: Call, host: Host) -> ToolResult:  # noqa: ARG001
    """The turn ends once the results of this batch are recorded; of `main` the state is the agent's (LOOP-214)."""
    state = call.input["state"]
    whose = "the agent is" if call.loop == MAIN else f"the loop {call.loop} is"
    return ToolResult(f"{whose} {state} from the end of this turn on", effect=EndTurn(state))


TOOL = Tool(
    "sys_set_state",
    "End this turn. `idle`: wait for what comes; `active`: the same, and awake; `hibernate`: only timers wake you;"
    " `off`: nothing does but the owner.",
    inputs("state", state=choice("The state to be in.", *STATES)),
    run,
)
