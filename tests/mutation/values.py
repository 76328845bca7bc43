"""Valid JSON values made from our schemas: synthesised anew, or an existing value filled up with every optional key."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adf_format.schemas import Checker, document

ISO = "2026-01-01T00:00:00.000Z"
STRINGS = (
    "alpha",
    "a",
    ISO,
    "did:key:z6MkExampleAgent",
    "0.2",
    "1",
    "lib/api.ts:status",
    "ed25519:c2lnbmF0dXJl",
    "sha256:00ff",
    "A" * 16,
    "A" * 12,
    "A" * 43 + "=",
    "A" * 64,
    "a" * 64,
    "A" * 24,
    "A" * 22 + "==",
    "QUJD",
    "/status",
    "wss://example.org/feed",
    "https://example.org",
    "host:1",
    "127.0.0.1:80",
    "turn.completed",
    "turn.*",
    "X_KEY",
    "image/png",
    "org/model",
    "task_aaaaaaaaaaaa",
    "10",
    "1g",
    "a:b",
    "@scope/package",
)


@dataclass(frozen=True)
class Node:
    """A subschema and the document that its local references are relative to."""

    urn: str
    schema: Mapping[str, Any]

    def child(self, schema: Any) -> Node:
        return Node(self.urn, schema)

    def target(self) -> Node:
        """Follow one `$ref`."""
        urn, _, fragment = str(self.schema["$ref"]).partition("#")
        found: Any = document(urn or self.urn)
        for part in fragment.split("/")[1:]:
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return Node(urn or self.urn, found)

    def accepts(self, value: Any) -> bool:
        return Checker(absolute(self)).is_valid(value)


def node_of(urn: str) -> Node:
    return Node(urn, document(urn))


def absolute(node: Node) -> dict[str, Any]:
    """Return a subschema that can be checked on its own: local references name their document."""

    def fix(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: _ref(node, inner) if key == "$ref" else fix(inner) for key, inner in part.items()}
        return [fix(inner) for inner in part] if isinstance(part, list) else part

    return {key: value for key, value in fix(dict(node.schema)).items() if key not in {"$id", "$defs", "$schema"}}


def _ref(node: Node, ref: Any) -> Any:
    return node.urn + ref if isinstance(ref, str) and ref.startswith("#") else ref


def applicable(node: Node, value: Any) -> Iterator[Node]:
    """Yield every subschema that speaks about this very value: through `$ref`, `allOf` and `if`/`then`/`else`."""
    yield node
    if "$ref" in node.schema:
        yield from applicable(node.target(), value)
    for part in node.schema.get("allOf", ()):
        yield from applicable(node.child(part), value)
    if "if" in node.schema:
        branch = "then" if node.child(node.schema["if"]).accepts(value) else "else"
        if branch in node.schema:
            yield from applicable(node.child(node.schema[branch]), value)


def children(nodes: list[Node], value: Any) -> Iterator[tuple[str | int, list[Node]]]:
    """Yield the keys (or one index per shape of item) of a value with the subschemas of each."""
    if isinstance(value, dict):
        for key in value:
            found = list(_of_key(nodes, key))
            if found:
                yield key, found
    elif isinstance(value, list):
        items = [node.child(node.schema["items"]) for node in nodes if isinstance(node.schema.get("items"), dict)]
        seen: set[str] = set()
        for index, item in enumerate(value):
            if items and shape(item) not in seen:
                seen.add(shape(item))
                yield index, items


def _of_key(nodes: list[Node], key: str) -> Iterator[Node]:
    for node in nodes:
        if key in node.schema.get("properties", {}):
            yield node.child(node.schema["properties"][key])
        elif isinstance(node.schema.get("additionalProperties"), dict):
            yield node.child(node.schema["additionalProperties"])


def shape(item: Any) -> str:
    """Name what tells items of one array apart: their keys and their discriminator."""
    if isinstance(item, dict):
        return repr((sorted(item), item.get("type"), item.get("mode")))
    return type(item).__name__


def properties(nodes: list[Node]) -> dict[str, list[Node]]:
    """Return the named properties of an object with all their subschemas."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        for key, schema in node.schema.get("properties", {}).items():
            found.setdefault(key, []).append(node.child(schema))
    return found


def is_past(nodes: list[Node]) -> bool:
    """Whether a key should no longer be written."""
    return any("x-adf-removed" in node.schema or node.schema.get("deprecated") for node in nodes)


def flat(nodes: list[Node]) -> list[Node]:
    """Resolve references without looking at a value."""
    found: list[Node] = []
    for node in nodes:
        found.append(node)
        if "$ref" in node.schema:
            found += flat([node.target()])
        found += flat([node.child(part) for part in node.schema.get("allOf", ()) if "if" not in part])
    return found


