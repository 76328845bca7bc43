"""Who is who among the loops: goal, state, tools, how it is woken, and how much it has said."""

from __future__ import annotations

from typing import Any

from adf_format.config.loops import declared
from adf_format.config.tools import enabled
from adf_format.history.model import MAIN
from adf_format.loops.derive import effective_tools, find
from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.html import Safe, el, html
from adf_format.view.links import beside, here, loop_id
from adf_format.view.pieces import first_line, shape
from adf_format.view.words import counted, short

TOOLS = 64


def order(config: dict[str, Any], known: list[str]) -> list[str]:
    """Return loops as they are shown: `main`, the declared ones as declared, the others by name."""
    first = [MAIN, *(name for _, name, _ in declared(config))]
    return [*dict.fromkeys(name for name in first if name in known), *(name for name in known if name not in first)]


def tools_of(config: dict[str, Any], loop: str) -> list[str]:
    """Return the tools that a loop really has (LOOP-034, LOOP-039); `main` has what the agent enables."""
    return sorted(enabled(config)) if loop == MAIN else effective_tools(config, find(config, loop) or {})


def state_of(view: View, loop: str) -> str:
    """Return what a loop is: running, disabled, deleted, or only rows that nothing declares."""
    if loop == MAIN:
        return "always on"
    for _, name, one in declared(view.agent.config):
        if name == loop:
            return "disabled" if one.get("enabled") is False else "enabled"
    known = view.known.loops.get(loop)
    return "not declared" if known is not None and known.live else "deleted"


def cards(view: View) -> Safe:
    """Return a card for every loop."""
    return el("ul", [_card(view, name) for name in view.loops], class_="loops")


def _card(view: View, loop: str) -> Safe:
    look, state = identity(loop), state_of(view, loop)
    one = next((one for _, name, one in declared(view.agent.config) if name == loop), {})
    marks = [el("span", state, class_=f"tag state-{state.replace(' ', '-')}")]
    marks += [el("span", word, class_="tag") for word in ("autostart", "autonomous") if one.get(word) is True]
    name = el("a", shape(look.shape), loop, href=_address(view, loop), class_="who")
    tools = tools_of(view.agent.config, loop)
    return el(
        "li",
        el("h4", name, marks),
        el("p", goal(view, loop), class_="goal", dir="auto"),
        _numbers(view, loop),
        _tools(tools) if state in ("enabled", "disabled", "always on") else None,
        class_=f"loop {look.css}",
    )


def _address(view: View, loop: str) -> Any:
    pages = view.page_names.get(loop)
    return beside(pages[0]) if pages else here(loop_id(loop))


def goal(view: View, loop: str) -> str:
    """Return what a loop is for; of `main`, the beginning of the agent's instructions."""
    if loop == MAIN:
        instructions = view.agent.config.get("instructions")
        told = first_line(instructions, 300) if isinstance(instructions, str) else ""
        return told or "The loop that deals with the outside world: owner, messages, channels."
    charter = next((one.get("goal") for _, name, one in declared(view.agent.config) if name == loop), None)
    if isinstance(charter, str) and charter:
        return first_line(charter, 400)
    deleted = state_of(view, loop) == "deleted"
    return "Deleted; what it said is kept in the archive." if deleted else "No goal is declared."


def _numbers(view: View, loop: str) -> Safe:
    found, known = view.index.loops.get(loop), view.known.loops.get(loop)
    parts = []
    if known is not None:
        archived = (known.archived - known.live).count()
        parts.append(f"{known.live.count():,} live")
        parts += [f"{archived:,} archived"] if archived else []
    if found is not None and found.usage.calls:
        parts.append(f"{short(found.usage.totals['input'])} in, {short(found.usage.totals['output'])} out")
    return el("p", " · ".join(parts), class_="numbers")


def _tools(tools: list[str]) -> Safe:
    names = el("ul", [el("li", first_line(name, 80)) for name in tools[:TOOLS]], class_="names")
    more = html(f"and {len(tools) - TOOLS} more") if len(tools) > TOOLS else None
    if not tools:
        return el("p", "No tools: it only thinks.", class_="numbers")
    return el("details", el("summary", counted(len(tools), "tool")), names, more, class_="quiet")
