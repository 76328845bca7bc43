"""What a step may demand, as plain data, so that a case can be judged without a model.

| demand | meaning |
|---|---|
| `{"sql": "SELECT …", "is": [[…]], "file"?}` | the rows that a question to the file gives; see `observe.questions` |
| `{"unchanged": mark}` | not one byte changed since the mark, and nothing appeared beside the file |
| `{"member": mark}` | the file itself, and nothing else, is byte for byte as it was at the mark |
| `{"alone": file}` | nothing of SQLite lies beside the file |
| `{"kept": name, "at": "findings/0/rule", "is"/"not"/"among": value}` | what a kept answer says |
| `{"request": label, "times": n, "text": "…", "role"?}` | how often a text stands in a model request |
| `{"request": label, "tools": [names]}`, `"tools_with"`, `"tools_without"` | which tools a model request offers |
| `{"request": label, "valid": true}` | every tool call of a model request is directly followed by its results |
| `{"request": label, "system_with"/"system_without": "…"}` | what the system prompt says or does not say |
| `{"calls": n, "loop"?, "purpose"?}` | how many model calls there were so far |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adf_conformance.observe import Family
from adf_conformance.protocol import HarnessError
from adf_conformance.schedule import requests
from adf_conformance.schedule.outcome import Impossible

if TYPE_CHECKING:
    from adf_conformance.schedule.scene import Scene

Demand = Mapping[str, Any]


def broken(scene: Scene, demand: Demand) -> str | None:
    """Say in words what is not as demanded, None if all is.

    :raises HarnessError: it is no demand
    """
    for key, test in _TESTS.items():
        if key in demand:
            return test(scene, demand)
    raise HarnessError(f"no such demand: {sorted(demand)}")


def _sql(scene: Scene, demand: Demand) -> str | None:
    found = scene.look(demand.get("file", "agent.adf")).query(demand["sql"])
    return None if found == demand["is"] else f"{demand['sql']} gives {found}, right is {demand['is']}"


def _unchanged(scene: Scene, demand: Demand) -> str | None:
    path, before = _marked(scene, demand["unchanged"])
    changes = before.changes(Family.of(path))
    return "; ".join(changes) or None


def _marked(scene: Scene, mark: str) -> tuple[Path, Family]:
    if mark not in scene.marks:
        raise Impossible(f"there is no mark {mark!r}")
    return scene.marks[mark]


def _member(scene: Scene, demand: Demand) -> str | None:
    path, before = _marked(scene, demand["member"])
    now = Family.of(path).members.get(path.name)
    return None if now == before.members.get(path.name) else f"{path.name} {'changed' if now else 'is gone'}"


def _alone(scene: Scene, demand: Demand) -> str | None:
    path = scene.path(demand["alone"])
    beside = Family.of(path).sidecars(path)
    return f"left beside the file: {', '.join(beside)}" if beside else None


def _kept(scene: Scene, demand: Demand) -> str | None:
    if demand["kept"] not in scene.kept:
        raise Impossible(f"no answer is kept as {demand['kept']!r}")
    value = scene.kept[demand["kept"]]
    for part in filter(None, str(demand.get("at", "")).split("/")):
        value = _inside(value, part)
    where = f"{demand['kept']}/{demand.get('at', '')}".rstrip("/")
    if "is" in demand and value != demand["is"]:
        return f"{where} is {_short(value)}, right is {_short(demand['is'])}"
    if "not" in demand and value == demand["not"]:
        return f"{where} is {_short(value)}"
    if "among" in demand and value not in demand["among"]:
        return f"{where} is {_short(value)}, right is one of {demand['among']}"
    return None


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, list):
        return value[int(part)] if int(part) < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"


def _request(scene: Scene, demand: Demand) -> str | None:
    params = scene.labelled(demand["request"]).params
    for key, test in _OF_A_REQUEST.items():
        if key in demand and (message := test(params, demand)):
            return f"model request {demand['request']!r}: {message}"
    return None


def _times(params: Demand, demand: Demand) -> str | None:
    found = requests.count(params, demand["text"], demand.get("role"))
    wanted = demand["times"]
    return None if found == wanted else f"the text {demand['text']!r} stands there {found} times, right is {wanted}"


def _tools(params: Demand, demand: Demand) -> str | None:
    found = sorted(requests.tool_names(params))
    return None if found == sorted(demand["tools"]) else f"offers the tools {found}, right is {sorted(demand['tools'])}"


def _tools_with(params: Demand, demand: Demand) -> str | None:
    missing = set(demand["tools_with"]) - set(requests.tool_names(params))
    return f"does not offer {', '.join(sorted(missing))}" if missing else None


def _tools_without(params: Demand, demand: Demand) -> str | None:
    wrong = set(demand["tools_without"]) & set(requests.tool_names(params))
    return f"offers {', '.join(sorted(wrong))}" if wrong else None


def _valid(params: Demand, _: Demand) -> str | None:
    return requests.sequence_problem(params)


def _system_with(params: Demand, demand: Demand) -> str | None:
    return None if demand["system_with"] in params["system"] else f"the system prompt lacks {demand['system_with']!r}"


def _system_without(params: Demand, demand: Demand) -> str | None:
    text = demand["system_without"]
    return f"the system prompt says {text!r}" if text in params["system"] else None


def _calls(scene: Scene, demand: Demand) -> str | None:
    loop, purpose = demand.get("loop"), demand.get("purpose")
    fits = [one for one in scene.model_calls if loop in {None, one.loop} and purpose in {None, one.purpose}]
    of = f"{f' of loop {loop}' if loop else ''}{f' for {purpose}' if purpose else ''}"
    return None if len(fits) == demand["calls"] else f"{len(fits)} model calls{of}, right is {demand['calls']}"


_TESTS: dict[str, Callable[[Scene, Demand], str | None]] = {
    "sql": _sql,
    "unchanged": _unchanged,
    "member": _member,
    "alone": _alone,
    "kept": _kept,
    "request": _request,
    "calls": _calls,
}
_OF_A_REQUEST: dict[str, Callable[[Demand, Demand], str | None]] = {
    "times": _times,
    "tools": _tools,
    "tools_with": _tools_with,
    "tools_without": _tools_without,
    "valid": _valid,
    "system_with": _system_with,
    "system_without": _system_without,
}
