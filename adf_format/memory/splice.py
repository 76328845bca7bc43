"""Changing one value in a JSON text, and no other byte of it (MEM-053)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import decode

_BLANK = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+', re.DOTALL)
_INDENT = "  "


@dataclass(frozen=True)
class Node:
    """A value in a text.

    :ivar start: offset of its first character; :ivar end: after its last
    :ivar members: of an object: offset of each key, by key; :ivar items: values of an object by key, or of an array
    """

    start: int
    end: int
    keys: dict[str, int] = field(default_factory=dict)
    members: dict[str, Node] = field(default_factory=dict)
    items: tuple[Node, ...] = ()


def parse(text: str) -> Node:
    """Return where everything is.

    :raises JsonTextError: not JSON, a key that occurs twice, or nested too deeply
    """
    twice = decode(text).duplicates
    if twice:
        raise JsonTextError(f"the key {twice[0]!a:.60} occurs twice")
    try:
        return _node(text, _skip(text, 0))
    except RecursionError:
        raise JsonTextError("nested too deeply to be changed") from None


def set_member(text: str, node: Node, key: str, value: Any) -> str:
    """Give a member of an object a value; a new one comes last, laid out as those before it."""
    if key in node.members:
        old = node.members[key]
        return text[: old.start] + _json(value) + text[old.end :]
    member = f"{json.dumps(key, ensure_ascii=False)}: {_json(value)}"
    if not node.members:
        return text[: node.start + 1] + member + text[node.end - 1 :]
    last = max(node.members.values(), key=lambda one: one.end)
    return text[: last.end] + "," + (_before(text, max(node.keys.values())) or " ") + member + text[last.end :]


def remove_member(text: str, node: Node, key: str) -> str:
    """Take a member out of an object, with one comma."""
    return _without(text, node.start, node.keys[key], node.members[key].end)


def append_item(text: str, node: Node, value: Any) -> str:
    """Add a value at the end of an array, indented below it."""
    ending = "\r\n" if "\r\n" in text else "\n"
    margin = re.match(r"[ \t]*", text[text.rfind("\n", 0, node.start) + 1 :])
    outer = margin[0] if margin else ""
    if node.items:
        gap = _before(text, node.items[-1].start)
        inner = gap.rpartition("\n")[2] if "\n" in gap else outer + _INDENT
        at = node.items[-1].end
        return f"{text[:at]},{ending}{inner}{_json(value, inner, ending)}{text[at:]}"
    inner = outer + _INDENT
    body = f"{ending}{inner}{_json(value, inner, ending)}{ending}{outer}"
    return text[: node.start + 1] + body + text[node.end - 1 :]


def remove_item(text: str, node: Node, index: int) -> str:
    """Take a value out of an array, with one comma."""
    one = node.items[index]
    return _without(text, node.start, one.start, one.end)


def _without(text: str, opening: int, start: int, end: int) -> str:
    """Cut a stretch out of a list, with the comma before it, or after it if it is the first."""
    before = text[:start].rstrip(" \t\r\n")
    if before.endswith(","):
        return before[:-1] + text[end:]
    after = _skip(text, end)
    if text[after] == ",":
        return text[:start] + text[_skip(text, after + 1) :]
    return text[: opening + 1] + text[after:]


def _before(text: str, at: int) -> str:
    """Return the blanks before an offset."""
    found = re.search(r"[ \t\r\n]*\Z", text[:at])
    return found[0] if found else ""


def _json(value: Any, margin: str = "", ending: str = "\n") -> str:
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", ending + margin)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _node(text: str, at: int) -> Node:
    if text[at] not in "{[":
        found = _SCALAR.match(text, at)
        return Node(at, found.end() if found else at)
    keys: dict[str, int] = {}
    members: dict[str, Node] = {}
    items: list[Node] = []
    closing = "}" if text[at] == "{" else "]"
    place = _skip(text, at + 1)
    while text[place] != closing:
        if closing == "}":
            key = _node(text, place)
            name = json.loads(text[key.start : key.end])
            keys[name] = key.start
            members[name] = value = _node(text, _skip(text, _skip(text, key.end) + 1))
        else:
            value = _node(text, place)
            items.append(value)
        place = _skip(text, value.end)
        place = _skip(text, place + 1) if text[place] == "," else place
    return Node(at, place + 1, keys, members, tuple(items))
