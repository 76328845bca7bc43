"""Tool calls: a chip that tells what was called, with what and how it went, and unfolds input and output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.html import Safe, el, html
from adf_format.view.index import delivery_key, delivery_of
from adf_format.view.links import here
from adf_format.view.pieces import code, details, first_line, icon, pairs, shape, written

NAME = 80
_FIRST = (
    "path",
    "to_loop",
    "to",
    "loop",
    "name",
    "query",
    "sql",
    "url",
    "command",
    "key",
    "state",
    "instructions",
    "code",
)


@dataclass(frozen=True)
class Result:
    """The answer to a call.

    :ivar seq: row that it stands in; :ivar anchor: whether the row is shown nowhere else
    """

    seq: int
    block: dict[str, Any]
    anchor: bool

    @property
    def failed(self) -> bool:
        """Whether it is an error."""
        return self.block.get("is_error") is True

    @property
    def text(self) -> str:
        """What the tool gave."""
        return written(self.block.get("content", ""))


def name_of(block: dict[str, Any]) -> str:
    """Return the name of a called tool."""
    name = block.get("name")
    return name[:NAME] if isinstance(name, str) and name else "?"


def call(view: View, loop: str, seq: int, block: dict[str, Any], result: Result | None) -> Safe:
    """Return a call and its result."""
    sent = delivery_of(block)
    if sent is not None:
        return _delivery(view, loop, seq, block, sent, result)
    state = _state(block)
    if state is not None:
        return _state_change(block, state, result)
    name, failed = name_of(block), result is not None and result.failed
    head = [icon("tool"), el("b", name, class_="name"), el("span", _argument(block), class_="arg"), _outcome(result)]
    return details(html(head), _input(block), _output(result), class_=f"chip tool{' failed' if failed else ''}")


def lonely_result(result: Result) -> Safe:
    """Return a result whose call is not before it."""
    failed = result.failed
    head = [icon("tool"), el("b", "result", class_="name"), el("span", "its call is not here", class_="arg")]
    return details(html(head, _outcome(result)), _output(result), class_=f"chip tool{' failed' if failed else ''}")


def _argument(block: dict[str, Any]) -> str:
    call_input = block.get("input")
    if not isinstance(call_input, dict):
        return first_line(written(call_input)) if call_input is not None else ""
    for key in (*_FIRST, *call_input):
        value = call_input.get(key)
        if isinstance(value, str) and value:
            return first_line(value, 90)
    return first_line(written(call_input), 90) if call_input else ""


def _outcome(result: Result | None) -> Safe:
    if result is None:
        return el("span", "no result", class_="outcome none")
    if result.failed:
        words = html(icon("alert"), el("span", "error: ", class_="sr"), first_line(result.text, 80) or "failed")
        return el("span", words, class_="outcome bad")
    return el("span", el("span", "result: ", class_="sr"), first_line(result.text, 80) or "done", class_="outcome ok")


def _input(block: dict[str, Any]) -> Safe:
    call_input = block.get("input")
    shown = pairs(call_input) if isinstance(call_input, dict) and call_input else code(written(call_input))
    number = el("span", first_line(str(block.get("id") or "no id"), 60), class_="id")
    return el("div", el("div", "Input ", number, class_="lab"), shown, class_="io")


def _output(result: Result | None) -> Safe:
    if result is None:
        return el("div", "No result of this call is in the transcript.", class_="io lab")
    label = "Error" if result.failed else "Output"
    link = el("a", f"S{result.seq}", href=here(f"S{result.seq}"), class_="seq")
    anchor = f"S{result.seq}" if result.anchor else None
    return el("div", el("div", label, " ", link, class_="lab"), code(result.text), class_="io", id=anchor)


def _state(block: dict[str, Any]) -> str | None:
    call_input = block.get("input")
    state = call_input.get("state") if isinstance(call_input, dict) else None
    return state[:NAME] if block.get("name") == "sys_set_state" and isinstance(state, str) else None


def _state_change(block: dict[str, Any], state: str, result: Result | None) -> Safe:
    failed = result is not None and result.failed
    head = [icon("state"), "state → ", el("b", state, class_="name"), _outcome(result) if failed else None]
    return details(html(head), _input(block), _output(result), class_=f"chip state{' failed' if failed else ''}")


def _delivery(
    view: View, loop: str, seq: int, block: dict[str, Any], sent: tuple[str, str], result: Result | None
) -> Safe:
    target, message = sent
    look = identity(target)
    link = _other_side(view, delivery_key(loop, target, message), seq)
    wakes = isinstance(block.get("input"), dict) and block["input"].get("wake") is True
    head = el(
        "div",
        icon("send"),
        "to ",
        el("b", shape(look.shape), target[:NAME], class_=f"who {look.css}"),
        el("span", "wakes it", class_="tag") if wakes else None,
        link,
        class_="from",
    )
    body = el("div", view.markdown(message), class_="md", dir="auto")
    more = details("the call", _input(block), _output(result), class_="quiet")
    return el("div", head, body, more, class_=f"card sent {look.css}")


def _other_side(view: View, key: str, seq: int) -> Safe | None:
    """Link a call to the row that it caused: the first one after it."""
    found = next((one for one in view.index.received.get(key, ()) if one > seq), None)
    address = view.targets.seq(found) if found is not None else None
    return el("a", f"arrived as S{found}", href=address, class_="jump") if address else None
