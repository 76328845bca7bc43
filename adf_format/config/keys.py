"""The keys of a value against those of its schema: unknown, deprecated and removed ones.

Our schemas accept every key (STO-016). A place of a schema that lists `properties` and says nothing of others is
closed for this purpose: a key it does not list is unknown. `additionalProperties` opens it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple

from adf_format.config.memory import SectionMemory
from adf_format.schemas import Checker, document

Located = tuple[str, Mapping[str, Any]]  # URN of the document, and a subschema of it
Path = tuple[str | int, ...]


class Remark(NamedTuple):
    """A key that is worth a remark; `path` ends with it."""

    what: Literal["unknown", "deprecated", "removed"]
    path: Path


class Place:
    """One place of a schema: all subschemas that apply to the same value."""

    def __init__(self, parts: Iterable[Located]) -> None:
        self._parts = tuple(parts)
        self._variants: dict[tuple[bool, ...], Place] = {}

    @classmethod
    def of(cls, schemas: Iterable[Located]) -> Place:
        """Return the place of some subschemas and of all that they refer to."""
        return cls(part for urn, schema in schemas for part in _flatten(urn, schema))

    @cached_property
    def children(self) -> dict[str, Place]:
        """Places of the listed keys."""
        found: dict[str, list[Located]] = {}
        for urn, part in self._parts:
            for key, schema in part.get("properties", {}).items():
                found.setdefault(key, []).append((urn, schema))
        return {key: Place.of(schemas) for key, schemas in found.items()}

    @cached_property
    def rest(self) -> Place | None:
        """Place of every key that is not listed; None if nothing is said of them."""
        return self._below("additionalProperties")

    @cached_property
    def items(self) -> Place | None:
        """Place of the items of an array."""
        return self._below("items")

    @cached_property
    def closed(self) -> bool:
        """Whether a key that is not listed is unknown."""
        return self.rest is None and any("properties" in part for _, part in self._parts)

    @cached_property
    def is_anything(self) -> bool:
        """Whether nothing is said of the value, so that any key may stand in it."""
        return not any(word in part for _, part in self._parts for word in ("type", "properties", "items", "enum"))

    @cached_property
    def required(self) -> frozenset[str]:
        """Keys that must be there."""
        return frozenset(key for _, part in self._parts for key in part.get("required", ()))

    @cached_property
    def is_created(self) -> bool:
        """Whether a fresh file holds this key."""
        return any("x-adf-create" in part for _, part in self._parts)

    @cached_property
    def retired(self) -> Literal["deprecated", "removed"] | None:
        """Whether the presence of this key is worth a remark."""
        if any("x-adf-removed" in part for _, part in self._parts):
            return "removed"
        deprecated = [part for _, part in self._parts if part.get("deprecated")]
        quiet = all(part.get("x-adf-severity", {}).get("deprecated") == "info" for part in deprecated)
        return None if quiet else "deprecated"

    def applying_to(self, value: object) -> Place:
        """Return the place with the branches of `if` that a value takes."""
        if not self._conditions:
            return self
        taken = tuple(test.is_valid(value) for test, _, _ in self._conditions)
        if taken not in self._variants:
            branches = [then if yes else other for yes, (_, then, other) in zip(taken, self._conditions, strict=True)]
            more = (part for branch in branches if branch for part in _flatten(*branch))
            self._variants[taken] = Place((*self._parts, *more))
        return self._variants[taken]

    @cached_property
    def _conditions(self) -> list[tuple[Checker, Located | None, Located | None]]:
        """Tests with the subschemas of either outcome, as far as those say something of keys."""
        found = []
        for urn, part in self._parts:
            branches = [(urn, part[word]) if _speaks_of_keys(part.get(word)) else None for word in ("then", "else")]
            if "if" in part and any(branches):
                found.append((Checker(part["if"]), branches[0], branches[1]))
        return found

    def _below(self, keyword: str) -> Place | None:
        found = [(urn, part[keyword]) for urn, part in self._parts if part.get(keyword, False) is not False]
        schemas = [(urn, schema) for urn, schema in found if isinstance(schema, Mapping)]
        return Place.of(schemas) if found else None


@cache
def place(urn: str) -> Place:
    """Return the top of a schema document."""
    return Place.of([(urn, document(urn))])


MOST = 200_000  # remarks on one section; nobody reads so many
_MEMORY: SectionMemory[list[Remark]] = SectionMemory()


def remarks(top: Place, value: object, path: Path = ()) -> Iterator[Remark]:
    """Yield the keys in a value that its schema does not know, or knows as deprecated or removed."""
    if isinstance(value, dict):
        here = top.applying_to(value)
        children, rest = here.children, here.rest
        for key, item in value.items():
            child = children.get(key, rest)
            if child is None:
                if here.closed:
                    yield Remark("unknown", (*path, key))
            else:
                if child.retired:
                    yield Remark(child.retired, (*path, key))
                if isinstance(item, (dict, list)):
                    yield from remarks(child, item, (*path, key))
    elif isinstance(value, list) and top.items is not None:
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from remarks(top.items, item, (*path, index))


def remarks_by_section(urn: str, config: object) -> Iterator[Remark]:
    """Yield the remarks on a configuration, drawn once for each section that is the same in many files."""
    top = place(urn)
    if not isinstance(config, dict):
        yield from remarks(top, config)
        return
    for key, section in config.items():
        alone = {key: section}
        yield from _MEMORY.recall((urn, key), section, lambda: list(itertools.islice(remarks(top, alone), MOST)))  # noqa: B023


def is_optional(top: Place, value: Any, pointer: str) -> bool:
    """Whether the value at a JSON pointer stands under a key that may be left out."""
    *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    for part in parents:
        here = top.applying_to(value)
        below = here.items if isinstance(value, list) else here.children.get(part, here.rest)
        if below is None:
            return False
        top, value = below, value[int(part)] if isinstance(value, list) else value[part]
    return isinstance(value, dict) and last not in top.applying_to(value).required


def names_field(top: Place, dotted: str) -> bool:
    """Whether a dotted path names a field; items of an array have no part of their own in it (CFG 7)."""
    here = top
    for part in dotted.split("."):
        while here.items is not None:
            here = here.items
        below = here.children.get(part, here.rest)
        if below is None:
            return False
        here = below
        if here.is_anything:
            return True
    return True


def _flatten(urn: str, schema: Mapping[str, Any]) -> Iterator[Located]:
    yield urn, schema
    if "$ref" in schema:
        yield from _flatten(*_follow(urn, schema["$ref"]))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            yield from _flatten(urn, branch)


def _follow(urn: str, reference: str) -> Located:
    target, _, fragment = reference.partition("#")
    found: Any = document(target or urn)
    for part in fragment.split("/")[1:]:
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return target or urn, found


def _speaks_of_keys(schema: Any) -> bool:
    words = {"properties", "additionalProperties", "items", "required", "$ref"}
    return isinstance(schema, Mapping) and not words.isdisjoint(schema)
