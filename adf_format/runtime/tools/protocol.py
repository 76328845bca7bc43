"""What a tool is: a name, a schema, and one coroutine. One module per tool, each exporting `TOOL`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adf_format.runtime.host import Host


@dataclass(frozen=True)
class Call:
    """A call that a model made; the checks have let it pass.

    :ivar id: id of the `tool_use` block
    :ivar input: keeps the tool's schema
    :ivar loop: the loop whose turn it is
    """

    id: str
    name: str
    input: Mapping[str, Any]
    loop: str


@dataclass(frozen=True)
class EndTurn:
    """The turn ends once the results of this batch are recorded.

    :ivar state: the state that was asked for
    """

    state: str = "idle"


@dataclass(frozen=True)
class Compact:
    """The history is compacted once the results of this batch are recorded (CMP-007).

    :ivar instructions: what the summary should keep, in the caller's words
    """

    instructions: str = ""


@dataclass(frozen=True)
class Cleared:
    """Rows of the caller's own history are gone: what was read from files into the prompt is read anew (CMP-054)."""


Effect = EndTurn | Compact | Cleared


@dataclass(frozen=True)
class ToolResult:
    """What goes back to the model.

    :ivar content: text, never a traceback, SQL or a path of the host (LOOP-122)
    :ivar effect: what follows from it for the turn
    """

    content: str
    is_error: bool = False
    effect: Effect | None = None


def failed(message: str) -> ToolResult:
    """Return an error result."""
    return ToolResult(message, is_error=True)


Run = Callable[[Call, "Host"], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Tool:
    """One tool.

    :ivar description: what the model is told of it
    :ivar input_schema: JSON Schema of the input, with `additionalProperties` left open
    :ivar main_only: refused for inner loops, whatever hands it to them (LOOP-044)
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    run: Run
    main_only: bool = False

    def document(self) -> dict[str, Any]:
        """Return it as a model sees it."""
        return {"name": self.name, "description": self.description, "input_schema": dict(self.input_schema)}
