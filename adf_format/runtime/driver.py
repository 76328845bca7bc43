"""The conformance driver of this runtime: `python -m adf_format.runtime.driver`. Also the example for others.

The protocol is in docs/conformance.md. Whatever the suite says becomes one call of the runtime; whenever the runtime
needs a model or its owner, it asks the suite.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import adf_format
from adf_format import creation
from adf_format.errors import AdfError
from adf_format.loops import MAIN, Refused
from adf_format.models import Completion, ModelError, Usage
from adf_format.runtime.agent import Agent
from adf_format.runtime.attachments import attachments
from adf_format.runtime.clock import VirtualClock
from adf_format.runtime.driver_files import FILE_METHODS, Method, Params
from adf_format.runtime.jsonrpc import FAILED, NO_METHOD, Peer, RpcError, stdin, to_stdout
from adf_format.runtime.messages.receive import receive
from adf_format.runtime.ports import Happening
from adf_format.runtime.resetting import reset
from adf_format.runtime.settings import paths
from adf_format.runtime.store.newest import newest_time
from adf_format.runtime.tools import checks
from adf_format.runtime.tools.protocol import Call
from adf_format.schemas import LATEST, OLDEST

PROTOCOL = 1
NO_PROTOCOL, NO_SUCH_LOOP = -32001, -32010
PROVIDER = "suite"
CAPABILITIES = ["reader", "validator", "migrator", "core", "loops", "memory", "clock", "loop_inject"]


class Suite:
    """The suite as model and as owner."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def complete(self, **request: Any) -> Completion:
        """Ask the suite for a completion; an abort is told."""
        params = {**request, "model": request["model"].model_id}
        try:
            answer = await self._peer.call("model/complete", params, cancel="model/cancel")
        except RpcError as error:
            data = error.data if isinstance(error.data, dict) else {}
            transient = data.get("transient") is True
            raise ModelError(str(data.get("message", error.message)), transient=transient) from error
        usage = Usage(answer["usage"]["input"], answer["usage"]["output"])
        return Completion(answer["content"], answer["stop_reason"], usage)

    async def approve(self, *, loop: str, tool: str, given: Mapping[str, Any], reason: str) -> bool:
        """Ask whether a call may run."""
        params = {"loop": loop, "tool": tool, "input": given, "reason": reason}
        return (await self._peer.call("owner/approve", params))["approved"] is True

    async def ask(self, *, loop: str, question: str) -> str:
        """Ask a question."""
        return str((await self._peer.call("owner/ask", {"loop": loop, "question": question}))["answer"])

    async def say(self, *, loop: str, text: str) -> None:
        """Tell something."""
        self._peer.notify("log", {"level": "info", "message": f"{loop}: {text}"})


