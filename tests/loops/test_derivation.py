"""The effective configuration of a loop: loops.md section 2."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import loops
from adf_format.config.fresh import defaults
from adf_format.config.tools import enabled
from adf_format.loops import Refused, classify, create, derive, effective_tools, grantable, update
from adf_format.loops.derive import threshold
from adf_format.schemas import LATEST

NOW = "2026-02-01T00:00:00.000Z"


def tool(name: str, *, on: bool = True, **more: Any) -> dict[str, Any]:
    """A declaration of a tool."""
    return {"name": name, "enabled": on, "visible": on, **more}


def config(*tools: dict[str, Any], loop: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """An agent with these tools and the loop `a`."""
    declared = {"name": "a", "goal": "The goal.", "enabled": True, **(loop or {})}
    base = defaults(LATEST) | {
        "name": "Agent",
        "handle": "agent",
        "instructions": "SECRET INSTRUCTIONS",
        "metadata": {},
    }
    return base | {"tools": list(tools), "loops": [declared]} | changes


def names(agent: dict[str, Any]) -> set[str]:
    """Names of the tools that loop `a` may call."""
    return set(enabled(derive(agent, "a")))


def test_LOOP_030_everything_else_is_inherited() -> None:
    """What the section does not override comes out as it went in."""
    agent = config(mcp={"servers": [{"name": "s"}]}, security={"level": 2}, limits={"max_active_turns": 3}, extra=[1])
    derived = derive(agent, "a")
    kept = {key for key in agent if derived[key] == agent[key]}
    assert set(agent) - kept <= {"tools", "loops", "instructions", "context", "code_execution", "metadata", "triggers"}


def test_LOOP_031_derivation_is_pure() -> None:
    """Neither side sees what is done to the other."""
    agent = config(tool("fs_read"), loop={"tools": ["fs_read"], "model": {"provider": "p"}})
    before = copy.deepcopy(agent)
    derived = derive(agent, "a")
    assert agent == before
    derived["limits"]["x"] = derived["metadata"]["x"] = derived["tools"][0]["x"] = 1
    derived["triggers"]["on_chat"] = None
    assert agent == before
    agent["limits"]["max_active_turns"] = 7
    assert derived["limits"].get("max_active_turns") != 7


def test_LOOP_032_main_is_not_derived() -> None:
    """It runs the agent's own configuration."""
    with pytest.raises(ValueError, match="main"):
        derive(config(), "main")
    with pytest.raises(LookupError):
        derive(config(), "nobody")


def test_LOOP_033_loops_do_not_nest() -> None:
    """The derived configuration declares none, and is marked."""
    derived = derive(config(), "a")
    assert derived["loops"] == []
    assert derived["metadata"]["loop_name"] == "a"


def test_LOOP_034_tools_are_the_intersection() -> None:
    """Named, enabled, not prohibited, not restricted; nothing else is implicit."""
    tools = [
        tool("fs_read"),
        tool("fs_write"),
        tool("off", on=False),
        tool("gated", restricted=True),
        tool("loop_send"),
    ]
    tools += [tool("loop_manage"), tool("loop_compact", on=False), tool("loop_clear", on=False)]
    agent = config(*tools, loop={"tools": ["fs_read", "off", "gated", "loop_manage", "unknown"]})
    assert names(agent) == {"fs_read"}


def test_LOOP_035_granted_is_callable_and_shown() -> None:
    """Visibility is the business of `main` alone."""
    agent = config({"name": "fs_read", "enabled": True, "visible": False}, loop={"tools": ["fs_read"]})
    found = [one for one in derive(agent, "a")["tools"] if one["name"] == "fs_read"]
    assert found == [{"name": "fs_read", "enabled": True, "visible": True}]


@pytest.mark.parametrize("order", [1, -1])
def test_LOOP_036_of_repeated_declarations_the_gate_sticks(order: int) -> None:
    """Restricted from any copy counts, enabled from the first (regression 30)."""
    copies = [tool("x"), tool("x", restricted=True)][::order]
    assert "x" not in names(config(*copies, loop={"tools": ["x"]}))
    derived = derive(config(*copies), "a")["tools"]
    assert sum(one["name"] == "x" for one in derived) == 1
    assert "y" not in names(config(tool("y", on=False), tool("y"), loop={"tools": ["y"]}))


def test_LOOP_037_derived_declarations_carry_no_gate() -> None:
    """Three keys and no more; what is not granted is off and hidden (regression 31)."""
    agent = config(tool("x", restricted=True, locked=True), tool("y", locked=True), loop={"tools": ["x", "y"]})
    derived = {one["name"]: one for one in derive(agent, "a")["tools"]}
    assert all(set(one) == {"name", "enabled", "visible"} for one in derived.values())
    assert derived["x"] == {"name": "x", "enabled": False, "visible": False}


