"""Timers of a running agent: what comes due is written down and told to the triggers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime.ports import Event
from adf_format.runtime.timers.model import Firing, Held, Timer
from adf_format.runtime.triggers.matching import allowed, timer_loop
from adf_format.runtime.triggers.model import targets

if TYPE_CHECKING:
    from adf_format.runtime.core.dispatch import Dispatch
    from adf_format.runtime.host import Host
    from adf_format.runtime.ports import Handle


class Timers:
    """An attachment of the agent; it stands behind `Triggers`, which wakes the loops.

    A firing is written before anybody is woken: after a crash in between it is lost rather than made twice.
    """

    def __init__(self) -> None:
        self._host: Host | None = None
        self._held = Held()
        self._handle: Handle | None = None
        self._looking = False

    def attach(self, host: Host) -> None:
        """Get to know the agent."""
        self._host = host

    def start(self) -> None:
        """The agent has started: what was missed fires once, now."""
        self._look()

    def stop(self) -> None:
        """The agent stops."""
        self._cancel()
        self._host = None

    def config_changed(self) -> None:
        """Loops may have come back for which timers wait, or the agent sleeps no more."""
        self._look()

    def handle(self, event: Event) -> None:
        """A timer was set or deleted: the next one to come due may be another."""
        if event.type == "timer" and "fired" not in event.data:
            self._plan()

    def dropped(self, loop: str, dispatch: Dispatch, reason: str) -> None:  # noqa: ARG002
        """A turn that timers had started will not run: those that fire once may do so later (LOOP-242)."""
        for timer in dispatch.token or ():
            if self._host is not None and isinstance(timer, Timer) and timer.is_once:
                self._host.store.timers.update(timer)
                self._held.hold(timer)

    def is_quiet(self) -> bool:
        """Whether nothing is open: what comes due is dispatched at once."""
        return True

    def _look(self) -> None:
        """Fire what has come due. Firing may change the configuration, which asks to look again: once is enough."""
        if self._host is None or self._looking:
            return
        self._looking = True
        try:
            if allowed(self._host.state, "on_timer"):
                now = self._host.clock.now()
                waiting = self._host.store.timers.waiting()
                for firing in list(self._held.due(waiting, now, self._obstacle)):
                    self._fire(self._host, firing)
        finally:
            self._looking = False
        self._plan()

    def _fire(self, host: Host, firing: Firing) -> None:
        timer = firing.before
        if firing.after is not timer:
            host.store.timers.update(firing.after)
        if firing.dropped is not None:
            message = f"timer {timer.id} was dropped: {firing.dropped}"
            host.log("warn", "loop_dispatch_dropped", message, target=timer_loop(host.config, timer.loop))
        scope = timer.scope if firing.dropped is None else tuple(part for part in timer.scope if part == "system")
        data = {"fired": timer.id, "payload": timer.payload, "scope": scope, "stamp": timer.loop, "token": timer}
        host.emit(Event("timer", {**data, "lambda": timer.lambda_}))

    def _obstacle(self, timer: Timer) -> str | None:
        """Return why the loop of a timer cannot be woken; None also if nothing lets the timer through to a loop."""
        host = self._host
        if host is None or "agent" not in timer.scope:
            return None
        if not any(target.scope == "agent" for target in targets(host.config, "on_timer")):
            return None
        return host.obstacle(timer_loop(host.config, timer.loop))

    def _plan(self) -> None:
        self._cancel()
        host = self._host
        if host is None or not allowed(host.state, "on_timer"):
            return
        due = self._held.next_due(host.store.timers.waiting())
        if due is not None:
            self._handle = host.clock.schedule(due, self._due)

    async def _due(self) -> None:
        self._look()

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
