"""How each kind of step is done."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from adf_conformance.evidence import Violation
from adf_conformance.observe import Family, Unreadable
from adf_conformance.protocol import Call, Driver, HarnessError, ModelCall, NoAnswer, Refused
from adf_conformance.protocol.errors import NOT_SUPPORTED
from adf_conformance.schedule import demands
from adf_conformance.schedule.outcome import Impossible, Outcome, Step

if TYPE_CHECKING:
    from adf_conformance.schedule.scene import Scene

DRAIN_LIMIT = 60  # answers after which an agent that still asks does not come to rest
SUMMARY = "Summary: the work so far, in short."
_MARGIN = 5.0  # seconds that `agent/idle` may take beyond its own time


def do(scene: Scene, step: Step) -> Outcome:
    """Do a step; see `Scene.run` for what it raises."""
    return _DOERS[step["do"]](scene, step)


def _patience(scene: Scene, step: Step) -> float:
    return float(step.get("within", scene.patience))


def _broken(scene: Scene, step: Step, message: str, **details: Any) -> Violation | None:
    """Return the violation for a step that did not go as it should; None if its requirement is known to fail."""
    law = step.get("law") or scene.law
    try:
        scene.ledger.demand(law, kept=False, message=message, details=details)
    except Violation as violation:
        return violation
    return None


# --- requests


def request(scene: Scene, step: Step, method: str, params: Mapping[str, Any]) -> Outcome:
    """Make a request and hold its answer against what the step expects."""
    expected = step.get("expect", "ok")
    try:
        value = scene.driver.call(method, _with_paths(scene, params), step.get("within"))
        outcome = Outcome(value)
    except Refused as refusal:
        outcome = Outcome(None, refused=True, code=refusal.code, message=refusal.message)
    return _settled(scene, step, method, outcome, expected)


def _settled(scene: Scene, step: Step, method: str, outcome: Outcome, expected: object) -> Outcome:
    if "keep" in step:
        scene.kept[step["keep"]] = {"error": outcome.code, **(outcome.value or {})}
    if outcome.code == NOT_SUPPORTED and expected != NOT_SUPPORTED:
        return _missing(scene, step, method, outcome)
    right: dict[object, bool] = {
        "ok": not outcome.refused,
        "refused": outcome.refused,
        "any": True,
        outcome.code: True,
    }
    if right.get(expected, False):
        if step.get("law"):
            scene.ledger.saw(step["law"])
        return outcome
    told = f"answered with error {outcome.code} ({outcome.message})" if outcome.refused else f"answered {outcome.value}"
    wanted = {"ok": "success", "refused": "a refusal"}.get(str(expected), f"error {expected}")
    if violation := _broken(scene, step, f"{method}: {told}; {wanted} is right"):
        raise violation
    return outcome


def _missing(scene: Scene, step: Step, method: str, outcome: Outcome) -> Outcome:
    """Take "no such method" for a broken claim: the suite asks only for what the driver claims."""
    law = f"{scene.law.partition('.')[0]}.answers"
    if violation := _broken(scene, {**step, "law": law}, f"{method} is not there, although the profile is claimed"):
        raise violation
    return outcome


def _with_paths(scene: Scene, params: Mapping[str, Any]) -> dict[str, Any]:
    """Make the name of a file an absolute path. `config/update` has a path of another kind."""
    is_file = "path" in params and "actor" not in params
    return {**params, "path": str(scene.path(params["path"]))} if is_file else dict(params)


def _call(scene: Scene, step: Step) -> Outcome:
    return request(scene, step, step["method"], step.get("params", {}))


def _sugar(method: str, *keys: str, **defaults: Any) -> Callable[[Scene, Step], Outcome]:
    def doer(scene: Scene, step: Step) -> Outcome:
        return request(scene, step, method, {**defaults, **{key: step[key] for key in keys if key in step}})

    return doer


def _create(scene: Scene, step: Step) -> Outcome:
    return request(scene, step, "agent/create", {"path": step.get("file", "agent.adf"), "config": step["config"]})


def _start(scene: Scene, step: Step) -> Outcome:
    return request(scene, step, "agent/start", {"path": step.get("file", "agent.adf")})


def _begin(scene: Scene, step: Step) -> Outcome:
    scene.begun[step["as"]] = scene.driver.begin(step["method"], _with_paths(scene, step.get("params", {})))
    return Outcome()


def _finish(scene: Scene, step: Step) -> Outcome:
    if step["as"] not in scene.begun:
        raise Impossible(f"no request is called {step['as']!r}")
    call = scene.begun.pop(step["as"])
    try:
        outcome = Outcome(scene.driver.finish(call, step.get("within")))
    except Refused as refusal:
        outcome = Outcome(None, refused=True, code=refusal.code, message=refusal.message)
    return _settled(scene, step, call.method, outcome, step.get("expect", "ok"))


# --- the model


def _await(scene: Scene, step: Step) -> Outcome:
    loop, purpose = step.get("loop"), step.get("purpose")
    known = set(map(id, scene.labels.values()))

    def fresh() -> ModelCall | None:
        fits = (call for call in scene.driver.open_calls if loop in {None, call.loop})
        fits = (call for call in fits if purpose in {None, call.purpose} and id(call) not in known)
        return next(fits, None)

    wanted = f"a model call{f' of loop {loop}' if loop else ''}{f' for {purpose}' if purpose else ''}"
    seconds = _patience(scene, step)
    if not scene.driver.wait(lambda: fresh() is not None, seconds, wanted):
        if violation := _broken(scene, step, f"{wanted} did not come within {seconds:g} s"):
            raise violation
        raise Impossible(f"{wanted} did not come, which is known")
    call = fresh()
    assert call is not None  # noqa: S101 - waited for
    scene.labels[step.get("as") or f"call{len(scene.labels)}"] = call
    if step.get("law"):
        scene.ledger.saw(step["law"])
    scene.strike()
    return Outcome(call.params)


def _chosen(scene: Scene, step: Step) -> ModelCall:
    """Return the model call that a step is about.

    :raises Impossible: there is none, or it is not open any more
    """
    if "call" in step:
        call = scene.labelled(step["call"])
        if call.state == "open" or (step.get("late") and call.state == "cancelled"):
            return call
        raise Impossible(f"model call {step['call']!r} is {call.state}")
    fits = (call for call in scene.open_calls if step.get("loop") in {None, call.loop})
    found = next(fits, None)
    if found is None:
        raise Impossible("no model call is open")
    return found


def _answer(scene: Scene, step: Step) -> Outcome:
    call = _chosen(scene, step)
    blocks = list(step.get("blocks", []))
    if "text" in step:
        blocks.append({"type": "text", "text": step["text"]})
    for number, tool in enumerate(step.get("tools", [])):
        name = f"toolu_{len(scene.history)}_{number}"
        blocks.append({"type": "tool_use", "id": name, **tool})
    call.answer(blocks, step.get("stop_reason"), step.get("usage"))
    return Outcome(blocks)


def _fail(scene: Scene, step: Step) -> Outcome:
    _chosen(scene, step).fail(step.get("message", "overloaded"), transient=bool(step.get("transient", False)))
    return Outcome()


def _cancelled(scene: Scene, step: Step) -> Outcome:
    call, seconds = scene.labelled(step["call"]), _patience(scene, step)
    if not scene.driver.wait(lambda: call.state != "open", seconds, "model/cancel"):
        message = f"the model call {step['call']!r} of loop {call.loop} was not cancelled within {seconds:g} s"
        if violation := _broken(scene, step, message):
            raise violation
    elif step.get("law"):
        scene.ledger.saw(step["law"])
    return Outcome()


# --- rest


def _idle(scene: Scene, step: Step) -> Outcome:
    seconds = _patience(scene, step)
    answer = scene.driver.call("agent/idle", {"timeout_ms": int(seconds * 1000)}, seconds + _MARGIN)
    if step.get("law"):
        scene.ledger.saw(step["law"])
    if not answer["idle"]:
        held = ", ".join(scene.label_of(call) for call in scene.open_calls) or "none"
        message = f"the agent did not come to rest within {seconds:g} s (open model calls: {held})"
        if violation := _broken(scene, step, message):
            raise violation
    return Outcome(answer)


def _drain(scene: Scene, step: Step) -> Outcome:
    """Answer whatever is asked until the agent is at rest; one question after its rest is open all the time."""
    deadline = time.monotonic() + _patience(scene, step) * 3
    answered, driver, limit = 0, scene.driver, step.get("limit", DRAIN_LIMIT)
    while answered < limit and (left := deadline - time.monotonic()) > 0:
        asked = driver.begin("agent/idle", {"timeout_ms": int(left * 1000)})
        while asked.answer is None and answered < limit:
            if not driver.wait(partial(_is_asked, driver, asked), left + _MARGIN, "agent/idle"):
                raise NoAnswer("agent/idle", left + _MARGIN)
            scene.strike()
            answered += _answer_all(scene, step, limit - answered)
        if asked.answer is not None and driver.finish(asked)["idle"] and not driver.open_calls:
            return Outcome(answered)
    message = f"the agent does not come to rest: after {answered} answers it still works"
    if violation := _broken(scene, step, message):
        raise violation
    return Outcome(answered)


def _answer_all(scene: Scene, step: Step, at_most: int) -> int:
    """Answer the model calls that are open, and return how many."""
    calls = scene.driver.open_calls[:at_most]
    for call in calls:
        _answer_drained(scene, call, step)
    return len(calls)


def _is_asked(driver: Driver, question: Call) -> bool:
    """Say whether a question was answered, or the suite is asked something itself."""
    return question.answer is not None or bool(driver.open_calls)


def _answer_drained(scene: Scene, call: ModelCall, step: Step) -> None:
    if scene.label_of(call) not in scene.labels:
        scene.labels[f"call{len(scene.labels)}"] = call
    text = step.get("text", "Done.") if call.purpose != "compaction" else step.get("summary", SUMMARY)
    call.answer([{"type": "text", "text": text}])


# --- the rest


def _kill(scene: Scene, step: Step) -> Outcome:
    if not scene.running and not step.get("struck"):
        raise Impossible("no driver runs")
    scene.end_driver()
    return Outcome()


def _pause(_: Scene, step: Step) -> Outcome:
    time.sleep(step["ms"] / 1000)
    return Outcome()


def _owner(scene: Scene, step: Step) -> Outcome:
    owner = scene.driver.inbound.owner
    owner.approves = bool(step.get("approves", owner.approves))
    owner.says = str(step.get("says", owner.says))
    return Outcome()


def _mark(scene: Scene, step: Step) -> Outcome:
    path = scene.path(step.get("file", "agent.adf"))
    scene.marks[step["as"]] = (path, Family.of(path))
    return Outcome()


def _make(scene: Scene, step: Step) -> Outcome:
    from adf_conformance import files

    path = scene.path(step.get("file", "agent.adf"))
    path.unlink(missing_ok=True)
    try:
        files.write(step["plan"], path)
    except (LookupError, TypeError, ValueError, sqlite3.Error) as error:  # a plan that was made smaller, most likely
        raise Impossible(f"the plan cannot be written ({type(error).__name__}: {error})") from None
    return Outcome()


def _demand(scene: Scene, step: Step) -> Outcome:
    try:
        message = demands.broken(scene, step["that"])
    except Unreadable as error:
        if not scene.path(step["that"].get("file", "agent.adf")).exists():
            raise Impossible(f"there is no file yet: {error}") from None
        message = str(error)
    law = step.get("law") or scene.law
    if not law:
        raise HarnessError("a demand names no requirement")
    scene.ledger.demand(law, message is None, message or "", {"demand": step["that"]})
    return Outcome()


_DOERS: dict[str, Callable[[Scene, Step], Outcome]] = {
    "make": _make,
    "create": _create,
    "start": _start,
    "stop": _sugar("agent/stop"),
    "kill": _kill,
    "pause": _pause,
    "call": _call,
    "begin": _begin,
    "finish": _finish,
    "chat": _sugar("chat/send", "text", "loop"),
    "deliver": _sugar("message/deliver", "message"),
    "config": _sugar("config/update", "path", "value", "remove", "actor", actor="owner"),
    "clear": _sugar("state/clear", "what", "loop"),
    "inject": _sugar("code/loop_inject", "loop", "content", "category", "key", "role", "origin"),
    "advance": _sugar("clock/advance", "ms"),
    "await": _await,
    "answer": _answer,
    "fail": _fail,
    "cancelled": _cancelled,
    "idle": _idle,
    "drain": _drain,
    "owner": _owner,
    "mark": _mark,
    "demand": _demand,
}
