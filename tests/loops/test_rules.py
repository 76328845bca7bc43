"""What the declaration of a loop may say: loops.md section 1, as far as it is about one configuration."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import loops
from adf_format.config.fresh import defaults
from adf_format.loops import Refused, create, delete, problems, update
from adf_format.schemas import LATEST

NOW = "2026-02-01T00:00:00.000Z"


def config(*declared: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A fresh agent with some loops."""
    return defaults(LATEST) | {"loops": list(declared), "metadata": {"updated_at": "old", "created_at": "x"}} | changes


def loop(name: str = "a", **fields: Any) -> dict[str, Any]:
    """A valid declaration."""
    return {"name": name, "goal": "Tend.", "enabled": True} | fields


def test_LOOP_001_absent_loops_equal_none_and_are_not_written() -> None:
    """A configuration without loops derives and loads like one with an empty array, and loading adds nothing."""
    without = {key: value for key, value in config().items() if key != "loops"}
    assert loops.loaded(without) == without
    assert create(without, {"name": "a", "goal": "g"}, now=NOW).config["loops"][0]["name"] == "a"


@pytest.mark.parametrize("missing", ["name", "goal", "enabled"])
def test_LOOP_002_name_goal_and_enabled_are_required(missing: str) -> None:
    """Each of the three fields is demanded; without any other field a declaration is complete."""
    assert problems(loop()) == []
    assert problems({key: value for key, value in loop().items() if key != missing})


@pytest.mark.parametrize("name", ["r", "loop-2", "consolidator_v2", "2fast", "x" * 32])
def test_LOOP_003_LOOP_004_names_that_a_loop_can_have(name: str) -> None:
    """The names of the fact sheet are accepted."""
    assert loops.is_name(name)
    assert problems(loop(name)) == []


@pytest.mark.parametrize(
    "name",
    ["", "x" * 33, "-leading-dash", "_x", "Reflector", "MAIN", "main ", " main", "a b", "a\nb", "a\n", "loop:main",
     "../../etc"],
)  # fmt: skip
def test_LOOP_003_LOOP_004_names_that_no_loop_can_have(name: str) -> None:
    """The whole name must fit, a line break at its end included (regression 53)."""
    assert not loops.is_name(name)
    assert problems(loop(name))
    with pytest.raises(Refused, match="Invalid loop config"):
        create(config(), loop(name), now=NOW)


def test_LOOP_005_main_is_reserved() -> None:
    """`main` is never an entry."""
    assert any("reserved" in problem for problem in problems(loop("main")))
    with pytest.raises(Refused, match="main"):
        create(config(), loop("main"), now=NOW)


def test_LOOP_006_names_are_unique_whatever_the_case() -> None:
    """A stored name in another case counts as taken."""
    with pytest.raises(Refused, match="already exists"):
        create(config(loop("GARDENER")), loop("gardener"), now=NOW)


@pytest.mark.parametrize(("length", "fine"), [(0, False), (1, True), (4000, True), (4001, False)])
def test_LOOP_007_goals_have_1_to_4000_characters(length: int, fine: bool) -> None:
    """Characters are code points (question 1)."""
    assert (problems(loop(goal="ä" * length)) == []) is fine


def test_LOOP_008_only_false_disables() -> None:
    """A file without the key runs the loop; writing demands it."""
    from adf_format.config.loops import disabled

    declared = [{"name": "a", "goal": "g"}, loop("b", enabled=False), loop("c", enabled=None)]
    assert disabled({"loops": declared}) == {"b"}
    assert problems({"name": "a", "goal": "g"})


def test_LOOP_009_creators_write_autostart() -> None:
    """The default of a creator is true, and it is stored; a literal false stays."""
    assert create(config(), {"name": "a", "goal": "g"}, now=NOW).loop["autostart"] is True
    assert create(config(), {"name": "a", "goal": "g", "autostart": False}, now=NOW).loop["autostart"] is False


def test_LOOP_010_autonomous_is_not_inherited() -> None:
    """An autonomous agent has loops that are not, and the other way round."""
    agent = config(loop("a"), loop("b", autonomous=True), autonomous=True)
    assert loops.derive(agent, "a")["autonomous"] is False
    assert loops.derive(agent | {"autonomous": False}, "b")["autonomous"] is True


