"""Triggers of a running agent: events come in, loops are woken at once or when a window ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from adf_format.loops import MAIN
from adf_format.runtime.core.dispatch import Dispatch as Turn
from adf_format.runtime.triggers import wording
from adf_format.runtime.triggers.coalescing import Coalescer, Dispatch
from adf_format.runtime.triggers.matching import allowed, woken
from adf_format.runtime.triggers.model import Event, Kind, Target, targets

if TYPE_CHECKING:
    from adf_format.runtime import ports
    from adf_format.runtime.host import Host

SKIPPED = "lambda_skipped"


class Triggers:
    """An attachment of the agent (docs/runtime.md). Windows that are open when the agent stops are lost."""

    def __init__(self) -> None:
        self._host: Host | None = None
        self._windows = Coalescer()
        self._handle: ports.Handle | None = None
        self._skipped: set[tuple[str, str]] = set()

    def attach(self, host: Host) -> None:
        """Get to know the agent."""
        self._host = host

    def start(self) -> None:
        """The agent has started: tasks that a prompt or a turn of another session left open are ended."""
        self._known.store.tasks.sweep()

    def stop(self) -> None:
        """The agent stops."""
        self._windows.forget()
        self._plan()
        self._host = None

    def config_changed(self) -> None:
        """What is held stays held; where its loop is gone, the dispatch is dropped and logged."""

    def dropped(self, loop: str, dispatch: Turn, reason: str) -> None:
        """A turn that was accepted will not run: nothing to take back here."""

    def is_quiet(self) -> bool:
        """Whether no window that has come due is open."""
        due = self._windows.next_due()
        return self._host is None or due is None or due > self._host.clock.now()

    def handle(self, event: ports.Event) -> None:
        """Wake whoever waits for an event."""
        if self._host is None:
            return
        told = told_of(event)
        if told is None:
            return
        if told.whole and not any(target.scope == "agent" for target in targets(self._host.config, told.kind)):
            self._host.note(MAIN, told.text)  # the owner is heard by somebody (LOOP-246)
        if allowed(self._host.state, told.kind):
            for target in woken(self._host.config, told):
                self._offer(target, told)
            self._plan()

    @property
    def _known(self) -> Host:
        if self._host is None:
            raise RuntimeError("triggers are not attached to an agent")
        return self._host

    def _offer(self, target: Target, event: Event) -> None:
        if target.scope == "system":
            self._skip(target, event)
        elif event.kind != "on_chat" or (event.loop == MAIN and target.loop != MAIN):
            # the addressed loop has heard it already, and what is said to an inner loop is said to it alone
            ready = self._windows.offer(target, event, self._known.clock.now())
            if ready is not None:
                self._wake(ready)

    def _wake(self, dispatch: Dispatch) -> None:
        kind = dispatch.target.kind.removeprefix("on_")
        tokens = tuple(event.token for event in dispatch.events if event.token is not None)
        turn = Turn(kind, wording.text_of(dispatch), token=tokens)
        self._known.wake(dispatch.target.loop or MAIN, turn)

    def _skip(self, target: Target, event: Event) -> None:
        """Say once that code was not run: this runtime has no sandbox for it."""
        code = target.lambda_ or target.command or event.facts.get("lambda")
        if isinstance(code, str) and event.kind != "on_logs" and (event.kind, code) not in self._skipped:
            self._skipped.add((event.kind, code))
            message = f"{event.kind}: {code[:200]} was not run: this runtime runs no code"
            self._known.log("info", SKIPPED, message, target=code[:200])

    def _plan(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        due = self._windows.next_due()
        if due is not None:
            self._handle = self._known.clock.schedule(due, self._due)

    async def _due(self) -> None:
        if self._host is None:
            return
        for dispatch in self._windows.due(self._host.clock.now()):
            if allowed(self._host.state, dispatch.target.kind):
                self._wake(dispatch)
        self._plan()


def told_of(event: ports.Event) -> Event | None:
    """Return an event as targets see it; None for one that no trigger of this runtime waits for."""
    data = event.data
    kind: Any = f"on_{event.type}"
    if kind not in _TEXTS or (kind == "on_timer" and "fired" not in data):
        return None
    loop = data.get("stamp") if kind == "on_timer" else event.loop
    whole = data.get("whole") is True
    text = str(data["content"]) if whole else _TEXTS[kind](event.loop, data)
    return Event(kind, text, data, loop, whole, data.get("token"))


_TEXTS: dict[Kind, Callable[[str, Mapping[str, Any]], str]] = {
    "on_startup": lambda _loop, _data: "the agent has started",
    "on_inbox": lambda _loop, data: wording.received(data),
    "on_outbox": lambda _loop, data: wording.sent(data),
    "on_file_change": lambda _loop, data: wording.file_change(str(data["path"]), str(data["change"])),
    "on_chat": lambda loop, data: f"the owner to {loop}: {data.get('text', '')}",
    "on_timer": lambda _loop, data: wording.timer(int(data["fired"]), data.get("payload")),
    "on_tool_call": lambda loop, data: wording.tool_call(loop, str(data["tool"]), failed=data.get("failed") is True),
    "on_logs": lambda _loop, data: wording.log(data["level"], data.get("origin"), data.get("event"), data["message"]),
}
