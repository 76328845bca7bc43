"""JSON-RPC 2.0, one JSON object per line, requests in both directions."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

PARSE_ERROR = -32700
NO_METHOD = -32601
FAILED = -32000
LIMIT = 1 << 30  # bytes of one line
Handler = Callable[[str, dict[str, Any]], Awaitable[Any]]


class RpcError(Exception):
    """An error that is sent, or was received."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Peer:
    """One end of a connection.

    :param handler: answers requests; several may be open at once
    :param write: takes one line
    """

    def __init__(self, handler: Handler, write: Callable[[bytes], None]) -> None:
        self._handler, self._write = handler, write
        self._ids = itertools.count(1)
        self._open: dict[str, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, lines: asyncio.StreamReader) -> None:
        """Take messages until the stream ends or somebody asked for `shutdown`."""
        while line := await lines.readline():
            method = self._take(line)
            if method == "shutdown":
                await asyncio.wait(self._tasks)
                return

    async def call(self, method: str, params: Mapping[str, Any], *, cancel: str | None = None) -> Any:
        """Ask the other end.

        :param cancel: method of the notification that is sent if nobody waits for the answer any more
        :raises RpcError: the answer is an error
        """
        identity = f"d{next(self._ids)}"
        future = self._open[identity] = asyncio.get_running_loop().create_future()
        self._send({"id": identity, "method": method, "params": params})
        try:
            return await future
        except asyncio.CancelledError:
            if cancel is not None:
                self.notify(cancel, {"id": identity})
            raise
        finally:
            del self._open[identity]

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the other end."""
        self._send({"method": method, "params": params})

    def _take(self, line: bytes) -> str | None:
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise ValueError("a message is an object")
        except ValueError as error:
            self._send({"id": None, "error": {"code": PARSE_ERROR, "message": str(error)}})
            return None
        method = message.get("method")
        if isinstance(method, str):
            task = asyncio.get_running_loop().create_task(
                self._answer(message.get("id"), method, message.get("params"))
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return method
        future = self._open.get(str(message.get("id")))
        if future is not None and not future.done():
            _settle(future, message)
        return None

    async def _answer(self, identity: Any, method: str, params: Any) -> None:
        try:
            result = await self._handler(method, params if isinstance(params, dict) else {})
            answer: dict[str, Any] = {"result": result}
        except RpcError as error:
            told = {"code": error.code, "message": error.message}
            answer = {"error": told if error.data is None else told | {"data": error.data}}
        except Exception as error:  # noqa: BLE001 - the other end gets an answer, whatever happened
            answer = {"error": {"code": FAILED, "message": f"{type(error).__name__}: {error}"}}
        if identity is not None:
            self._send({"id": identity, **answer})

    def _send(self, message: dict[str, Any]) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _settle(future: asyncio.Future[Any], message: Mapping[str, Any]) -> None:
    error = message.get("error")
    if error is None:
        future.set_result(message.get("result"))
    else:
        future.set_exception(RpcError(error.get("code", FAILED), str(error.get("message", "")), error.get("data")))


async def stdin() -> asyncio.StreamReader:
    """Return the standard input as lines."""
    reader = asyncio.StreamReader(limit=LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def to_stdout(line: bytes) -> None:
    """Write a line to the standard output."""
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
