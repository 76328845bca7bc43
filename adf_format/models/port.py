"""The model boundary: one call, its answer and its failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal["turn", "compaction", "invoke"]
StopReason = Literal["end_turn", "tool_use", "max_tokens"]
Block = Mapping[str, Any]
"""A content block as `adf_loop.content_json` stores it (ROW-002)."""


@dataclass(frozen=True)
class ModelChoice:
    """Which model answers, and how: one ModelConfig of the configuration (config.md 2.3).

    :ivar provider: id of the provider, "" if the configuration names none
    :ivar model_id: id of the model at its provider
    :ivar temperature: 0 to 2, None to leave it to the provider
    :ivar max_tokens: most tokens of an answer, None to leave it to the provider
    :ivar top_p: 0 to 1, None to leave it to the provider
    :ivar params: further parameters of the request, by name
    """

    provider: str = ""
    model_id: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    params: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_config(cls, config: object) -> ModelChoice:
        """Read a ModelConfig as tolerantly as a file is loaded: what has the wrong type counts as absent."""
        model = config if isinstance(config, dict) else {}
        return cls(
            provider=_text(model.get("provider")),
            model_id=_text(model.get("model_id")),
            temperature=_number(model.get("temperature", 0.7)),
            max_tokens=_count(model.get("max_tokens", 4096)),
            top_p=_number(model.get("top_p")),
            params=_params(model.get("params")),
        )


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `input` counts everything sent, cached or not (ROW-005)."""

    input: int = 0
    output: int = 0
    cache_read: int | None = None
    reasoning: int | None = None

    def as_tokens(self) -> dict[str, int]:
        """Return the object of `adf_loop.tokens`: parts that the provider does not tell are left out."""
        told = {"input": self.input, "output": self.output, "cache_read": self.cache_read, "reasoning": self.reasoning}
        return {name: count for name, count in told.items() if count is not None}


@dataclass(frozen=True)
class Completion:
    """The answer to one call.

    :ivar content: blocks of type `text`, `thinking` or `tool_use`, in order
    :ivar stop_reason: why the model stopped
    :ivar usage: tokens of the call
    """

    content: Sequence[Block]
    stop_reason: StopReason
    usage: Usage = Usage()


class ModelError(Exception):
    """A call that brought no answer.

    :ivar transient: whether the same call may succeed later (a limit, a timeout, a fault of the server)
    :ivar message: what went wrong, one sentence without secrets
    :ivar retry_after_ms: how long the provider asks to wait, None if it does not say
    """

    def __init__(self, message: str, *, transient: bool, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.transient = transient
        self.retry_after_ms = retry_after_ms


class Model(Protocol):
    """Whatever answers."""

    async def complete(
        self,
        *,
        purpose: Purpose,
        loop: str,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        model: ModelChoice,
    ) -> Completion:
        """Ask for one completion; a cancelled call stops at once.

        :param loop: name of the loop that asks
        :param messages: `{role, content: [blocks]}`, a valid sequence (each call directly followed by its results)
        :param tools: `{name, description, input_schema}` of every tool that may be called now
        :raises ModelError: no answer
        """
        ...


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 1 and number.is_integer() else None


def _params(value: object) -> dict[str, str]:
    items = value if isinstance(value, list) else []
    pairs = [(item.get("key"), item.get("value")) for item in items if isinstance(item, dict)]
    return {key: text for key, text in pairs if isinstance(key, str) and key and isinstance(text, str)}