def variants(node: Node) -> list[dict[str, Any]]:
    """Return the discriminators (`{"type": "text"}`) that a subschema tells its values apart by."""
    found = []
    for one in flat([node]):
        for part in one.schema.get("allOf", ()):
            wanted = part.get("if", {}).get("properties", {})
            constants = {key: inner["const"] for key, inner in wanted.items() if "const" in inner}
            if constants and "then" in part:
                found.append(constants)
    return found or [{}]


def synthesise(nodes: list[Node], start: dict[str, Any] | None = None, depth: int = 0) -> Any:
    """Make a valid value with every key that is not of the past.

    :raises AssertionError: no valid value was found; teach `STRINGS` one
    """
    every = flat(nodes)
    for keyword, choose in (("const", lambda found: found), ("enum", lambda found: found[0])):
        chosen = [choose(node.schema[keyword]) for node in every if keyword in node.schema]
        if chosen:
            return chosen[0]
    kind = _kind(every)
    if kind == "object":
        return complete(nodes, dict(start or {}), depth)
    if kind == "array":
        return _array(every, depth)
    if kind == "string":
        return _string(nodes, every)
    if kind in {"integer", "number"}:
        return _number(nodes, every)
    return {"boolean": True, "null": None}.get(kind, "anything")


def _kind(nodes: list[Node]) -> str:
    kinds = [node.schema["type"] for node in nodes if "type" in node.schema]
    listed = [[kind] if isinstance(kind, str) else kind for kind in kinds]
    if listed:
        return str(next(kind for kind in listed[0] if all(kind in other for other in listed)))
    if any("properties" in node.schema for node in nodes):
        return "object"
    return "array" if any("items" in node.schema for node in nodes) else "any"


def _array(nodes: list[Node], depth: int) -> list[Any]:
    items = [node.child(node.schema["items"]) for node in nodes if isinstance(node.schema.get("items"), dict)]
    if not items or depth > 8:
        return []
    made = [synthesise(items, variant, depth + 1) for variant in variants(items[0])]
    limit = min((node.schema["maxItems"] for node in nodes if "maxItems" in node.schema), default=len(made))
    return made[:limit]


def _string(nodes: list[Node], every: list[Node]) -> str:
    known = [text for node in every for text in node.schema.get("x-adf-known", ())]
    for text in (*known, *STRINGS):
        if all(node.accepts(text) for node in nodes):
            return str(text)
    raise AssertionError(f"no valid string for {[dict(node.schema) for node in every]}")


def _number(nodes: list[Node], every: list[Node]) -> int:
    limits = [node.schema[key] for node in every for key in ("minimum", "maximum") if key in node.schema]
    for number in (10, 1, 0, 1000, *limits):
        if all(node.accepts(number) for node in nodes):
            return int(number)
    raise AssertionError(f"no valid number for {[dict(node.schema) for node in every]}")


def complete(nodes: list[Node], value: Any, depth: int = 0) -> Any:
    """Fill up a valid value with every key that it lacks and that is not of the past; empty arrays get items."""
    every = [found for node in nodes for found in applicable(node, value)]
    if isinstance(value, dict):
        for key, found in properties(every).items():
            if key not in value and not is_past(flat(found)) and depth < 8:
                _insert(nodes, value, key, synthesise(found, depth=depth + 1))
        if not value and depth < 8:
            extra = [node.child(node.schema["additionalProperties"]) for node in every
                     if isinstance(node.schema.get("additionalProperties"), dict)]  # fmt: skip
            if extra:
                _insert(nodes, value, "alpha", synthesise(extra, depth=depth + 1))
    elif isinstance(value, list) and not value:
        made = _array(every, depth)
        if all(node.accepts(made) for node in nodes):
            value.extend(made)
    for key, found in list(children(every, value)):
        value[key] = complete(found, value[key], depth + 1)
    return value


def _insert(nodes: list[Node], value: dict[str, Any], key: str, made: Any) -> None:
    """Insert a key unless that makes a valid value invalid (keys that exclude each other)."""
    was_valid = all(node.accepts(value) for node in nodes)
    value[key] = made
    if was_valid and not all(node.accepts(value) for node in nodes):
        del value[key]


def bases(urn: str) -> list[Any]:
    """Return valid values of a schema that together hold every key: completed examples and every variant."""
    node = node_of(urn)
    made = [complete([node], copy.deepcopy(example)) for example in node.schema["examples"]]
    if _kind(flat([node])) == "object":
        made += [complete([node], synthesise([node], variant)) for variant in variants(node)]
    elif _kind(flat([node])) == "array":
        made.append(synthesise([node]))
    unique: dict[str, Any] = {}
    for value in made:
        if node.accepts(value):
            unique.setdefault(_outline(value), value)
    return list(unique.values())


def _outline(value: Any) -> str:
    if isinstance(value, dict):
        told = {key: value[key] for key in ("type", "mode") if key in value}
        return repr([told, *((key, _outline(inner)) for key, inner in sorted(value.items()))])
    if isinstance(value, list):
        return repr(sorted({_outline(inner) for inner in value}))
    return type(value).__name__