def test_LOOP_011_at_most_64_tools_in_their_order() -> None:
    """64 names pass, 65 do not; absent behaves like none; the order is kept."""
    assert problems(loop(tools=[f"t{number}" for number in range(64)])) == []
    assert problems(loop(tools=[f"t{number}" for number in range(65)]))
    assert problems(loop(tools=[""]))
    assert loops.effective_tools(config(), loop()) == loops.effective_tools(config(), loop(tools=[]))
    assert loops.effective_tools(config(), loop(tools=["msg_read", "fs_read"]))[:2] == ["msg_read", "fs_read"]


@pytest.mark.parametrize("name", ["sys_update_config", "loop_manage", "sys_create_adf"])
def test_LOOP_012_three_tools_are_never_granted(name: str) -> None:
    """Listing one is invalid on writing, and without effect on loading."""
    assert problems(loop(tools=[name]))
    agent = config(loop(tools=[name]))
    assert name not in loops.effective_tools(agent, agent["loops"][0])


@pytest.mark.parametrize(
    ("value", "fine"), [(1, True), (None, True), (0, False), (-1, False), (1.5, False), ("5", False)]
)
def test_LOOP_013_thresholds_are_positive_integers(value: object, fine: bool) -> None:
    """Null and absent both inherit."""
    assert (problems(loop(compact_threshold=value)) == []) is fine


def test_LOOP_014_a_model_is_complete_and_replaces_that_of_the_agent() -> None:
    """The provider is required, the rest has defaults, and nothing is merged."""
    assert problems(loop(model={"provider": "p"})) == []
    assert problems(loop(model={"model_id": "m"}))
    assert problems(loop(model={"provider": ""}))
    assert problems(loop(model={"provider": "p", "temperature": 2.5}))
    assert problems(loop(model={"provider": "p", "max_tokens": 0}))
    agent = config(loop(model={"provider": "p"}), model={"provider": "q", "model_id": "big", "top_p": 0.5})
    assert loops.derive(agent, "a")["model"] == {"provider": "p"}


def test_LOOP_015_the_provider_may_be_another() -> None:
    """Create and update take any provider."""
    agent = config(model={"provider": "q", "model_id": "big"})
    made = create(agent, loop(model={"provider": "p", "model_id": "small"}), now=NOW)
    assert update(made.config, "a", {"model": {"provider": "r"}}, now=NOW).loop["model"] == {"provider": "r"}


def test_LOOP_016_sixteen_loops_and_no_more() -> None:
    """The 16th is made, the 17th refused; disabled ones count, `main` does not."""
    agent = config(*(loop(f"l{number}", enabled=False) for number in range(15)))
    full = create(agent, loop("l15"), now=NOW).config
    assert len(full["loops"]) == 16
    with pytest.raises(Refused, match=r"maximum \(16\)"):
        create(full, loop("l16"), now=NOW)


def test_LOOP_018_an_old_violation_does_not_forbid_a_change() -> None:
    """What was broken before may stay; what the change breaks is refused, and nothing comes out."""
    agent = config(loop("a", goal="", tools=["nope"]))
    assert update(agent, "a", {"autostart": True}, now=NOW).loop["autostart"] is True
    with pytest.raises(Refused, match="Invalid loop config"):
        update(agent, "a", {"compact_threshold": 0}, now=NOW)


def test_LOOP_020_unknown_keys_survive_an_update_and_are_ignored_by_create() -> None:
    """Whatever stands in the file stays there."""
    agent = config(loop("a", **{"x-mine": {"deep": [1]}}), **{"x-other": 1})
    edit = update(agent, "a", {"goal": "New."}, now=NOW)
    assert edit.loop["x-mine"] == {"deep": [1]}
    assert edit.config["x-other"] == 1
    assert "x-mine" not in create(config(), loop("b", **{"x-mine": 1}), now=NOW).loop


def test_LOOP_022_a_stored_marker_is_dropped() -> None:
    """`metadata.loop_name` of a derived configuration must not bind `main` to another stream (regression 40)."""
    stored = config(metadata={"loop_name": "gardener", "created_at": "x"})
    assert loops.loaded(stored)["metadata"] == {"created_at": "x"}
    assert "loop_name" in stored["metadata"]


def test_LOOP_076_each_edit_refreshes_the_date_and_nothing_else() -> None:
    """Other fields of the configuration come out as they went in."""
    agent = config(loop("a"), instructions="Mine.")
    for edit in (
        create(agent, loop("b"), now=NOW),
        update(agent, "a", {"goal": "New."}, now=NOW),
        delete(agent, "a", now=NOW),
    ):
        assert edit.config["metadata"]["updated_at"] == NOW
        rest = {key: value for key, value in edit.config.items() if key not in ("loops", "metadata")}
        assert rest == {key: value for key, value in agent.items() if key not in ("loops", "metadata")}


