"""The protocol layer: whatever a driver does, the right one is blamed, nothing hangs, no process stays."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from suite_support import driver

from adf_conformance.format_data import root
from adf_conformance.protocol import (
    CannotStart,
    Driver,
    DriverDied,
    HarnessError,
    NoAnswer,
    ProtocolError,
    Refused,
    messages,
)
from adf_conformance.protocol import process as processes

VALIDATE = {"path": "/nowhere"}
SCHEMAS = sorted((root() / "protocol").glob("*/1.json"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def started(mode: str, place: Path) -> Driver:
    made = Driver(driver("fake", mode), answer_within=1.0)
    made.initialize(place)
    return made


def gone(pid: int) -> bool:
    """Say whether a process ends within the time that the system needs to end it."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
    return False


def test_a_driver_introduces_itself_and_ends_by_itself(place: Path) -> None:
    made = started("good", place)
    assert made.hello is not None
    assert (made.hello.name, made.hello.storage, made.hello.capabilities) == ("fake", (21, 32), {"validator"})
    assert made.call("file/validate", VALIDATE) == {"valid": True, "findings": []}
    assert made.close() == 0
    assert gone(made.pid)


@pytest.mark.parametrize("mode", ["hang", "deaf"])
def test_a_driver_that_does_not_answer_is_not_waited_for(mode: str, place: Path) -> None:
    with started(mode, place) as made, pytest.raises(NoAnswer, match="file/validate within 1 s"):
        made.call("file/validate", VALIDATE)
    assert gone(made.pid)


def test_the_end_of_a_driver_is_noticed_at_once_with_its_exit_code(place: Path) -> None:
    with started("die", place) as made:
        begun = time.monotonic()
        with pytest.raises(DriverDied, match=r"exit code 3\) while it was to answer file/validate") as caught:
            made.call("file/validate", VALIDATE, 30)
        assert caught.value.status == 3
        assert time.monotonic() - begun < 20


def test_lines_that_are_no_messages_are_kept_with_their_bytes_and_end_nothing(place: Path) -> None:
    with started("garbage", place) as made:
        assert made.call("file/validate", VALIDATE)["valid"]
        told = [str(one) for one in made.inbound.malformed]
        assert made.inbound.malformed_count == 10
        assert told[0] == "not JSON (Expecting value: line 1 column 1 (char 0)): b'hello'"
        assert "not UTF-8" in told[2] or "not JSON" in told[2]
        assert "no JSON-RPC message" in told[3]
        assert "was not made (id 'nobody')" in told[4]


def test_a_flood_on_stdout_is_counted_and_kept_within_bounds(place: Path) -> None:
    with started("flood", place) as made:
        assert made.call("file/validate", VALIDATE, 30)["valid"]
        assert made.inbound.malformed_count == 2000
        assert len(made.inbound.malformed) == 20
        assert all(len(one.line) <= 200 for one in made.inbound.malformed)


def test_stderr_is_no_failure_and_only_its_end_is_kept(place: Path) -> None:
    with started("chatty", place) as made:
        assert made.call("file/validate", VALIDATE)["valid"]
        assert made.close() == 0
        assert set(made.stderr_tail) == {"y"}
        assert len(made.stderr_tail) == processes.STDERR_KEPT


def test_a_line_without_a_newline_is_named_as_such(place: Path) -> None:
    made = started("unfinished", place)
    assert made.close() == 0
    (line,) = made.inbound.malformed
    assert str(line) == "no newline at the end of the line: a message ends with one, flushed: b'{\"jsonrpc\"'"


def test_a_line_that_never_ends_is_cut(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LINE_LIMIT", 500)
    with started("long-line", place) as made:
        assert made.call("file/validate", VALIDATE, 30)["valid"]
        assert made.inbound.malformed_count == 1
        assert made.inbound.malformed[0].reason.startswith("no newline")


@pytest.mark.parametrize("mode", ["grandchild", "escaped-grandchild"])
def test_descendants_that_hold_the_pipes_open_end_with_the_driver(mode: str, place: Path) -> None:
    with started(mode, place) as made:
        (child,) = _children(made.pid)
        begun = time.monotonic()
        made.close()
        assert time.monotonic() - begun < 5
    assert gone(child)


def _children(pid: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1] == str(pid):
                    yield int(entry.name)
            except OSError:
                continue


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("wrong-shape", "answer to file/validate: "),
        ("ask-nonsense", "model/complete of the driver: "),
        ("ask-unknown", "'coffee/make', which the suite does not have"),
    ],
)
def test_a_bad_message_of_the_driver_is_its_fault(mode: str, told: str, place: Path) -> None:
    with started(mode, place) as made, pytest.raises(ProtocolError, match=told):
        _ = [made.call("file/validate", VALIDATE) for _ in range(2)]


def test_a_protocol_that_was_not_offered_is_refused(place: Path) -> None:
    with Driver(driver("fake", "other-protocol")) as made, pytest.raises(ProtocolError, match="chose protocol 2"):
        made.initialize(place)


def test_a_bad_message_of_the_suite_is_our_fault_and_not_sent(place: Path) -> None:
    with started("good", place) as made:
        with pytest.raises(HarnessError, match="no method 'file/eat'"):
            made.call("file/eat")
        with pytest.raises(HarnessError, match="file/validate: "):
            made.call("file/validate", {"path": 7})


def test_the_standard_error_alone_means_not_supported(place: Path) -> None:
    with started("claims-only", place) as made:
        with pytest.raises(Refused) as caught:
            made.call("file/validate", VALIDATE)
        assert caught.value.unsupported


def test_a_command_that_cannot_be_started_is_named() -> None:
    with pytest.raises(CannotStart, match="/no/such/driver: No such file"):
        Driver(["/no/such/driver"])


# --- the schemas


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.parent.name)
def test_a_schema_is_called_by_its_path_and_its_examples_hold(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema["$id"] == f"urn:adf-format:protocol:{path.parent.name}:1"
    assert schema["title"]
    assert schema["description"]
    assert schema["examples"]
    method = path.parent.name.replace("-", "/", 1)
    for example in schema["examples"]:
        if path.parent.name not in {"envelope", "model-error"}:
            assert messages.params_problem(method, example["params"]) is None
            assert "result" not in example or messages.result_problem(method, example["result"]) is None
        elif path.parent.name == "envelope":
            assert messages.envelope_problem(example) is None
        else:
            assert messages.model_error_problem(example) is None


def test_every_method_has_a_schema_and_every_schema_a_method() -> None:
    methods = messages.TO_DRIVER | messages.REQUESTS_TO_SUITE | messages.NOTIFICATIONS_TO_SUITE
    names = {path.parent.name for path in SCHEMAS}
    assert {method.replace("/", "-") for method in methods} == names - {"envelope", "model-error"}


def test_values_that_a_fast_checker_cannot_hold_are_checked_all_the_same() -> None:
    entry = {"seq": 2**80, "role": "user", "content_json": [{"type": "text", "text": "\ud83d", "n": float("nan")}]}
    assert messages.result_problem("transcript/read", {"entries": [entry]}) is None
    wrong = {"seq": "one", "role": "\ud83d", "content_json": []}
    assert messages.result_problem("transcript/read", {"entries": [wrong]}) is not None
