"""Events of the agent, and the targets that a configuration lets them wake (config.md 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from adf_format.config.access import entries, is_filled, is_number, section

MAIN = "main"
Kind = Literal[
    "on_startup", "on_inbox", "on_outbox", "on_file_change", "on_chat", "on_timer", "on_tool_call", "on_logs"
]
"""The trigger types that this runtime can produce; tasks and calls of lambdas belong to code execution."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Event:
    """Something that happened.

    :ivar facts: what filters look at, by the name of the filter (`sender`, `path`, `level`, …)
    :ivar text: what a woken loop is told
    :ivar loop: the loop in which it happened; of a timer, the loop that it carries
    :ivar whole: whether `text` is a message that belongs into the stream word for word (the owner speaks)
    :ivar token: what whoever told of it wants back if the loop is not woken after all
    """

    kind: Kind
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    loop: str | None = None
    whole: bool = False
    token: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Timing:
    """When a target that has accepted an event wakes its loop.

    :ivar mode: `immediate`; `debounce`: after so long without another event; `interval`: at most once in so long;
        `batch`: so long after the first event, or at the `count`-th one
    """

    mode: Literal["immediate", "debounce", "interval", "batch"] = "immediate"
    ms: int = 0
    count: int | None = None


@dataclass(frozen=True)
class Target:
    """One target of a trigger.

    :ivar place: index in `triggers.<kind>.targets`
    :ivar loop: the loop that it wakes; None for system scope, which wakes no stream (LOOP-233)
    """

    kind: Kind
    place: int
    scope: Literal["system", "agent"]
    loop: str | None
    filter: Mapping[str, Any] = field(default_factory=dict)
    timing: Timing = Timing()
    lambda_: str | None = None
    command: str | None = None


def targets(config: Mapping[str, Any], kind: Kind) -> Iterator[Target]:
    """Yield the targets of an enabled trigger; entries that are none are passed over."""
    trigger = section(config, "triggers", kind)
    if trigger.get("enabled") is not True:
        return
    for place, entry in entries(trigger, "targets"):
        scope = entry.get("scope")
        if scope in {"system", "agent"}:
            yield Target(
                kind,
                place,
                scope,
                _loop(entry) if scope == "agent" else None,
                section(entry, "filter"),
                timing(entry),
                _text(entry.get("lambda")),
                _text(entry.get("command")),
            )


def timing(entry: Mapping[str, Any]) -> Timing:
    """Read the timing of a target; of several (a breach of X1) the first in this order counts."""
    modes: tuple[Literal["debounce", "interval", "batch"], ...] = ("debounce", "interval", "batch")
    for mode in modes:
        ms = _positive(entry.get(f"{mode}_ms"))
        if ms:
            count = _positive(entry.get("batch_count")) if mode == "batch" else None
            return Timing(mode, ms, count)
    return Timing()


def _loop(entry: Mapping[str, Any]) -> str:
    loop = entry.get("loop")
    return loop if is_filled(loop) else MAIN


def _text(value: object) -> str | None:
    return value if is_filled(value) else None


def _positive(value: object) -> int | None:
    return int(value) if is_number(value) and value >= 1 and value == value // 1 else None
