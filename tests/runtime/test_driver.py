"""The conformance driver, spoken to as the suite does: one JSON object per line, requests in both directions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import adf_format.runtime.driver as module
from adf_format.runtime.driver import Driver

from .world import config_with

Script = Callable[["Suite"], Awaitable[None]]
CONFIG = config_with({"name": "a", "tools": ["loop_send"]}, on=["loop_compact", "loop_clear"])


class Suite:
    """The other end: requests of the driver are in `asked`, its notifications in `told`."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "agent.adf")
        self.lines = asyncio.StreamReader()
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.answers: dict[str, asyncio.Future[Any]] = {}
        self.driver = Driver(self.receive)
        self.number = 0

    def receive(self, line: bytes) -> None:
        """Take a line of the driver."""
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            (self.asked if "id" in message else self.told).append(message)
        else:
            self.answers[message["id"]].set_result(message)

    def begin(self, method: str, **params: Any) -> asyncio.Future[Any]:
        """Send a request."""
        self.number += 1
        identity = str(self.number)
        self.answers[identity] = asyncio.get_running_loop().create_future()
        line = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        self.lines.feed_data(json.dumps(line).encode() + b"\n")
        return self.answers[identity]

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        answer = await self.begin(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, **params: Any) -> int:
        """Send a request and return the code of its error."""
        return int((await self.begin(method, **params))["error"]["code"])

    async def next(self, method: str) -> dict[str, Any]:
        """Wait for a request of the driver."""
        for _ in range(500):
            for message in self.asked:
                if message["method"] == method:
                    self.asked.remove(message)
                    return message
            await asyncio.sleep(0.001)
        raise AssertionError(f"no {method}; {self.asked}")

    def answer(self, request: dict[str, Any], result: Any = None, error: Any = None) -> None:
        """Answer it."""
        line = {"jsonrpc": "2.0", "id": request["id"]}
        line |= {"error": error} if error else {"result": result}
        self.lines.feed_data(json.dumps(line).encode() + b"\n")

    async def model(self, text: str = "Done.", *calls: tuple[str, Any]) -> dict[str, Any]:
        """Answer the next model call."""
        request = await self.next("model/complete")
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
        blocks += [
            {"type": "tool_use", "id": f"t{request['id']}", "name": name, "input": given} for name, given in calls
        ]
        stop = "tool_use" if calls else "end_turn"
        self.answer(request, {"content": blocks, "stop_reason": stop, "usage": {"input": 10, "output": 1}})
        return request["params"]


def spoken(script: Script) -> Callable[[Path], None]:
    """Turn a dialogue into a test."""

    def test(tmp_path: Path) -> None:
        async def play() -> None:
            suite = Suite(tmp_path)
            serving = asyncio.ensure_future(suite.driver.peer.serve(suite.lines))
            protocol = {"min": 1, "max": 1}
            await suite.call("initialize", protocol=protocol, suite="test", workdir=str(tmp_path))
            await script(suite)
            await suite.call("shutdown")
            await serving

        asyncio.run(play())

    test.__name__, test.__doc__ = script.__name__, script.__doc__
    return test


async def started(suite: Suite, **config: Any) -> None:
    """Create and start an agent."""
    assert await suite.call("agent/create", path=suite.path, config=CONFIG | config) == {}
    assert await suite.call("agent/start", path=suite.path) == {"state": "active"}


@spoken
async def test_a_chat_from_beginning_to_end(suite: Suite) -> None:
    """Create, start, chat, tool call, idle, stop: nothing is left beside the file."""
    await started(suite)
    assert await suite.call("chat/send", text="hello") == {}
    assert await suite.call("agent/idle", timeout_ms=10) == {"idle": False}
    asked = await suite.model("", ("loop_list", {}))
    assert (asked["purpose"], asked["loop"], asked["model"]) == ("turn", "main", "m")
    assert {"name", "description", "input_schema"} == set(asked["tools"][0])
    assert "hello" in str(asked["messages"])
    await suite.model()
    assert await suite.call("agent/idle", timeout_ms=5000) == {"idle": True}
    assert await suite.call("agent/stop") == {}
    assert [path.name for path in Path(suite.path).parent.iterdir()] == ["agent.adf"]
    entries = (await suite.call("transcript/read", path=suite.path, loop="main"))["entries"]
    assert [entry["role"] for entry in entries] == ["user", "user", "assistant", "user", "assistant"]


