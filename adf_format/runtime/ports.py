"""What the runtime needs of the world: a clock, an owner, a listener. A model is `adf_format.models.Model`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


class Handle(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Make it not happen; nothing if it has happened."""
        ...


class Clock(Protocol):
    """Time in epoch milliseconds, real or virtual."""

    def now(self) -> int:
        """Return the time."""
        ...

    def schedule(self, at: int, action: Callable[[], Awaitable[None]]) -> Handle:
        """Run an action once it is `at` or later; a time that has passed is now."""
        ...

    async def sleep(self, ms: int) -> None:
        """Wait so long."""
        ...


class Owner(Protocol):
    """The human for whom the agent works."""

    async def approve(self, *, loop: str, tool: str, given: Mapping[str, Any], reason: str) -> bool:
        """Decide about one call that may not run unasked; `given` is its input."""
        ...

    async def ask(self, *, loop: str, question: str) -> str:
        """Answer a question."""
        ...

    async def say(self, *, loop: str, text: str) -> None:
        """Hear something."""
        ...


HappeningKind = Literal[
    "row", "turn_started", "turn_ended", "model_called", "tool_called", "tool_done", "compacted", "compaction_failed",
    "cleared", "context_injected", "log", "outbound", "state", "loop_torn_down", "retrying",
]  # fmt: skip


@dataclass(frozen=True)
class Happening:
    """Something to show: sinks draw it, nothing is decided by it.

    :ivar loop: the loop in which it happened
    """

    kind: HappeningKind
    loop: str
    data: Mapping[str, Any] = field(default_factory=dict)


Sink = Callable[[Happening], None]
EventType = Literal[
    "startup", "inbox", "outbox", "file_change", "chat", "timer", "tool_call", "task_create", "task_complete", "logs",
    "llm_call",
]  # fmt: skip


@dataclass(frozen=True)
class Event:
    """Something that triggers may wait for: `on_<type>` of the configuration.

    :ivar loop: the loop that caused it, `main` for what comes from outside
    :ivar data: what filters look at and the woken loop is told; keys by type, see docs/runtime.md
    """

    type: EventType
    data: Mapping[str, Any] = field(default_factory=dict)
    loop: str = "main"
