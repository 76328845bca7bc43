"""Single faults of a JSON value, read off its schema: each keyword of each subschema is broken on its own."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from adf_format.schemas.checker import pointer as pointer_of
from mutation.values import Node, applicable, children, flat, is_past, node_of, properties, synthesise

WRONG = ("?", 7, 1.5, True, [], {})
NEAR = {"string": 7, "integer": 1.5, "number": "7", "boolean": 1, "array": {}, "object": [], "null": 0}


@dataclass(frozen=True)
class JsonFault:
    """One fault.

    :ivar kind: what was done: `type:object`, `required:id`, `maximum` …
    :ivar pointer: where it stands afterwards (the object, for a missing key)
    :ivar value: the whole mutated value
    """

    kind: str
    pointer: str
    value: Any


def faults(urn: str, value: Any) -> Iterator[JsonFault]:
    """Yield every single fault of a valid value."""
    seen: dict[tuple[str, str], list[Any]] = {}
    for path, kind, change in _walk([node_of(urn)], value, ()):
        made = _changed(value, path, change)
        known = seen.setdefault((pointer_of(path), kind), [])
        if not any(_same(made, other) for other in known):
            known.append(made)
            yield JsonFault(kind + f"~{len(known)}" * (len(known) > 1), pointer_of(path), made)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def _changed(root: Any, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Any:
    """Copy the way from the root to the changed value, share the rest."""
    if not path:
        return change(copy.deepcopy(root))
    head, *rest = path
    made = root.copy()
    made[head] = _changed(root[head], tuple(rest), change)
    return made


Fault = tuple[tuple[str | int, ...], str, Callable[[Any], Any]]


def _walk(nodes: list[Node], value: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    every = [found for node in nodes for found in applicable(node, value)]
    for kind, change in of_value(every, value):
        yield path, kind, change
    if isinstance(value, dict):
        for kind, change in _of_object(every, value):
            yield path, kind, change
        yield from _past_keys(every, value, path)
    for key, found in children(every, value):
        yield from _walk(found, value[key], (*path, key))


def _put(made: Any) -> Callable[[Any], Any]:
    return lambda _: copy.deepcopy(made)


def of_value(nodes: list[Node], value: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    types = [node.schema["type"] for node in nodes if "type" in node.schema]
    if types:
        allowed = set.intersection(*({kind} if isinstance(kind, str) else set(kind) for kind in types))
        near = [NEAR[kind] for kind in sorted(allowed)]
        wrong = [other for other in (*near, *WRONG) if not _is(other, allowed)]
        # the nearest wrong type, a text or number, an array or object
        for other in (wrong[0], wrong[1], wrong[-1]):
            yield f"type:{type(other).__name__}", _put(other)
        if "null" not in allowed:
            yield "null", _put(None)
    for node in nodes:
        for keyword, limit in node.schema.items():
            breaker = _BREAKERS.get(keyword)
            if breaker is not None:
                for number, wrong in enumerate(breaker(limit, value)):
                    yield f"{keyword}{f':{number}' if number else ''}", _put(wrong)


def _is(value: Any, allowed: set[str]) -> bool:
    names = {str: "string", bool: "boolean", list: "array", dict: "object", float: "number"}
    if type(value) is int:
        return bool({"integer", "number"} & allowed)
    return names[type(value)] in allowed


def _enum(limit: list[Any], value: Any) -> Iterator[Any]:
    yield "unheard-of"
    if isinstance(value, str) and value.swapcase() not in limit and value.swapcase() != value:
        yield value.swapcase()


def _const(limit: Any, value: Any) -> Iterator[Any]:
    if isinstance(limit, str):
        yield limit + "x"
    elif isinstance(limit, bool):
        yield not limit
    else:
        yield limit + 1


def _pattern(limit: str, value: Any) -> Iterator[Any]:
    if not isinstance(value, str):
        return
    test = re.compile(limit.removesuffix("$") + r"\Z" if limit.endswith("$") else limit)
    candidates = (value + "\n", value + "!", " " + value, value.upper(), "", "é é", "\0")
    broken = [text for text in candidates if not test.search(text)]
    assert broken, f"nothing breaks {limit}"
    yield from broken[:3]


def _min_length(limit: int, value: Any) -> Iterator[Any]:
    if isinstance(value, str) and limit > 0:
        yield "a" * (limit - 1)


def _max_length(limit: int, value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield "a" * (limit + 1)


def _min_items(limit: int, value: Any) -> Iterator[Any]:
    if isinstance(value, list) and limit > 0:
        yield value[: limit - 1]


def _max_items(limit: int, value: Any) -> Iterator[Any]:
    if isinstance(value, list) and value:
        yield [*value, *(_numbered(value[-1], number) for number in range(limit + 1 - len(value)))]


def _numbered(item: Any, number: int) -> Any:
    """Make a copy of an item that is not equal to it, so that nothing but the number of items is wrong."""
    if isinstance(item, str):
        return f"{item}{number}"
    if isinstance(item, dict):
        named = [key for key in ("name", "id") if isinstance(item.get(key), str)]
        return {**item, **dict.fromkeys(named, f"n{number}")}
    return item


def _unique(limit: bool, value: Any) -> Iterator[Any]:
    if limit and isinstance(value, list) and value:
        yield [*value, value[0]]


def _number(step: int) -> Callable[[Any, Any], Iterator[Any]]:
    def breaker(limit: Any, value: Any) -> Iterator[Any]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield limit + step

    return breaker


def _max_properties(limit: int, value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and value:
        first = next(iter(value.values()))
        yield value | {f"more-{number}": first for number in range(limit + 1 - len(value))}


def _names(limit: dict[str, Any], value: Any) -> Iterator[Any]:
    if isinstance(value, dict) and value:
        key = next(iter(value))
        for wrong in _pattern(limit["pattern"], key):
            yield {wrong: value[key]}


def _encoding(limit: str, value: Any) -> Iterator[Any]:
    if isinstance(value, str) and limit == "base64":
        yield "*not base64*"
        yield value[:-1]


_BREAKERS: dict[str, Callable[[Any, Any], Iterator[Any]]] = {
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minLength": _min_length,
    "maxLength": _max_length,
    "minItems": _min_items,
    "maxItems": _max_items,
    "uniqueItems": _unique,
    "minimum": _number(-1),
    "maximum": _number(1),
    "exclusiveMinimum": _number(0),
    "exclusiveMaximum": _number(0),
    "maxProperties": _max_properties,
    "propertyNames": _names,
    "contentEncoding": _encoding,
}
HANDLED = frozenset(_BREAKERS) | {
    "type", "required", "properties", "items", "additionalProperties", "allOf", "if", "then", "else", "$ref", "$defs",
    "deprecated", "x-adf-removed",
}  # fmt: skip
ANNOTATIONS = frozenset(
    {
        "$schema", "$id", "title", "description", "default", "examples", "contentMediaType", "contentSchema",
        "x-adf-source", "x-adf-severity", "x-adf-known", "x-adf-since", "x-adf-create", "x-adf-column", "x-adf-table",
    }
)  # fmt: skip


def _of_object(nodes: list[Node], value: dict[str, Any]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for node in nodes:
        for key in node.schema.get("required", ()):
            if key in value:
                yield f"required:{key}", lambda found, key=key: {k: v for k, v in found.items() if k != key}
    if properties(nodes):
        yield "unknown-key", lambda found: {**found, "zz_unknown": 1}


def _past_keys(nodes: list[Node], value: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Yield a fault for each key that should no longer be there, at the place of that key."""
    for key, found in properties(nodes).items():
        if key in value or not is_past(flat(found)):
            continue
        retired = any("x-adf-removed" in node.schema for node in flat(found))
        made = True if retired else synthesise(found)
        yield (
            path,
            f"{'retired' if retired else 'deprecated'}:{key}",
            lambda old, key=key, made=made: {**old, key: made},
        )
        if not retired:
            for kind, change in of_value(flat(found), made):
                yield path, f"deprecated:{key}:{kind}", lambda old, key=key, change=change: {**old, key: change(None)}
