"""A local HTTP server that speaks the chat-completions protocol, badly where a test wants it to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One HTTP response; a `status` of 0 closes the connection, `hold` waits until the server is closed."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: bool = False

    def payload(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Seen:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """Answers requests in order and remembers them; the last answer repeats."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers, self.seen, self.released = answers, [], threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                server.seen.append(Seen(self.path, dict(self.headers.items()), json.loads(body)))
                answer = server.answers[min(len(server.seen), len(server.answers)) - 1]
                if answer.hold:
                    server.released.wait(60)
                    return
                if answer.status:
                    self.send_response(answer.status)
                    for name, value in {"content-type": "application/json", **answer.headers}.items():
                        self.send_header(name, value)
                    payload = answer.payload()
                    self.send_header("content-length", str(len(payload)))
                    self.end_headers()
                    self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    @contextlib.contextmanager
    def running(self) -> Iterator[ModelServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()


def chat(message: dict[str, Any], finish: str = "stop", usage: Any = None) -> Answer:
    """A response with one choice."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18} if usage is None else usage
    return Answer({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": counted})


def call(name: str, arguments: str, identity: str = "c1") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