def test_LOOP_038_tools_of_a_restricted_server_are_out() -> None:
    """The server is found by its declared name, underscores included (question 4)."""
    servers = {"servers": [{"name": "my_files", "restricted": True}, {"name": "open"}]}
    agent = config(tool("mcp_my_files_read"), tool("mcp_open_read"), mcp=servers)
    agent["loops"][0]["tools"] = ["mcp_my_files_read", "mcp_open_read"]
    assert names(agent) >= {"mcp_open_read"}
    assert "mcp_my_files_read" not in names(agent)


@pytest.mark.parametrize("name", ["loop_compact", "loop_clear"])
def test_LOOP_039_two_tools_are_on_by_default(name: str) -> None:
    """Undeclared and enabled grant it, disabled and restricted do not."""
    assert name in names(config())
    assert name in names(config(tool(name)))
    assert name not in names(config(tool(name, on=False)))
    assert name not in names(config(tool(name, restricted=True)))
    fresh = defaults(LATEST) | {"loops": [{"name": "a", "goal": "g", "enabled": True}]}
    assert name not in names(fresh)


def test_LOOP_040_a_name_is_classified_in_this_order() -> None:
    """Hard-prohibited, undeclared, restricted, disabled, fine."""
    agent = config(tool("loop_manage"), tool("both", on=False, restricted=True), tool("off", on=False), tool("on"))
    judged = {name: classify(agent, name) for name in ("loop_manage", "none", "both", "off", "on")}
    expected = {"loop_manage": "prohibited", "none": "unknown", "both": "prohibited", "off": "disabled", "on": "ok"}
    assert judged == expected


def test_LOOP_041_a_refusal_lists_what_can_be_granted() -> None:
    """Offenders are named, and each name in the list would be accepted."""
    agent = config(tool("on"), tool("gated", restricted=True), tool("off", on=False))
    for names_ in (["on", "nope"], ["gated"]):
        with pytest.raises(Refused) as refusal:
            create(agent, {"name": "b", "goal": "g", "tools": names_}, now=NOW)
        offered = str(refusal.value).rsplit("Grantable tools: ", 1)[1].split(", ")
        assert offered == grantable(agent) == ["on"]
        assert names_[-1] in str(refusal.value)
    create(agent, {"name": "b", "goal": "g", "tools": grantable(agent)}, now=NOW)


def test_LOOP_042_LOOP_043_a_disabled_tool_waits() -> None:
    """It is stored, excluded for now, and granted once the owner enables it (regression 42)."""
    agent = config(tool("off", on=False))
    edit = create(agent, {"name": "b", "goal": "g", "tools": ["off"]}, now=NOW)
    assert edit.excluded == ("off",)
    assert edit.loop["tools"] == ["off"]
    assert "off" not in edit.tools
    edit.config["tools"] = [tool("off")]
    assert "off" in effective_tools(edit.config, edit.loop)
    carried = config(tool("other"), loop={"tools": ["later"]})
    assert "later" not in names(carried)
    assert "later" in names(carried | {"tools": [tool("later")]})
    assert update(carried, "a", {"goal": "New."}, now=NOW).loop["tools"] == ["later"]


def test_LOOP_045_instructions_are_the_preamble_and_the_goal() -> None:
    """The goal stands verbatim at the end; the agent's instructions do not appear."""
    instructions = derive(config(loop={"goal": "Line one.\n {{x}} line two."}), "a")["instructions"]
    assert instructions.endswith("Line one.\n {{x}} line two.")
    assert "SECRET" not in instructions


def test_LOOP_046_the_preamble_says_what_a_loop_must_know() -> None:
    """Which loop, whose, what is shared, who owns the outside, how to reach others, when to stop; and is short."""
    both = derive(config(tool("loop_send"), tool("loop_list"), loop={"tools": ["loop_send", "loop_list"]}), "a")
    text = both["instructions"]
    for word in ("`a`", "`agent`", "shared", "`main`", "`loop_send`", "`loop_list`", "stop"):
        assert word in text
    assert len(text.split()) < 220
    mute = derive(config(), "a")["instructions"]
    assert "no way to address" in mute
    assert "loop_send" not in mute
    assert "loop_list" not in mute