class Driver:
    """Answers the suite."""

    def __init__(self, write: Callable[[bytes], None] = to_stdout) -> None:
        self.peer = Peer(self.handle, write)
        self.clock = VirtualClock()
        self._agent: Agent | None = None
        own = (name for name in dir(self) if name.startswith("on_"))
        self._methods: dict[str, Method] = {name[3:].replace("_", "/", 1): getattr(self, name) for name in own}
        self._methods |= FILE_METHODS

    @property
    def agent(self) -> Agent:
        """The agent that runs."""
        if self._agent is None:
            raise RpcError(FAILED, "no agent is running")
        return self._agent

    async def handle(self, method: str, params: Params) -> Any:
        """Answer one request."""
        if method not in self._methods:
            raise RpcError(NO_METHOD, f"no method {method}")
        try:
            return await self._methods[method](params)
        except (AdfError, Refused, paths.PathError) as error:
            raise RpcError(FAILED, str(error)) from error

    async def on_initialize(self, params: Params) -> Params:
        """Agree on a protocol."""
        if not params["protocol"]["min"] <= PROTOCOL <= params["protocol"]["max"]:
            raise RpcError(NO_PROTOCOL, f"this driver speaks protocol {PROTOCOL}")
        me = {"name": "adf-format", "version": adf_format.__version__, "language": "python"}
        return {"protocol": PROTOCOL, **me, "storage": {"min": OLDEST, "max": LATEST}, "capabilities": CAPABILITIES}

    async def on_shutdown(self, _: Params) -> Params:
        """Say goodbye."""
        return await self.on_agent_stop({})

    async def on_agent_create(self, params: Params) -> Params:
        """Make a new file and leave it closed."""
        path = Path(params["path"])
        now = datetime.fromtimestamp(self.clock.now() / 1000, UTC)
        agent = creation.plan(name=params["config"].get("name", path.stem), config=params["config"], now=now)
        agent.rows["adf_meta"].append({"key": "adf_loop_tools_backfilled", "value": "1", "protection": "none"})
        creation.write(path, agent)
        return {}

    async def on_agent_start(self, params: Params) -> Params:
        """Open a file and start its agent."""
        if self._agent is not None:
            raise RpcError(FAILED, "an agent is running already")
        self.clock.at_least(newest_time(params["path"]))
        suite = Suite(self.peer)
        ports: Params = {"model": suite, "owner": suite, "clock": self.clock, "attachments": attachments()}
        self._agent = Agent(params["path"], can_build=lambda provider: provider == PROVIDER, sink=self._show, **ports)
        return {"state": await self._agent.start()}

    async def on_agent_stop(self, _: Params) -> Params:
        """Stop cleanly."""
        agent, self._agent = self._agent, None
        if agent is not None:
            await agent.stop()
        return {}

    async def on_agent_idle(self, params: Params) -> Params:
        """Wait until nothing runs."""
        return {"idle": await self.agent.idle(params["timeout_ms"] / 1000)}

    async def on_chat_send(self, params: Params) -> Params:
        """The owner speaks."""
        try:
            self.agent.chat(params["text"], params.get("loop", MAIN))
        except Refused as refusal:
            raise RpcError(NO_SUCH_LOOP, str(refusal)) from refusal
        return {}

    async def on_message_deliver(self, params: Params) -> Params:
        """A message comes in."""
        message = params["message"]
        owner = (message.get("meta") or {}).get("owner") is True
        await receive(self.agent, message, from_owner=owner)
        return {}

    async def on_config_update(self, params: Params) -> Params:
        """Change the configuration, as the owner or as the tool of the agent."""
        path = params["path"]
        if params["actor"] == "agent":
            given: Params = {name: params[name] for name in ("path", "value", "remove") if name in params}
            result = await checks.run(Call("driver", "sys_update_config", given, MAIN), self.agent)
            return {"applied": False, "error": result.content} if result.is_error else {"applied": True}
        try:
            change = paths.remove if params.get("remove") else partial(paths.put, value=params.get("value"))
            await self.agent.edit_config(lambda config: change(config, path), by_owner=True)
        except (paths.PathError, AdfError) as error:
            return {"applied": False, "error": str(error)}
        return {"applied": True}

    async def on_state_clear(self, params: Params) -> Params:
        """Clear a part of the state."""
        await reset(self.agent, params["what"], params.get("loop", MAIN))
        return {}

    async def on_code_loop_inject(self, params: Params) -> Params:
        """Code of a loop injects context."""
        loop, content = params["loop"], params.get("content")
        options = {name: params.get(name) for name in ("category", "key", "role")}
        problem = self.agent.inject(loop, content, origin=f"sys_code:{loop}", **options)
        return {"accepted": True} if problem is None else {"accepted": False, "error": problem}

    async def on_clock_advance(self, params: Params) -> Params:
        """Move time."""
        return {"now": await self.clock.advance(params["ms"])}

    def _show(self, happening: Happening) -> None:
        if happening.kind == "outbound":
            self.peer.notify("message/outbound", {"message": happening.data["message"]})


async def main() -> None:
    """Serve the suite until it says goodbye."""
    driver = Driver()
    await driver.peer.serve(await stdin())
    await driver.handle("agent/stop", {})


if __name__ == "__main__":
    asyncio.run(main())
