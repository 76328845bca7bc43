"""Schedules as data, on a miniature runtime: steps, judges, demands, cases, crashes, shrinking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from suite_support import driver

from adf_conformance.checks import shrinking
from adf_conformance.checks.bench import Bench, Terms
from adf_conformance.evidence import Ledger, Violation
from adf_conformance.protocol import HarnessError
from adf_conformance.running.killing import kill_matrix, replay, strip
from adf_conformance.schedule import Case, Impossible, Scene, judge_names, requests, steps
from adf_conformance.schedule.case import NoCase

BEGIN: list[dict[str, Any]] = [{"do": "create", "config": {}}, {"do": "start"}]
CHAT: list[dict[str, Any]] = [
    {"do": "chat", "text": "Hello"},
    {"do": "await", "loop": "main", "as": "c"},
    {"do": "answer", "call": "c", "text": "Hi."},
    {"do": "idle"},
]


def scene(place: Path, defect: str = "", **more: Any) -> Scene:
    return Scene(driver("miniature", *filter(None, [defect])), place, Ledger(), law="core.answers", patience=5, **more)


def demand(that: dict[str, Any], law: str = "core.chat-row") -> dict[str, Any]:
    return {"do": "demand", "law": law, "that": that}


def test_a_schedule_is_played_and_the_file_tells_what_happened(tmp_path: Path) -> None:
    with scene(tmp_path, judges_named=["file-laws"]) as made:
        made.play([*BEGIN, *CHAT, {"do": "stop"}])
        assert [(entry.role, entry.text) for entry in made.look().transcript()] == [
            ("user", "Hello"),
            ("assistant", "Hi."),
        ]
        assert made.ledger.exercised["core.row-shape"] == 2
        assert made.ledger.exercised["core.stop-alone"] == 1
        assert [moment.open for moment in made.history][3:5] == [["c"], []]


@pytest.mark.parametrize(
    "that",
    [
        {"sql": "SELECT role, text, pos FROM transcript", "is": [["user", "Hello", 0], ["assistant", "Hi.", 1]]},
        {"request": "c", "text": "Hello", "times": 1},
        {"request": "c", "text": "Hello", "times": 1, "role": "user"},
        {"request": "c", "tools": [], "valid": True, "system_with": "kind", "system_without": "cruel"},
        {"calls": 1, "loop": "main", "purpose": "turn"},
        {"alone": "agent.adf"},
        {"kept": "rest", "at": "idle", "is": True},
        {"kept": "rest", "at": "idle", "not": False},
        {"kept": "rest", "at": "idle", "among": [True]},
        {"unchanged": "now"},
        {"member": "now"},
    ],
)
def test_a_demand_that_is_met_counts_as_exercised(that: dict[str, Any], tmp_path: Path) -> None:
    resting = {"do": "call", "method": "agent/idle", "params": {"timeout_ms": 5000}, "keep": "rest"}
    with scene(tmp_path) as made:
        made.play([*BEGIN, *CHAT, resting, {"do": "mark", "as": "now"}, demand(that)])
        assert made.ledger.exercised["core.chat-row"] == 1


@pytest.mark.parametrize(
    ("that", "told"),
    [
        ({"sql": "SELECT count(*) FROM transcript", "is": [[3]]}, "gives [[2]], right is [[3]]"),
        ({"request": "c", "text": "Hello", "times": 2}, "stands there 1 times, right is 2"),
        ({"request": "c", "tools": ["fs_read"]}, "offers the tools [], right is ['fs_read']"),
        ({"request": "c", "tools_with": ["fs_read"]}, "does not offer fs_read"),
        ({"request": "c", "system_with": "cruel"}, "the system prompt lacks 'cruel'"),
        ({"request": "c", "system_without": "kind"}, "the system prompt says 'kind'"),
        ({"calls": 4}, "1 model calls, right is 4"),
        ({"alone": "other.adf"}, "left beside the file: other.adf-wal"),
        ({"unchanged": "before"}, "agent.adf changed"),
        ({"member": "before"}, "agent.adf changed"),
    ],
)
def test_a_demand_that_is_not_met_says_what_is_and_what_is_right(that: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "other.adf-wal").write_bytes(b"")
    with scene(tmp_path) as made:
        made.play([*BEGIN, {"do": "mark", "as": "before"}, *CHAT])
        with pytest.raises(Violation) as caught:
            made.run(demand(that))
    assert told in caught.value.message
    assert caught.value.requirement == "core.chat-row"


def test_what_is_owed_and_does_not_come_breaks_the_law_of_the_step(tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        made.play(BEGIN)
        with pytest.raises(Violation, match=r"a model call of loop main did not come within 0\.1 s") as caught:
            made.run({"do": "await", "loop": "main", "within": 0.1, "law": "loops.wake-idle"})
    assert caught.value.requirement == "loops.wake-idle"


def test_a_refusal_that_is_expected_is_right_and_another_is_not(tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        made.play(BEGIN)
        made.run({"do": "chat", "text": "x", "loop": "nobody", "expect": -32010})
        made.run({"do": "chat", "text": "x", "loop": "nobody", "expect": "refused"})
        with pytest.raises(Violation, match="state/clear is not there, although the profile is claimed"):
            made.run({"do": "clear", "what": "loop", "expect": "refused"})
        with pytest.raises(Violation, match="success is right"):
            made.run({"do": "chat", "text": "x", "loop": "nobody"})


def test_several_requests_may_be_open_at_once(tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        made.play([*BEGIN, CHAT[0], CHAT[1]])
        made.run({"do": "begin", "method": "agent/idle", "params": {"timeout_ms": 5000}, "as": "i"})
        made.run(CHAT[2])
        assert made.run({"do": "finish", "as": "i"}).value == {"idle": True}


def test_drain_answers_until_there_is_rest(tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        made.play([*BEGIN, *[{"do": "chat", "text": f"n{number}"} for number in range(4)]])
        assert made.run({"do": "drain", "text": "yes"}).value == 4
        assert [entry.text for entry in made.look().transcript() if entry.role == "assistant"] == ["yes"] * 4


def test_an_agent_that_never_rests_is_given_up(tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        made.play([*BEGIN, *[{"do": "chat", "text": "x"} for _ in range(3)]])
        with pytest.raises(Violation, match="after 2 answers it still works"):
            made.run({"do": "drain", "limit": 2})


def test_after_a_crash_calls_are_lost_and_a_fresh_process_goes_on(tmp_path: Path) -> None:
    with scene(tmp_path, judges_named=["file-laws"]) as made:
        made.play([*BEGIN, CHAT[0], CHAT[1], {"do": "kill"}])
        assert made.labels["c"].state == "lost"
        with pytest.raises(Impossible, match="is lost"):
            made.run(CHAT[2])
        made.play([{"do": "start"}, {"do": "chat", "text": "again"}, {"do": "drain"}])
        assert made.ledger.exercised["core.crash-sound"] == 1
        assert [entry.text for entry in made.look().transcript()][:2] == ["Hello", "again"]


@pytest.mark.parametrize(
    "step",
    [
        {"do": "dance"},
        {"do": "chat"},
        {"do": "chat", "text": "x", "volume": 11},
        "chat",
    ],
)
def test_what_is_no_step_is_our_mistake(step: Any, tmp_path: Path) -> None:
    assert steps.problem(step)
    with scene(tmp_path) as made, pytest.raises(HarnessError):
        made.run(step)


def test_the_file_laws_see_what_a_runtime_does_wrong(tmp_path: Path) -> None:
    with scene(tmp_path, "leaves-log", judges_named=["file-laws"]) as made:
        made.play([*BEGIN, *CHAT])
        (tmp_path / "agent.adf-wal").write_bytes(b"")
        with pytest.raises(Violation, match=r"core\.stop-alone: left beside the file"):
            made.run({"do": "stop"})


def test_judges_are_known_by_name() -> None:
    assert {"reader", "validator", "migrator", "migrator-crash", "file-laws"} <= set(judge_names())


# --- cases


def test_a_case_survives_being_saved(tmp_path: Path) -> None:
    case = Case("hello", "core.turns", [*BEGIN, *CHAT], ["file-laws"], "core.answers")
    case.save(tmp_path / "case.json")
    assert Case.load(tmp_path / "case.json") == case


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"name": "x", "check": "y", "steps": [{"do": "dance"}]}',
        '{"name":"x","check":"y","steps":[],"format":9}',
    ],
)
def test_what_is_no_case_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(text, encoding="utf-8")
    with pytest.raises(NoCase):
        Case.load(tmp_path / "case.json")


def bench(defect: str = "", **terms: Any) -> Bench:
    command = driver("miniature", *filter(None, [defect]))
    return Bench("core.test", Terms(command, patience=2, shrink_seconds=20, confirmations=1, **terms))


def test_a_failure_is_confirmed_made_smaller_and_muted() -> None:
    made = bench("loses-rows")
    sql = {"sql": "SELECT count(*) FROM transcript WHERE text = 'Hello'", "is": [[1]]}
    noise = [{"do": "idle"}, {"do": "owner", "approves": True}, {"do": "mark", "as": "m"}]
    case = Case("hello", "core.test", [], law="core.answers")
    failure = made.watch(lambda scene: scene.play([*BEGIN, *noise, CHAT[0], *noise[1:], demand(sql)]), case)
    assert failure is not None
    assert (failure.requirement, failure.reproduced) == ("core.chat-row", (1, 1))
    assert [step["do"] for step in failure.case.steps] in (["create", "demand"], ["create", "start", "demand"])
    assert failure.shrunk == 9
    assert made.ledger.muted == {"core.chat-row"}
    assert replay(failure.case, made.terms.command)[0] == "FAILED"


def test_a_death_breaks_the_requirement_to_answer() -> None:
    made = bench("dies")
    steps_ = [*BEGIN, *CHAT, {"do": "chat", "text": "Again"}]
    made.play(Case("die", "core.test", steps_))
    (failure,) = made.failures
    assert failure.requirement == "core.answers"
    assert "exit code 9" in failure.message
    made.play(Case("die", "core.test", steps_))
    assert made.ledger.repeated["core.answers"] == 2


def test_the_kill_matrix_tries_every_model_boundary() -> None:
    made = bench()
    second = [{"do": "chat", "text": "Two"}, {"do": "await", "as": "d"}, {"do": "answer", "call": "d", "text": "2"}]
    case = Case("two", "core.test", [*BEGIN, *CHAT, *second, {"do": "idle"}, {"do": "stop"}])
    boundaries = kill_matrix(made, case)
    assert strip(boundaries) == ".."
    assert made.ledger.exercised["core.crash-sound"] == 2


def test_replay_says_fixed_failed_or_error(tmp_path: Path) -> None:
    sql = {"sql": "SELECT count(*) FROM transcript", "is": [[1]]}
    case = Case("c", "core.test", [*BEGIN, CHAT[0], demand(sql)], requirement="core.chat-row")
    assert replay(case, driver("miniature"))[0] == "FIXED"
    result, why = replay(case, driver("miniature", "loses-rows"))
    assert (result, why.partition(":")[0]) == ("FAILED", "core.chat-row")
    assert replay(case, (str(tmp_path / "nothing"),))[0] == "ERROR"
    assert replay(Case("c", "core.test", [{"do": "answer", "text": "x"}]), driver("miniature"))[0] == "ERROR"


def test_shrinking_leaves_out_steps_and_elements_and_nothing_that_is_needed() -> None:
    rows = [{"seq": number} for number in range(20)]
    case = Case("c", "core.test", [{"do": "idle"}] * 9 + [{"do": "make", "plan": {"entries": rows}}] + [{"do": "stop"}])

    def fails(trial: Case) -> bool:
        makes = [step for step in trial.steps if step["do"] == "make"]
        return bool(makes) and {"seq": 7} in makes[0]["plan"]["entries"] and trial.steps[-1]["do"] == "stop"

    import time

    smaller = shrinking.shrink(case, fails, time.monotonic() + 30)
    assert smaller.steps == [{"do": "make", "plan": {"entries": [{"seq": 7}]}}, {"do": "stop"}]


# --- questions about requests


def message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


USE = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}
TEXT = {"type": "text", "text": "hello"}


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([message("user", TEXT), message("assistant", USE), message("user", RESULT, TEXT)], None),
        ([message("assistant", USE), message("user", RESULT), message("user", TEXT)], None),
        ([message("assistant", USE), message("user", TEXT, RESULT)], "something stands between"),
        ([message("assistant", USE), message("user", TEXT)], "results for [] where the calls ['a'] wait"),
        ([message("assistant", USE), message("assistant", TEXT)], "the tool calls a have no result"),
        ([message("assistant", USE)], "the tool calls a have no result"),
        ([message("user", RESULT)], "results for ['a'] where the calls [] wait"),
    ],
)
def test_loop_162_a_provider_takes_a_sequence_whose_calls_are_directly_answered(
    messages: Any, told: str | None
) -> None:
    problem = requests.sequence_problem({"messages": messages})
    assert problem is None if told is None else told in str(problem)
