"""What a tool, a trigger or a timer may ask of the agent that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from adf_format.runtime.core.delivery import Delivery
from adf_format.runtime.core.dispatch import Dispatch
from adf_format.runtime.ports import Clock, Event, Happening, Owner

if TYPE_CHECKING:
    from adf_format.models import Model
    from adf_format.runtime.store import Row, Store

Config = dict[str, Any]


@dataclass(frozen=True)
class Created:
    """A loop that was made (LOOP-196, LOOP-200).

    :ivar loop: its declaration
    :ivar tools: what it really has
    :ivar excluded: what it gets once the owner enables it
    :ivar kickoff: what became of the first message; None if none was sent
    """

    loop: Config
    tools: tuple[str, ...]
    excluded: tuple[str, ...]
    kickoff: Delivery | None = None


@dataclass(frozen=True)
class Deleted:
    """A loop that was removed (LOOP-113)."""

    archived: int
    interrupted: bool


class Host(Protocol):
    """The running agent. Texts of `Refused` (adf_format.loops) are meant for the model."""

    store: Store
    clock: Clock
    owner: Owner
    model: Model

    @property
    def config(self) -> Config:
        """The agent's configuration as it is now; never to be changed in place."""
        ...

    @property
    def state(self) -> str:
        """State of the agent: active, idle, hibernate, suspended, off."""
        ...

    def effective(self, loop: str) -> Config:
        """Return the configuration under which a loop runs; `main` runs the agent's."""
        ...

    async def edit_config(self, edit: Callable[[Config], Config]) -> Config:
        """Apply an edit to the configuration as it is at this moment, write it, and let it take effect at once.

        Loops that it removes are stopped and archived behind the caller's back (LOOP-105). Whatever `edit` raises is
        passed on and nothing is written.
        """
        ...

    def wake(self, loop: str, dispatch: Dispatch) -> str | None:
        """Start a turn of a loop, or queue it behind the running one. Gives the reason if it is dropped, which is
        logged as `loop_dispatch_dropped` (LOOP-231); None if it is accepted."""
        ...

    def obstacle(self, loop: str) -> str | None:
        """Return why `wake` would drop a dispatch now, None if it would not; nothing is logged."""
        ...

    def note(self, loop: str, text: str) -> Row:
        """Append a user's row to a stream; it is read when the loop next runs."""
        ...

    def emit(self, event: Event) -> None:
        """Tell triggers what happened. Returns at once."""
        ...

    def show(self, happening: Happening) -> None:
        """Tell whoever watches."""
        ...

    def log(self, level: str, event: str, message: str, **fields: Any) -> None:
        """Write a row of `adf_logs`; fields: origin (default `runtime`), target, data, loop."""
        ...

    def set_state(self, state: str) -> None:
        """Set the state of the agent, as `main` or the owner does."""
        ...

    # the loop tools

    def send(self, sender: str, target: str, content: str, *, wake: bool = False) -> Delivery:
        """Deliver a message from loop to loop.

        :raises Refused: nothing was appended
        """
        ...

    def roster(self) -> list[dict[str, Any]]:
        """Return `{name, goal, status, enabled, is_main}` of every loop, `main` first (LOOP-190)."""
        ...

    async def create_loop(self, wanted: Mapping[str, Any]) -> Created:
        """Declare a loop and start it.

        :raises Refused: nothing was written
        """
        ...

    async def update_loop(self, name: str, patch: Mapping[str, Any]) -> tuple[str, ...]:
        """Change a loop; gives the names of tools it has to wait for.

        :raises Refused: nothing was written
        """
        ...

    async def delete_loop(self, name: str) -> Deleted:
        """Stop a loop, archive its history, remove it.

        :raises Refused: it stays
        """
        ...

    async def clear(self, loop: str, start: int | None = None, end: int | None = None) -> tuple[int, bool]:
        """Delete a slice of a loop's history; gives how many rows went and whether they were archived (LCL-005)."""
        ...

    def inject(
        self,
        loop: str,
        content: object,
        *,
        category: object = None,
        key: object = None,
        role: object = None,
        origin: str = "code",
    ) -> str | None:
        """Put context into a loop's own stream (LOOP-260 to LOOP-263). Gives the reason if it is refused."""
        ...
