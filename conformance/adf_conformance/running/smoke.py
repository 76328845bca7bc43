"""Is the driver right? A failure here means that the driver is wrong, not the implementation behind it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adf_conformance.evidence import Ledger, Violation
from adf_conformance.protocol import Driver, DriverFault, Refused
from adf_conformance.protocol.errors import NO_COMMON_PROTOCOL, NOT_SUPPORTED
from adf_conformance.requirements import PROFILES
from adf_conformance.schedule import Impossible, Scene, Step

KNOWN = frozenset({*PROFILES, "clock", "loop_inject", "chat_interrupts"})
ROUNDS = 20  # requests whose time is taken
FILE = "agent.adf"
_OLD: Step = {"do": "make", "plan": {"version": 27}, "file": FILE}
_ONE_TURN: list[Step] = [
    {"do": "create", "config": {"model": {"provider": "suite", "model_id": "suite-1"}}},
    {"do": "start"},
    {"do": "chat", "text": "Hello"},
    {"do": "await", "loop": "main", "as": "c"},
    {"do": "answer", "call": "c", "text": "Hi."},
    {"do": "drain"},
    {"do": "stop"},
]
_EXERCISES: dict[str, list[Step]] = {
    "reader": [
        _OLD,
        {"do": "call", "method": "transcript/read", "params": {"path": FILE, "loop": "main"}},
        {"do": "call", "method": "audit/resolve", "params": {"path": FILE, "loop": "main", "seq": 1}},
        {"do": "call", "method": "audit/read", "params": {"path": FILE, "id": 1}, "expect": "refused"},
    ],
    "validator": [_OLD, {"do": "call", "method": "file/validate", "params": {"path": FILE}}],
    "migrator": [_OLD, {"do": "call", "method": "file/migrate", "params": {"path": FILE}}],
    "core": _ONE_TURN,
    "loops": _ONE_TURN,
    "memory": _ONE_TURN,
}


@dataclass(frozen=True)
class Probe:
    """One thing that was tried.

    :ivar wrong: what is wrong, None if nothing is
    """

    name: str
    wrong: str | None
    note: str = ""


def smoke(command: Sequence[str]) -> Iterator[Probe]:
    """Try a driver; the first probe that fails to start it is the last."""
    with tempfile.TemporaryDirectory(prefix="adf-conformance-") as place:
        try:
            driver = Driver(command)
        except DriverFault as fault:
            yield Probe("starts", str(fault))
            return
        with driver:
            yield from _conversation(driver, Path(place))
        yield _no_common_protocol(command)


def _conversation(driver: Driver, place: Path) -> Iterator[Probe]:
    try:
        hello = driver.initialize(place)
    except (DriverFault, Refused) as error:
        yield Probe("introduces itself", f"{error}\n{driver.stderr_tail[-500:]}".strip())
        return
    claims = ", ".join(sorted(hello.capabilities)) or "nothing"
    yield Probe("introduces itself", None, f"{hello.name} {hello.version} ({hello.language}), claims {claims}")
    for name, probe in _PROBES:
        yield _probe(name, lambda probe=probe: probe(driver))  # type: ignore[misc]
    for profile in PROFILES:
        if profile in hello.capabilities:
            yield _exercise(driver, profile)
    yield _probe("ends after shutdown with exit code 0", lambda: _ends(driver))
    lines = [str(one) for one in driver.inbound.malformed]
    yield Probe("writes only messages to stdout", "; ".join(lines[:3]) or None)


def _probe(name: str, act: Callable[[], str | None]) -> Probe:
    try:
        return Probe(name, act())
    except (DriverFault, Refused) as error:
        return Probe(name, str(error))


def _unknown_method(driver: Driver) -> str | None:
    try:
        answer = driver.finish(driver.begin("no/such-method", unchecked=True), 10)
    except Refused as refusal:
        return None if refusal.code == NOT_SUPPORTED else f"answers with error {refusal.code}, right is {NOT_SUPPORTED}"
    return f"answers {answer}, right is error {NOT_SUPPORTED}"


def _notification(driver: Driver) -> str | None:
    """A notification gets no answer, and the driver goes on."""
    driver.notify("no/such-notification", {})
    return _unknown_method(driver)


def _claims(driver: Driver) -> str | None:
    hello = driver.hello
    assert hello is not None  # noqa: S101 - it introduced itself
    low, high = hello.storage
    if low > high:
        return f"storage versions {low} to {high} are no range"
    strange = sorted(hello.capabilities - KNOWN)
    return f"claims {', '.join(strange)}, which the suite does not know" if strange else None


def _latency(driver: Driver) -> str | None:
    started = time.monotonic()
    for _ in range(ROUNDS):
        _unknown_method(driver)
    each = (time.monotonic() - started) / ROUNDS
    return None if each < 1 else f"needs {each:.1f} s for an answer: a run would take hours"


_PROBES: tuple[tuple[str, Callable[[Driver], str | None]], ...] = (
    ("claims what the suite knows", _claims),
    ("answers an unknown method with the standard error", _unknown_method),
    ("ignores a notification that it does not know", _notification),
    ("answers soon", _latency),
)


def _exercise(driver: Driver, profile: str) -> Probe:
    """Do the simplest thing of a profile."""
    name = f"does the simplest thing of {profile}"
    shared = profile in {"reader", "validator", "migrator"}
    with tempfile.TemporaryDirectory(prefix="adf-conformance-") as place:
        command = driver.command
        scene = Scene(command, Path(place), Ledger(), law=f"{profile}.answers", driver=driver if shared else None)
        with scene:
            try:
                scene.play(_EXERCISES[profile])
            except (Violation, DriverFault, Impossible) as error:
                return Probe(name, f"{error} {scene.stderr[-300:]}".strip())
    return Probe(name, None)


def _ends(driver: Driver) -> str | None:
    status = driver.close()
    if status is None:
        return "still ran 5 s after its answer, and was killed"
    return None if status == 0 else f"ended with exit code {status}"


def _no_common_protocol(command: Sequence[str]) -> Probe:
    name = "refuses a protocol that it does not speak"
    params: dict[str, Any] = {"protocol": {"min": 9999, "max": 9999}, "suite": "smoke", "workdir": "/nonexistent"}
    with Driver(command) as driver:
        try:
            answer = driver.finish(driver.begin("initialize", params), 30)
        except Refused as refusal:
            wrong = f"answers with error {refusal.code}, right is {NO_COMMON_PROTOCOL}"
            return Probe(name, None if refusal.code == NO_COMMON_PROTOCOL else wrong)
        except DriverFault as fault:
            return Probe(name, str(fault))
        return Probe(name, f"answers {answer}")
