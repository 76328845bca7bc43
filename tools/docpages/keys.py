"""The keys of a JSON Schema of ours as flat rows, one per place in the value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adf_format.schemas import document
from adf_format.schemas.store import resolve
from tools.docpages.markdown import code, value

Schema = Mapping[str, Any]
When = tuple[str, tuple[str, ...]]
BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} keys",
}
MISSING = object()
ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
SHARED = 3  # keys that describe the same things are told once if there are at least so many


@dataclass(frozen=True)
class Key:
    """One place in a value.

    :ivar path: keys joined by dots; `[]` for each item of an array, `*` for any key; empty for the value itself
    :ivar when: condition under which it counts: a key and its values
    :ivar severity: severity of its absence, or None if it may be absent
    :ivar schema: its schema, a reference to another document not followed
    :ivar start: first storage version, as text
    """

    path: str
    schema: Schema
    when: When | None = None
    severity: str | None = None
    start: str = ""

    @property
    def other(self) -> str | None:
        """URN of the document that describes the value, if it is another one."""
        target: Any = self.schema.get("$ref") or self.schema.get("contentSchema", {}).get("$ref")
        return str(target) if target and "#" not in target else None

    @property
    def items(self) -> str | None:
        """URN of the document that describes each item."""
        target = self.schema.get("items", {})
        target = target.get("$ref") if isinstance(target, Mapping) else None
        return str(target) if target and "#" not in target else None

    @property
    def condition(self) -> str:
        """The condition in words, empty if there is none."""
        return f"When {code(self.when[0])} is {' or '.join(map(code, self.when[1]))}: " if self.when else ""

    def facts(self) -> tuple[str | None, ...]:
        """What is compared between two versions and between two keys."""
        return must(self), given(self, "default"), given(self, "x-adf-create"), self.other, self.items


def keys(
    schema: Schema, base: str, path: str = "", when: When | None = None, seen: tuple[int, ...] = ()
) -> Iterator[Key]:
    """Yield every key below a schema, in its order; local references are followed, those to other documents not."""
    if schema.get("$ref") and local(schema, base) is schema:
        return
    schema = local(schema, base)
    mark = id(schema.get("properties", schema))
    if mark in seen:
        return
    seen = (*seen, mark)
    required = schema.get("required", ())
    for name, declared in schema.get("properties", {}).items():
        inner = local(declared, base)
        if when and name == when[0]:
            continue
        place = f"{path}.{name}" if path else name
        yield Key(place, inner, when, _severity(schema, name) if name in required else None)
        yield from keys(inner, base, place, when, seen)
    yield from _inside(schema, base, path, when, seen)


def _inside(schema: Schema, base: str, path: str, when: When | None, seen: tuple[int, ...]) -> Iterator[Key]:
    for keyword, sign in (("items", "[]"), ("additionalProperties", ".*" if path else "*")):
        inner = schema.get(keyword)
        if isinstance(inner, Mapping) and not (keyword == "items" and "properties" in schema):
            yield from keys(inner, base, path + sign, when, seen)
    for part in schema.get("allOf", ()):
        if "then" in part:
            yield from keys(part["then"], base, path, condition(part["if"]), seen)


def local(schema: Schema, base: str) -> Schema:
    """Follow a reference into the same document; keywords beside it go before those behind it."""
    target = schema.get("$ref", "")
    if target.startswith("#"):
        target = base + target
    if target.startswith(f"{base}#"):
        return {**resolve({"$ref": target}), **{key: item for key, item in schema.items() if key != "$ref"}}
    return schema


def condition(schema: Schema) -> When:
    """Return the key and the values that an `if` asks for."""
    ((name, inner),) = schema["properties"].items()
    return name, (inner["const"],) if "const" in inner else tuple(inner["enum"])


def merged(found: Iterable[Key]) -> list[Key]:
    """Return the keys with those that are the same under several conditions, or below several keys, told once."""
    kept: dict[tuple[Any, ...], Key] = {}
    for key in found:
        same = (key.path, key.when and key.when[0], key.start, key.facts(), key.schema.get("description"))
        if same in kept and key.when:
            before = kept[same].when or key.when
            kept[same] = replace(key, when=(key.when[0], (*before[1], *key.when[1])))
        else:
            kept[same if same not in kept else (*same, len(kept))] = key
    return _shared(list(kept.values()))


def _shared(found: list[Key]) -> list[Key]:
    """Tell once, below `*`, what is the same below every top-level key that has keys of its own."""
    groups: dict[tuple[Any, ...], list[Key]] = {}
    heads = {head for head, dot, _ in (key.path.partition(".") for key in found) if dot}
    for key in found:
        tail = key.path.partition(".")[2]
        if tail:
            groups.setdefault((tail, key.when, key.start, key.facts(), key.schema.get("description")), []).append(key)
    common = [same for same in groups.values() if len(same) >= max(SHARED, len(heads))]
    told = {id(key) for same in common for key in same}
    own = [key for key in found if id(key) not in told]
    return own + [replace(same[0], path=f"*.{same[0].path.partition('.')[2]}") for same in common]


def _paths(places: list[tuple[str, When | None]]) -> str:
    """List the paths, those that differ only in their first key once, below `*`."""
    tails = Counter(path.partition(".")[2] for path, _ in places)
    often = {tail for tail, count in tails.items() if tail and count >= SHARED}
    shown = (f"*.{path.partition('.')[2]}" if path.partition(".")[2] in often else path for path, _ in places)
    return ", ".join(map(code, dict.fromkeys(shown)))


def _severity(schema: Schema, name: str) -> str:
    declared = schema.get("x-adf-severity", {}).get("required", "error")
    return str(declared if isinstance(declared, str) else declared.get(name, "error"))


def must(key: Key) -> str:
    """Say in words what a value must be; a constraint whose violation is no error names its severity."""
    schema = key.schema
    parts = [_kind(schema), *(_constraint(schema, keyword) for keyword in schema if keyword in _CONSTRAINTS)]
    parts += [text for part in schema.get("allOf", ()) if "then" not in part for text in _constraints(part)]
    items = schema.get("items")
    if isinstance(items, Mapping) and "$ref" not in items:
        inner = ", ".join(part for part in (_kind(items), *_constraints(items)) if part)
        parts.append(f"each {inner}" if inner and inner != "object" else "")
    if isinstance(schema.get("additionalProperties"), Mapping):
        parts.append(
            f"values {_kind(schema['additionalProperties'])}".strip() if schema["additionalProperties"] else ""
        )
    if "propertyNames" in schema:
        parts += [f"keys: {text}" for text in _constraints(schema["propertyNames"])]
    if key.severity:
        parts.append("**required**" if key.severity == "error" else f"required ({key.severity})")
    return "; ".join(part for part in parts if part)


def _constraints(schema: Schema) -> list[str]:
    return [_constraint(schema, keyword) for keyword in schema if keyword in _CONSTRAINTS]


def _kind(schema: Schema) -> str:
    kinds = schema.get("type", [])
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


_CONSTRAINTS = {*BOUNDS, "enum", "const", "pattern", "uniqueItems", "x-adf-known"}


def _constraint(schema: Schema, keyword: str) -> str:
    limit = schema[keyword]
    if keyword in {"minLength", "minItems"} and limit == 1:
        text = "not empty"
    elif keyword in BOUNDS:
        text = BOUNDS[keyword].format(limit)
    elif keyword == "enum":
        text = "one of " + ", ".join(code(str(one)) for one in limit)
    elif keyword == "const":
        text = f"only {value(limit)}"
    elif keyword == "pattern" and limit == ISO:
        text = "like `2026-01-31T08:00:00.000Z`"
    elif keyword == "pattern":
        text = f"form {code(limit)}"
    elif keyword == "x-adf-known":
        text = f"{len(limit)} values known so far" if len(limit) > 12 else "known: " + ", ".join(map(code, limit))
    else:
        text = "no item twice"
    severity = schema.get("x-adf-severity", {}).get(keyword, "error")
    return text if severity == "error" else f"{text} ({severity})"


def given(key: Key, keyword: str) -> str:
    """Return the default or the created value as text, empty if there is none."""
    found = key.schema.get(keyword, MISSING)
    return "" if found is MISSING else value(found)


def since(key: Key) -> str:
    """Return the first storage version of a key, and what became of it."""
    if _removed(key):
        return f"{key.start}, removed at {key.schema['x-adf-removed']}"
    return f"{key.start}, deprecated" if _old(key) else key.start


def started(history: Sequence[str]) -> list[Key]:
    """Return the keys of the newest of some versions of a document, each with its first storage version.

    That is what the key or one above it says, else the first version of the document that has it.
    """
    first: dict[tuple[str, When | None], str] = {}
    for urn in history:
        for key in keys(document(urn), urn):
            first.setdefault((key.path, key.when), urn.rpartition(":")[2])
    said: dict[str, str] = {}
    found = []
    for key in keys(document(history[-1]), history[-1]):
        above = max((path for path in said if key.path.startswith((f"{path}.", f"{path}["))), key=len, default="")
        own = str(key.schema.get("x-adf-since", said.get(above, "")))
        if own:
            said[key.path] = own
        found.append(replace(key, start=own or first[key.path, key.when]))
    return found


def changes(older: str, newer: str) -> list[str]:
    """Say what changed between two versions of a document."""
    before, after = ({(key.path, key.when): key for key in keys(document(urn), urn)} for urn in (older, newer))
    both = [place for place in after if place in before]
    groups = {
        "new": [place for place in after if place not in before],
        "gone": [place for place in before if place not in after],
        "removed": [place for place in both if _removed(after[place]) and not _removed(before[place])],
        "deprecated": [place for place in both if _old(after[place]) and not _old(before[place])],
        "changed": [
            place for place in both if before[place].facts() != after[place].facts() and not _removed(after[place])
        ],
    }
    said = [f"{word}: {_paths(found)}" for word, found in groups.items() if found]
    return said or ["texts and details only"]


def _removed(key: Key) -> bool:
    return "x-adf-removed" in key.schema


def _old(key: Key) -> bool:
    return bool(key.schema.get("deprecated")) and not _removed(key)
