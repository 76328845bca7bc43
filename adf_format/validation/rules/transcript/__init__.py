"""6xx: transcripts, looked at during the one scan of `adf_loop`."""

from adf_format.validation.context import Depth, Pass, Visit
from adf_format.validation.rules.transcript import loops, messages, sequence, times, tools

PASSES: tuple[Pass, ...] = (
    Pass("counter of adf_loop", (sequence.BEHIND,), sequence.check, ("adf_loop",), Depth.QUICK),
)
VISITS: tuple[Visit, ...] = (
    Visit("tool calls", tools.RULES, "adf_loop", tools.ToolCalls, ("seq", "role", "content_json")),
    Visit("messages", messages.RULES, "adf_loop", messages.Messages, ("role", "content_json")),
    Visit("loops of rows", loops.RULES, "adf_loop", loops.Loops, ("loop",)),
    Visit("times of rows", times.RULES, "adf_loop", times.Times, ("created_at",), Depth.DEEP),
)