@spoken
async def test_refusals_have_codes(suite: Suite) -> None:
    """A method that is not there, a loop that does not run, an existing path, no agent."""
    assert await suite.error("no/such") == -32601
    assert await suite.error("chat/send", text="x") == -32000
    await started(suite)
    assert await suite.error("chat/send", text="x", loop="nobody") == -32010
    assert await suite.error("agent/start", path=suite.path) == -32000
    assert await suite.error("agent/create", path=suite.path, config={}) == -32000
    assert await suite.error("initialize", protocol={"min": 2, "max": 3}, suite="s", workdir="w") == -32001


@spoken
async def test_failures_and_aborts_of_the_model(suite: Suite) -> None:
    """A transient error waits for the clock; a cleared loop cancels its call and ignores a late answer."""
    await started(suite)
    await suite.call("chat/send", text="hello")
    request = await suite.next("model/complete")
    suite.answer(request, error={"code": 1, "message": "busy", "data": {"transient": True, "message": "busy"}})
    assert (await suite.call("agent/idle", timeout_ms=5000))["idle"]
    now = (await suite.call("clock/advance", ms=15_000))["now"]
    assert now == 1767225600000 + 15_000
    request = await suite.next("model/complete")
    await suite.call("state/clear", what="loop")
    assert [told["params"]["id"] for told in suite.told if told["method"] == "model/cancel"] == [request["id"]]
    suite.answer(request, {"content": [], "stop_reason": "end_turn", "usage": {"input": 1, "output": 1}})
    assert (await suite.call("transcript/read", path=suite.path, loop="main"))["entries"] == []
    assert await suite.error("state/clear", what="nothing") == -32000


@spoken
async def test_the_configuration_by_owner_and_agent(suite: Suite) -> None:
    """The owner is not checked; the agent's tool asks for approval and keeps to locks."""
    await started(suite)
    assert await suite.call("config/update", path="loops.0.goal", value="New", actor="owner") == {"applied": True}
    assert await suite.call("config/update", path="description", remove=True, actor="owner") == {"applied": True}
    assert (await suite.call("config/update", path="a..b", value=1, actor="owner"))["applied"] is False
    pending = suite.begin("config/update", path="description", value="mine", actor="agent")
    request = await suite.next("owner/approve")
    assert request["params"]["tool"] == "sys_update_config"
    suite.answer(request, {"approved": True})
    assert (await pending)["result"] == {"applied": True}
    pending = suite.begin("config/update", path="description", value="no", actor="agent")
    suite.answer(await suite.next("owner/approve"), {"approved": False})
    assert (await pending)["result"]["applied"] is False


@spoken
async def test_messages_injections_and_the_owner(suite: Suite) -> None:
    """A message wakes by its trigger, an injection is judged, an outbound message is told."""
    await started(suite)
    payload = {"content": "from outside", "sent_at": "2026-01-01T00:00:00.000Z"}
    message = {"version": "1.0", "network": "devnet", "id": "x" * 20, "timestamp": "2026-01-01T00:00:00.000Z"}
    message |= {"from": "did:key:zA", "to": "did:key:zB", "reply_to": "http://localhost/x", "payload": payload}
    assert await suite.call("message/deliver", message=message) == {}
    await suite.model(
        "",
        ("ask", {"question": "why?"}),
    )
    suite.answer(await suite.next("owner/ask"), {"answer": "because"})
    asked = await suite.model("", ("msg_send", {"to": "did:key:zA", "content": "reply"}), ("say", {"content": "done"}))
    assert "because" in str(asked["messages"])
    await suite.model()
    assert (await suite.call("agent/idle", timeout_ms=5000))["idle"]
    assert "message/outbound" in [told["method"] for told in suite.told]
    inject = {"loop": "a", "content": "x", "origin": "forged"}
    assert await suite.call("code/loop_inject", **inject) == {"accepted": True}
    assert (await suite.call("code/loop_inject", loop="a", content=""))["accepted"] is False
    entries = (await suite.call("transcript/read", path=suite.path, loop="a"))["entries"]
    assert entries[0]["content_json"][0]["text"] == "[Context: loop_inject | loop_inject=v2 | origin=sys_code:a] x"