def test_LOOP_047_the_model_follows_that_of_the_agent() -> None:
    """Without an override; with one the loop keeps its own (regression 37)."""
    agent = config(model={"provider": "p", "model_id": "one"})
    assert derive(agent, "a")["model"]["model_id"] == "one"
    assert derive(agent | {"model": {"provider": "p", "model_id": "two"}}, "a")["model"]["model_id"] == "two"


@pytest.mark.parametrize(
    ("loop", "context", "model", "expected"),
    [(7, 8, 9, 7), (None, 8, 9, 8), (None, None, 9, 9), (None, None, None, 100_000), ("x", 0, True, 100_000)],
)
def test_LOOP_048_the_threshold_is_the_nearest(loop: Any, context: Any, model: Any, expected: int) -> None:
    """Loop, then agent, then the old place in the agent's model, then 100,000; never that of an override."""
    declared = {"compact_threshold": loop, "model": {"provider": "p", "compact_threshold": 5}}
    agent = config(loop=declared, context={"compact_threshold": context}, model={"compact_threshold": model})
    assert threshold(agent, agent["loops"][0]) == expected


def test_LOOP_049_the_code_profile_is_narrowed() -> None:
    """Seven methods are off whatever the agent says, five are on unless the agent turned them off, no packages."""
    on = dict.fromkeys(("network", "get_identity", "set_identity", "task_resolve", "attestation_issue"), True)
    code = on | {"model_invoke": False, "packages": [{"name": "x", "version": "1"}]}
    derived = derive(config(code_execution=code), "a")["code_execution"]
    assert not any(derived[name] for name in on)
    assert derived["model_invoke"] is False
    assert (
        derived["loop_inject"] is derived["sys_lambda"] is derived["emit_event"] is derived["identity_status"] is True
    )
    assert derived["packages"] == []


def test_LOOP_050_restricted_methods_are_never_fewer() -> None:
    """Issuing an attestation is always among them, the agent's own stay."""
    derived = derive(config(code_execution={"restricted_methods": ["network"]}), "a")
    assert derived["code_execution"]["restricted_methods"] == ["attestation_issue", "network"]


def test_LOOP_051_only_triggers_that_name_the_loop_stay() -> None:
    """Absent means `main`, system scope is out, an empty trigger disappears."""
    targets = [{"scope": "agent", "loop": "a"}, {"scope": "system", "loop": "a"}, {"scope": "agent"}]
    triggers = {"on_timer": {"enabled": True, "targets": targets}, "on_chat": {"enabled": True, "targets": targets[1:]}}
    derived = derive(config(triggers=triggers), "a")["triggers"]
    assert derived == {"on_timer": {"enabled": True, "targets": [{"scope": "agent", "loop": "a"}]}}


def test_LOOP_053_audit_is_inherited() -> None:
    """Whether a clear is archived is the agent's decision."""
    agent = config(context={"audit": {"loop": False}}, audit={"loop": True})
    derived = derive(agent, "a")
    assert derived["context"]["audit"] == {"loop": False}
    assert derived["audit"] == {"loop": True}


def test_LOOP_058_an_override_needs_code_execution() -> None:
    """Without sys_code and sys_lambda the loop runs on the agent's model."""
    model = {"provider": "p", "model_id": "mine"}
    agent = config(tool("sys_code", on=False), loop={"model": model}, model={"provider": "q", "model_id": "agent"})
    assert derive(agent, "a")["model"]["model_id"] == "agent"
    for name in ("sys_code", "sys_lambda"):
        assert derive(agent | {"tools": [tool(name)]}, "a")["model"] == model


NAMES = ["fs_read", "loop_send", "loop_clear", "loop_manage", "sys_code", "mcp_s_t"]
TOOL = st.fixed_dictionaries({"name": st.sampled_from(NAMES), "enabled": st.booleans(), "restricted": st.booleans()})


@given(
    tools=st.lists(TOOL, max_size=8),
    named=st.lists(st.sampled_from([*NAMES, "unknown"]), max_size=8),
    gate=st.booleans(),
)
def test_a_loop_never_exceeds_the_agent(tools: list[dict[str, Any]], named: list[str], gate: bool) -> None:
    """Whatever is declared: granted tools are enabled on the agent or on by default, and none is gated there."""
    agent = config(*tools, loop={"tools": named}, mcp={"servers": [{"name": "s", "restricted": gate}]})
    granted = names(agent)
    gated = {one["name"] for one in tools if one["restricted"]} | ({"mcp_s_t"} if gate else set())
    assert not granted & gated
    assert granted <= (enabled(agent) & set(named)) | {"loop_compact", "loop_clear"}
    assert granted == set(loops.effective_tools(agent, agent["loops"][0]))
