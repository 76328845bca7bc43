"""The kinds of steps, as data: a name, its keys, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COMMON = frozenset({"do", "law", "note", "expect"})
"""Keys of every step: `law` is the requirement that is broken if the step does not go as it should; `expect` is `ok`
(the default), `refused` (any error but "no such method"), `any`, or the number of an error."""


@dataclass(frozen=True)
class Kind:
    """One kind of step.

    :ivar needs: keys that it must have
    :ivar takes: keys that it may have
    """

    does: str
    needs: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()


def _kind(does: str, needs: str = "", takes: str = "") -> Kind:
    return Kind(does, frozenset(needs.split()), frozenset(takes.split()))


KINDS: dict[str, Kind] = {
    "make": _kind("write a generated file from its plan", "plan", "file"),
    "create": _kind("agent/create", "config", "file"),
    "start": _kind("start a driver if none runs, then agent/start", "", "file"),
    "stop": _kind("agent/stop"),
    "kill": _kind("SIGKILL to the group of the driver: a crash; struck: a kill matrix did it already", "", "struck"),
    "pause": _kind("let real time pass: only to choose the moment of a crash in the middle of a write", "ms"),
    "call": _kind("any request of the protocol; names of files become paths", "method", "params keep within"),
    "begin": _kind("send a request and do not wait for its answer", "method as", "params"),
    "finish": _kind("wait for the answer to a request that was begun", "as", "keep within"),
    "chat": _kind("chat/send", "text", "loop"),
    "deliver": _kind("message/deliver", "message"),
    "config": _kind("config/update", "path", "value remove actor"),
    "clear": _kind("state/clear", "what", "loop"),
    "inject": _kind("code/loop_inject", "loop content", "category key role origin"),
    "advance": _kind("clock/advance", "ms"),
    "await": _kind("wait for a model call and give it a label", "", "loop purpose as within"),
    "answer": _kind(
        "complete an open model call (by label, else the oldest of the loop)",
        "",
        "call loop text tools blocks usage stop_reason late",
    ),
    "fail": _kind("let an open model call fail", "", "call loop message transient"),
    "cancelled": _kind("wait until the runtime has given up a model call", "call", "within"),
    "idle": _kind("demand that the agent comes to rest", "", "within"),
    "drain": _kind("answer every model call until the agent is at rest", "", "text summary limit within"),
    "owner": _kind("say how the owner answers from now on", "", "approves says"),
    "mark": _kind("remember every byte of a file and of what lies beside it", "as", "file"),
    "demand": _kind("demand something of files, answers or requests: see `demands`", "that", ""),
}


def problem(step: Any) -> str | None:
    """Say what is wrong with a step as data, None if nothing is."""
    if not isinstance(step, dict) or step.get("do") not in KINDS:
        return f"no such step: {str(step)[:100]}"
    kind, keys = KINDS[step["do"]], set(step)
    if missing := kind.needs - keys:
        return f"step {step['do']!r} lacks {', '.join(sorted(missing))}"
    if unknown := keys - kind.needs - kind.takes - COMMON:
        return f"step {step['do']!r} has no key {', '.join(sorted(unknown))}"
    return None
