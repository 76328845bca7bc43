"""An open call of the language model: the suite plays the model, and takes its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adf_conformance.protocol.errors import HarnessError
from adf_conformance.protocol.messages import model_error_problem, result_problem

if TYPE_CHECKING:
    from adf_conformance.protocol.driver import Driver

OPEN, ANSWERED, CANCELLED, LOST = "open", "answered", "cancelled", "lost"


@dataclass(eq=False)
class ModelCall:
    """One `model/complete` of the driver.

    :ivar id: id of the request
    :ivar number: how many calls came before it in the life of this process
    :ivar state: `open`, `answered`, `cancelled` by the runtime, or `lost` with the process
    """

    driver: Driver = field(repr=False)
    id: str
    number: int
    params: dict[str, Any] = field(repr=False)
    state: str = OPEN

    @property
    def loop(self) -> str:
        """Loop whose turn it is."""
        return str(self.params["loop"])

    @property
    def purpose(self) -> str:
        """`turn`, `compaction` or `invoke`."""
        return str(self.params["purpose"])

    def answer(
        self, content: list[dict[str, Any]], stop_reason: str | None = None, usage: dict[str, int] | None = None
    ) -> None:
        """Complete the call. An answer to a cancelled call is sent too: the runtime has to ignore it.

        :param stop_reason: by default `tool_use` if a block calls a tool, else `end_turn`
        """
        calls_tool = any(block.get("type") == "tool_use" for block in content)
        reason = stop_reason or ("tool_use" if calls_tool else "end_turn")
        result = {"content": content, "stop_reason": reason, "usage": usage or {"input": 100, "output": 10}}
        if problem := result_problem("model/complete", result):
            raise HarnessError(f"completion: {problem}")
        self._send({"result": result})

    def fail(self, message: str, *, transient: bool = False) -> None:
        """Answer with an error of the provider."""
        data = {"transient": transient, "message": message}
        if problem := model_error_problem(data):
            raise HarnessError(f"error of the model: {problem}")
        self._send({"error": {"code": -32000, "message": message, "data": data}})

    def _send(self, answer: dict[str, Any]) -> None:
        if self.state == ANSWERED:
            raise HarnessError("a model call is answered twice")
        if self.state == OPEN:
            self.state = ANSWERED
        self.driver.respond(self.id, answer)