def test_LOOP_077_a_loop_without_a_list_gets_the_seed() -> None:
    """The seed is stored, without what the agent cannot grant; an empty list stays empty (regression 43)."""
    agent = config()
    assert create(agent, {"name": "a", "goal": "g"}, now=NOW).loop["tools"] == list(loops.DEFAULT_NEW_LOOP_TOOLS)
    assert create(agent, {"name": "a", "goal": "g", "tools": []}, now=NOW).loop["tools"] == []
    for tool in agent["tools"]:
        if tool["name"] == "loop_list":
            tool["enabled"] = False
    assert create(agent, {"name": "a", "goal": "g"}, now=NOW).loop["tools"] == ["loop_send", "sys_set_state"]


def test_LOOP_078_what_is_left_out_is_not_stored() -> None:
    """Enabled is written, overrides are not, null included."""
    made = create(config(), {"name": "a", "goal": "g", "model": None, "compact_threshold": None}, now=NOW).loop
    assert made["enabled"] is True
    assert not {"model", "compact_threshold"} & made.keys()


def test_LOOP_090_LOOP_096_updates_replace_what_they_name() -> None:
    """Lists and models are not merged, null takes an override away, the rest stays."""
    agent = config(
        loop("a", tools=["fs_read", "fs_list"], model={"provider": "p", "model_id": "m"}, compact_threshold=9)
    )
    edit = update(agent, "a", {"tools": ["fs_write"], "model": None, "compact_threshold": None}, now=NOW)
    assert edit.loop == loop("a", tools=["fs_write"])
    assert set(edit.changed) == {"tools", "model", "compact_threshold"}


def test_LOOP_091_a_refused_update_changes_nothing() -> None:
    """The result of merging is judged, and the input is never touched."""
    agent = config(loop("a"))
    before = copy.deepcopy(agent)
    with pytest.raises(Refused):
        update(agent, "a", {"goal": "x" * 4001}, now=NOW)
    assert agent == before


def test_LOOP_092_no_renaming_and_no_empty_update() -> None:
    """Another name is refused; the same name alone changes nothing, which is refused too."""
    agent = config(loop("a"))
    with pytest.raises(Refused, match="cannot be renamed"):
        update(agent, "a", {"name": "b", "goal": "New."}, now=NOW)
    with pytest.raises(Refused, match="Nothing to update"):
        update(agent, "a", {"name": "a"}, now=NOW)
    assert update(agent, "a", {"name": "a", "goal": "New."}, now=NOW).loop["goal"] == "New."


def test_LOOP_112_main_and_unknown_loops_cannot_be_changed() -> None:
    """The refusal of an unknown name tells those that exist."""
    for act in (lambda name: update(config(loop("a")), name, {"goal": "g"}, now=NOW),
                lambda name: delete(config(loop("a")), name, now=NOW)):  # fmt: skip
        with pytest.raises(Refused, match="`main` cannot be"):
            act("main")
        with pytest.raises(Refused, match="there are: a"):
            act("nobody")


@pytest.mark.parametrize("lock", ["loops", "loops.0.goal"])
def test_LOOP_120_a_lock_forbids_every_edit(lock: str) -> None:
    """The sentence is the one that everybody uses (regression 27)."""
    agent = config(loop("a"), locked_fields=[lock])
    for act in (lambda: create(agent, loop("b"), now=NOW), lambda: update(agent, "a", {"goal": "g"}, now=NOW),
                lambda: delete(agent, "a", now=NOW)):  # fmt: skip
        with pytest.raises(Refused) as refusal:
            act()
        assert str(refusal.value) == "'loops' is locked."
    assert not loops.is_locked(config(locked_fields=["loopsy", "model"]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELD = st.sampled_from(["name", "goal", "enabled", "autostart", "autonomous", "model", "compact_threshold", "tools"])


@given(wanted=st.dictionaries(FIELD, JSON, max_size=8), base=st.booleans())
def test_whatever_is_created_or_updated_is_valid_or_refused(wanted: dict[str, Any], base: bool) -> None:
    """No input makes an edit fail in another way, and what comes out of one has no problem."""
    agent = config(loop("a"))
    for act in (
        lambda: create(agent, (loop("b") if base else {}) | wanted, now=NOW),
        lambda: update(agent, "a", wanted, now=NOW),
    ):
        try:
            edit = act()
        except Refused:
            continue
        assert problems(edit.loop) == []
        assert not set(edit.tools) & {"sys_update_config", "loop_manage", "sys_create_adf"}