@spoken
async def test_files_are_read_judged_and_migrated(suite: Suite) -> None:
    """Snapshots and rows by their numbers; a damaged or missing one is an error."""
    await started(suite)
    await suite.call("chat/send", text="hello")
    await suite.model("", ("loop_compact", {"instructions": "x"}))
    assert (await suite.model("SUMMARY"))["purpose"] == "compaction"
    await suite.model()
    assert (await suite.call("agent/idle", timeout_ms=5000))["idle"]
    await suite.call("agent/stop")
    (first, *_) = (await suite.call("audit/read", path=suite.path, id=1))["entries"]
    assert first["seq"] == 1
    assert await suite.error("audit/read", path=suite.path, id=9) == -32000
    for seq, where in ((1, "audit"), (3, "loop"), (999, "missing")):
        assert (await suite.call("audit/resolve", path=suite.path, loop="main", seq=seq))["where"] == where
    verdict = await suite.call("file/validate", path=suite.path)
    assert verdict["valid"] is True
    Path(suite.path + ".txt").write_text("no database")
    verdict = await suite.call("file/validate", path=suite.path + ".txt")
    assert verdict["valid"] is False
    assert [finding["severity"] for finding in verdict["findings"]] == ["error"]
    assert await suite.call("file/migrate", path=suite.path) == {"from": 32, "to": 32, "backup": None}
    assert await suite.error("file/migrate", path=suite.path + "x") == -32000


@spoken
async def test_the_clock_starts_behind_the_file(suite: Suite) -> None:
    """Stopped and started, no row may be older than one before it."""
    await started(suite)
    await suite.call("clock/advance", ms=5_000)
    await suite.call("chat/send", text="hello")
    await suite.model()
    await suite.call("agent/idle", timeout_ms=5000)
    await suite.call("agent/stop")
    suite.driver.clock = module.VirtualClock()
    await suite.call("agent/start", path=suite.path)
    assert suite.driver.clock.now() == 1767225600000 + 5_000


def test_lines_that_are_no_messages_are_answered(tmp_path: Path) -> None:
    """An error of its own without an id; the dialogue goes on, notifications get no answer."""

    async def play() -> list[dict[str, Any]]:
        written: list[bytes] = []
        driver = Driver(written.append)
        lines = asyncio.StreamReader()
        lines.feed_data(b'not json\n[1]\n{"jsonrpc":"2.0","method":"no/such"}\n{"jsonrpc":"2.0","id":"x","result":1}\n')
        lines.feed_eof()
        await driver.peer.serve(lines)
        await asyncio.sleep(0)
        return [json.loads(line) for line in written]

    answers = asyncio.run(play())
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(None, -32700), (None, -32700)]


@pytest.mark.parametrize("end", ["shutdown", "eof"])
def test_the_driver_as_a_program(tmp_path: Path, end: str) -> None:
    """Started as a module it serves stdin and stdout, and ends with 0."""
    lines = [{"jsonrpc": "2.0", "id": "1", "method": "initialize",
              "params": {"protocol": {"min": 1, "max": 9}, "suite": "s", "workdir": str(tmp_path)}}]  # fmt: skip
    if end == "shutdown":
        lines.append({"jsonrpc": "2.0", "id": "2", "method": "shutdown", "params": {}})
    given = "".join(json.dumps(line) + "\n" for line in lines)
    command = [sys.executable, "-m", "adf_format.runtime.driver"]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout.splitlines()[0])
    assert first["result"]["protocol"] == 1
    assert "loops" in first["result"]["capabilities"]


def test_the_driver_is_short() -> None:
    """It is the example for others: fewer than 200 lines."""
    assert len(Path(module.__file__).read_text().splitlines()) < 200
