"""The client side of the protocol: call the driver, serve its calls, hold its model calls open."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adf_conformance.protocol import messages
from adf_conformance.protocol.errors import DriverDied, HarnessError, NoAnswer, ProtocolError, Refused
from adf_conformance.protocol.inbound import Inbound
from adf_conformance.protocol.model import LOST, OPEN, ModelCall
from adf_conformance.protocol.process import DriverProcess

ANSWER_WITHIN = 30.0  # seconds for one request
START_WITHIN = 30.0  # seconds for the first answer
END_WITHIN = 5.0  # seconds between the answer to `shutdown` and the end of the process
SUITE = "adf-conformance"


@dataclass(frozen=True)
class Hello:
    """What the driver said about itself.

    :ivar storage: oldest and newest storage version
    """

    name: str
    version: str
    language: str
    storage: tuple[int, int]
    capabilities: frozenset[str]

    @classmethod
    def parse(cls, result: Mapping[str, Any]) -> Hello:
        """Read the answer to `initialize`."""
        storage = (result["storage"]["min"], result["storage"]["max"])
        told = (result["name"], result["version"], result["language"])
        return cls(*told, storage, frozenset(result["capabilities"]))


@dataclass(eq=False)
class Call:
    """A request that was sent and may not be answered yet."""

    id: str
    method: str
    answer: dict[str, Any] | None = field(default=None, repr=False)


class Driver:
    """A driver process, from the side of the suite. Usable from one thread at a time.

    :ivar inbound: what it sent on its own account: model calls, questions, messages, lines that are no messages
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, answer_within: float = ANSWER_WITHIN
    ) -> None:
        self.command = list(command)
        self.answer_within = answer_within
        self.changed = threading.Condition()
        self.inbound = Inbound(self)
        self.hello: Hello | None = None
        self._calls: dict[str, Call] = {}
        self._last_id = 0
        self._ended: int | None = None
        self.sent: deque[str] = deque(maxlen=50)
        self._process = DriverProcess(command, self._line, self._end, env)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.kill()

    # --- requests of the suite

    def initialize(self, workdir: Path) -> Hello:
        """Shake hands.

        :raises ProtocolError: the driver chose a protocol that was not offered
        """
        offer = {"min": messages.PROTOCOL, "max": messages.PROTOCOL}
        params = {"protocol": offer, "suite": SUITE, "workdir": str(workdir)}
        result = self.call("initialize", params, START_WITHIN)
        if result["protocol"] != messages.PROTOCOL:
            raise ProtocolError(f"the driver chose protocol {result['protocol']}, offered was {messages.PROTOCOL}")
        self.hello = Hello.parse(result)
        return self.hello

    def begin(self, method: str, params: Mapping[str, Any] | None = None, *, unchecked: bool = False) -> Call:
        """Send a request and do not wait.

        :param unchecked: send also what is no request of the protocol, to see what the driver makes of it
        :raises HarnessError: the request breaks its own schema
        """
        params = dict(params or {})
        if not unchecked and method not in messages.TO_DRIVER:
            raise HarnessError(f"no method {method!r} of a driver")
        if not unchecked and (problem := messages.params_problem(method, params)):
            raise HarnessError(f"{method}: {problem}")
        self._last_id += 1
        call = Call(str(self._last_id), method)
        self._calls[call.id] = call
        self.sent.append(method)
        self._write({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params})
        return call

    def finish(self, call: Call, timeout: float | None = None) -> dict[str, Any]:
        """Wait for the answer to a request.

        :raises Refused: the driver answered with an error
        :raises DriverFault: no answer in time, a bad answer, or the driver is gone
        """
        seconds = timeout or self.answer_within
        if not self.wait(lambda: call.answer is not None, seconds, call.method):
            raise NoAnswer(call.method, seconds)
        assert call.answer is not None  # noqa: S101 - waited for
        if "error" in call.answer:
            error = call.answer["error"]
            raise Refused(call.method, error["code"], error["message"])
        result = call.answer["result"]
        if call.method in messages.TO_DRIVER and (problem := messages.result_problem(call.method, result)):
            raise ProtocolError(f"answer to {call.method}: {problem}")
        answer: dict[str, Any] = result
        return answer

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> dict[str, Any]:
        """Send a request and wait for its answer; see `begin` and `finish`."""
        return self.finish(self.begin(method, params), timeout)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification; the protocol has none for drivers, so this only probes them."""
        self._write({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    # --- waiting

    def wait(self, ready: Callable[[], bool], seconds: float, waiting_for: str) -> bool:
        """Wait until something is so; return False when time is up.

        :raises DriverDied: the process ended before it was so
        :raises ProtocolError: a bad message came meanwhile
        """
        deadline = time.monotonic() + seconds
        with self.changed:
            while not ready():
                self.inbound.raise_fault()
                if self._ended is not None:
                    raise DriverDied(self._ended, waiting_for)
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(left)
        return True

    def await_model(
        self, seconds: float | None = None, *, loop: str | None = None, purpose: str | None = None
    ) -> ModelCall:
        """Wait for an open model call, the oldest that fits.

        :raises NoAnswer: none came in time
        """
        seconds = seconds or self.answer_within
        wanted = f"a model call{f' of loop {loop}' if loop else ''}{f' for {purpose}' if purpose else ''}"
        if not self.wait(lambda: self.open_call(loop, purpose) is not None, seconds, wanted):
            raise NoAnswer(wanted, seconds)
        found = self.open_call(loop, purpose)
        assert found is not None  # noqa: S101 - waited for
        return found

    def open_call(self, loop: str | None = None, purpose: str | None = None) -> ModelCall | None:
        """Return the oldest open model call that fits, None if there is none."""
        fits = (call for call in self.open_calls if loop in {None, call.loop} and purpose in {None, call.purpose})
        return next(fits, None)

    @property
    def open_calls(self) -> list[ModelCall]:
        """Model calls that wait for the suite, oldest first."""
        return [call for call in list(self.inbound.model_calls) if call.state == OPEN]

    # --- the end

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._ended is None and self._process.status is None

    @property
    def pid(self) -> int:
        """Process id of the driver."""
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        return self._process.stderr_tail

    def close(self) -> int | None:
        """Ask it to end; return its exit code, None if it did not end by itself and was killed."""
        try:
            self.call("shutdown")
            ended = self._process.wait(END_WITHIN)
        finally:
            status = self._process.status
            self.kill()
        return status if ended else None

    def kill(self) -> None:
        """End the process and all its descendants at once, as a crash would."""
        self._process.kill()

    # --- called in the thread of the pipes

    def respond(self, request: str, answer: Mapping[str, Any]) -> None:
        """Answer a request of the driver."""
        self._write({"jsonrpc": "2.0", "id": request, **answer})

    def answered(self, message: Mapping[str, Any]) -> str | None:
        """Take a response; return what is wrong with it, None if nothing is."""
        call = self._calls.pop(str(message["id"]), None) if message["id"] is not None else None
        if call is None:
            return f"a response to a request that was not made (id {message['id']!r})"
        call.answer = dict(message)
        return None

    def _write(self, message: Mapping[str, Any]) -> None:
        self._process.write(json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode())

    def _line(self, line: bytes, whole: bool) -> None:
        with self.changed:
            self.inbound.take(line, whole=whole)
            self.changed.notify_all()

    def _end(self, status: int) -> None:
        with self.changed:
            self._ended = status
            for call in self.inbound.model_calls:
                if call.state == OPEN:
                    call.state = LOST
            self.changed.notify_all()
