"""Which targets an event wakes: filters, gating by state, and the way of a timer to its loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from adf_format.runtime.triggers.model import MAIN, Event, Kind, Target, targets

QUIET_EVENT = "loop_dispatch_dropped"
"""Log rows of this event wake nobody: a target that is dropped would otherwise wake itself for ever."""


def woken(config: Mapping[str, Any], event: Event) -> list[Target]:
    """Return the targets that an event wakes, in the order of the configuration.

    A timer wakes one loop at most, whatever the number of targets (LOOP-241).
    """
    if event.kind == "on_timer":
        return list(_of_timer(config, event))
    if event.kind == "on_tool_call" and event.loop not in {None, MAIN}:
        return []  # tools of inner loops feed no trigger (LOOP-220)
    return [target for target in targets(config, event.kind) if accepts(target, event)]


def allowed(state: str, kind: Kind) -> bool:
    """Whether the agent's state lets a trigger through (LOOP-244)."""
    if state == "hibernate":
        return kind == "on_timer"
    return state in {"active", "idle"}


def accepts(target: Target, event: Event) -> bool:
    """Whether the filter of a target lets an event through; keys of other trigger types mean nothing (X24)."""
    test = _FILTERS.get(event.kind)
    return test is None or test(target.filter, event.facts)


def _of_timer(config: Mapping[str, Any], event: Event) -> Iterator[Target]:
    """Targets are only the gate of a timer: its own scope and stamp decide (LOOP-241, Q16)."""
    found = list(targets(config, "on_timer"))
    scope = event.facts.get("scope", ())
    agent = [target for target in found if target.scope == "agent"]
    if "agent" in scope and agent:
        loop = timer_loop(config, event.loop)
        best = next((target for target in agent if target.loop == loop), agent[0])
        yield replace(best, loop=loop)
    if "system" in scope:
        yield from [target for target in found if target.scope == "system"][:1]


def timer_loop(config: Mapping[str, Any], stamp: str | None) -> str:
    """Return the loop that a timer of agent scope wakes.

    Without a stamp it is `main`, unless all agent-scope targets of `on_timer` name one and the same other loop.
    """
    if stamp is not None:
        return stamp
    named = {target.loop for target in targets(config, "on_timer") if target.scope == "agent"}
    return (named.pop() or MAIN) if len(named) == 1 else MAIN


def _equal(wanted: object, value: object) -> bool:
    """A text must be equal; the wrong form of a filter is none (X25)."""
    return not isinstance(wanted, str) or wanted == value


def _member(wanted: object, value: object) -> bool:
    return not isinstance(wanted, list) or value in wanted


def _globs(wanted: object, value: object) -> bool:
    patterns = [item for item in wanted if isinstance(item, str)] if isinstance(wanted, list) else None
    return patterns is None or any(matches(pattern, str(value or "")) for pattern in patterns)


def matches(pattern: str, text: str) -> bool:
    """Whether a whole text has the form of a glob in which `*`, and nothing else, is special."""
    return bool(_glob(pattern).fullmatch(text))


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL)


def _inbox(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return _equal(wanted.get("source"), facts.get("source")) and _equal(wanted.get("sender"), facts.get("sender"))


def _outbox(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return _equal(wanted.get("to"), facts.get("to"))


def _file_change(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    watch = wanted.get("watch")
    if facts.get("by_agent") and wanted.get("include_self") is not True:
        return False
    return not isinstance(watch, str) or matches(watch, str(facts.get("path", "")))


def _tool_call(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Without a list of tools nothing fires (X23)."""
    return isinstance(wanted.get("tools"), list) and _globs(wanted["tools"], facts.get("tool"))


def _logs(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return (
        facts.get("event") != QUIET_EVENT
        and _member(wanted.get("level"), facts.get("level"))
        and _globs(wanted.get("origin"), facts.get("origin"))
        and _globs(wanted.get("event"), facts.get("event"))
    )


_FILTERS: dict[Kind, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]] = {
    "on_inbox": _inbox,
    "on_outbox": _outbox,
    "on_file_change": _file_change,
    "on_tool_call": _tool_call,
    "on_logs": _logs,
}
