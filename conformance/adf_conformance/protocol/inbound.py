"""What a driver sends: sorted, checked, kept within bounds."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adf_conformance.protocol import messages
from adf_conformance.protocol.errors import NOT_SUPPORTED, ProtocolError
from adf_conformance.protocol.model import CANCELLED, OPEN, ModelCall

if TYPE_CHECKING:
    from adf_conformance.protocol.driver import Driver

MALFORMED_KEPT = 20
MALFORMED_SHOWN = 200  # bytes of a malformed line that are kept
OPEN_CALLS_LIMIT = 500
INVALID_PARAMS = -32602


@dataclass(frozen=True)
class Malformed:
    """A line of stdout that is no message. It is reported and does not end the run.

    :ivar line: its first bytes
    """

    line: bytes
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.line!r}"


@dataclass
class Owner:
    """How the suite plays the owner of the agent."""

    approves: bool = False
    says: str = "Yes."


class Inbound:
    """Everything that came from a driver besides answers to requests.

    :ivar model_calls: every model call of the life of the process, in order
    :ivar asked: questions and approvals that the owner got
    :ivar outbound: messages that the agent sent
    :ivar malformed: the first lines that are no messages; `malformed_count` counts all
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._fault: str | None = None
        self.model_calls: list[ModelCall] = []
        self.owner = Owner()
        self.asked: list[dict[str, Any]] = []
        self.outbound: list[dict[str, Any]] = []
        self.logs: deque[dict[str, Any]] = deque(maxlen=200)
        self.malformed: list[Malformed] = []
        self.malformed_count = 0

    def raise_fault(self) -> None:
        """Raise the first bad message, if there was one.

        :raises ProtocolError: there was
        """
        if self._fault is not None:
            raise ProtocolError(self._fault)

    def take(self, line: bytes, *, whole: bool) -> None:
        """Sort one line of stdout."""
        if not whole:
            self._malformed(line, "no newline at the end of the line: a message ends with one, flushed")
        elif line.strip():
            self._parse(line)

    def _parse(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError:
            return self._malformed(line, "not UTF-8")
        except (ValueError, RecursionError) as error:
            return self._malformed(line, f"not JSON ({error})"[:200])
        if problem := messages.envelope_problem(message):
            return self._malformed(line, f"no JSON-RPC message ({problem})"[:300])
        if "method" in message:
            self._called(message)
        elif problem := self._driver.answered(message):
            self._malformed(line, problem)
        return None

    def _malformed(self, line: bytes, reason: str) -> None:
        self.malformed_count += 1
        if len(self.malformed) < MALFORMED_KEPT:
            self.malformed.append(Malformed(line[:MALFORMED_SHOWN], reason))

    def _bad(self, text: str) -> None:
        self._fault = self._fault or text

    def _called(self, message: Mapping[str, Any]) -> None:
        method, request = message["method"], message.get("id")
        params = message.get("params", {})
        known = messages.REQUESTS_TO_SUITE if request is not None else messages.NOTIFICATIONS_TO_SUITE
        if method not in known:
            self._unknown(method, request)
        elif problem := messages.params_problem(method, params):
            self._bad(f"{method} of the driver: {problem}")
            if request is not None:
                self._refuse(request, INVALID_PARAMS, problem)
        else:
            getattr(self, "_on_" + method.replace("/", "_"))(request, params)

    def _unknown(self, method: str, request: str | None) -> None:
        if request is not None:
            self._bad(f"the driver called {method!r}, which the suite does not have as a request")
            self._refuse(request, NOT_SUPPORTED, f"no method {method}")

    def _refuse(self, request: str, code: int, text: str) -> None:
        self._driver.respond(request, {"error": {"code": code, "message": text}})

    def _on_model_complete(self, request: str, params: dict[str, Any]) -> None:
        if any(call.id == request and call.state == OPEN for call in self.model_calls[-OPEN_CALLS_LIMIT:]):
            return self._bad(f"two open requests of the driver have the id {request!r}")
        if sum(call.state == OPEN for call in self.model_calls[-OPEN_CALLS_LIMIT:]) >= OPEN_CALLS_LIMIT:
            return self._bad(f"more than {OPEN_CALLS_LIMIT} model calls are open at once")
        return self.model_calls.append(ModelCall(self._driver, request, len(self.model_calls), params))

    def _on_model_cancel(self, _: None, params: dict[str, Any]) -> None:
        for call in self.model_calls:
            if call.id == params["id"] and call.state == OPEN:
                call.state = CANCELLED

    def _on_owner_approve(self, request: str, params: dict[str, Any]) -> None:
        self.asked.append({"method": "owner/approve", **params})
        self._driver.respond(request, {"result": {"approved": self.owner.approves}})

    def _on_owner_ask(self, request: str, params: dict[str, Any]) -> None:
        self.asked.append({"method": "owner/ask", **params})
        self._driver.respond(request, {"result": {"answer": self.owner.says}})

    def _on_message_outbound(self, _: None, params: dict[str, Any]) -> None:
        self.outbound.append(params["message"])

    def _on_log(self, _: None, params: dict[str, Any]) -> None:
        self.logs.append(params)
