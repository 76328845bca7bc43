"""Check a value against one of our schemas: a fast path that says yes or no, and a path that explains.

The fast path is jsonschema-rs, the explaining one jsonschema, whose errors carry the schema that was broken and
with it our `x-adf-severity`. Values that the fast path cannot hold (lone surrogates, huge numbers) take the
explaining path.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from adf_format.schemas.explaining import explaining_class
from adf_format.schemas.fast import CANNOT_HOLD, compiled
from adf_format.schemas.store import registry

if TYPE_CHECKING:
    from jsonschema import ValidationError

ERROR = "error"
_TIER = {"info": 1, "warning": 2, "error": 3}


@dataclass(frozen=True)
class Problem:
    """One violation of a schema.

    :ivar pointer: JSON pointer of the offending value (the object, for a missing key)
    :ivar keyword: the schema keyword that was broken (`type`, `enum`, `required`, …)
    :ivar severity: `error`, `warning` or `info`, from `x-adf-severity`
    :ivar message: what is wrong, without the value's surroundings
    :ivar key: the missing key, for `required`
    :ivar optional: whether the value stands under a key that its object could do without
    """

    pointer: str
    keyword: str
    severity: str
    message: str
    key: str | None = None
    optional: bool = False


class Checker:
    """One compiled schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    @cached_property
    def quick(self) -> Callable[[object], bool]:
        """The fast path itself; it raises one of `CANNOT_HOLD` for a value that it cannot hold."""
        return compiled(self._schema)

    @cached_property
    def _slow(self) -> Any:
        return explaining_class()(self._schema, registry=registry())

    def is_valid(self, value: object) -> bool:
        """Say whether a value keeps every constraint, those of severity `info` and `warning` included."""
        try:
            return self.quick(value)
        except CANNOT_HOLD:
            return bool(self._slow.is_valid(value))

    def problems(self, value: object) -> Iterator[Problem]:
        """Yield every violation, in the order of the schema, as they are found.

        Where a value has the wrong type, what else is wrong with it is left out; where two tiers of one constraint
        are broken, the milder one is left out.
        """
        found = (problem for error in self._slow.iter_errors(value) for problem in _problems(error))
        for _, group in itertools.groupby(found, key=attrgetter("pointer")):
            yield from _essential(list(group))


@cache
def checker(urn: str) -> Checker:
    """Return the compiled schema of a URN."""
    return Checker({"$ref": urn})


@cache
def list_checker(urn: str) -> Checker:
    """Return the compiled schema of a list of values of a URN: one call for many values."""
    return Checker({"type": "array", "items": {"$ref": urn}})


def pointer(parts: object) -> str:
    """Return a JSON pointer (RFC 6901) for a path of keys and indexes."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)  # type: ignore[attr-defined]
    return "".join("/" + part for part in escaped)


def _essential(found: list[Problem]) -> Iterator[Problem]:
    """Leave out what follows from the rest; jsonschema reports a scalar value in one go."""
    mistyped = any(problem.keyword == "type" for problem in found)
    worst: dict[tuple[str, str | None], Problem] = {}
    for problem in found:
        if mistyped and problem.keyword != "type":
            continue
        place = (problem.keyword, problem.key)
        if place not in worst or _TIER[problem.severity] > _TIER[worst[place].severity]:
            worst[place] = problem
    yield from worst.values()


def _problems(error: ValidationError) -> Iterator[Problem]:
    place = pointer(error.absolute_path)
    declared = error.schema.get("x-adf-severity", {}) if isinstance(error.schema, Mapping) else {}
    severity = declared.get(error.validator, ERROR)
    if error.validator == "required":
        key = _missing_key(error)
        if isinstance(severity, Mapping):
            severity = severity.get(key, ERROR)
        yield Problem(place, "required", severity, f"the key {key!r} is missing", key)
    else:
        optional = not getattr(error, "demanded", True)
        yield Problem(place, str(error.validator), severity, _message(error), optional=optional)


def _missing_key(error: ValidationError) -> str:
    """Name the key of one `required` error; jsonschema yields one error per key, in order."""
    return error.message.split("'")[1] if "'" in error.message else str(error.message)


def _message(error: ValidationError) -> str:
    keyword, value = error.validator, error.instance
    limit: Any = error.validator_value
    if keyword == "type":
        wanted = " or ".join(limit) if isinstance(limit, list) else limit
        return f"{kind(value)} where {wanted} is expected"
    if keyword == "enum":
        return f"{brief(value)} is not one of {', '.join(brief(item) for item in limit)}"
    if keyword == "const":
        return f"{brief(value)} is not {brief(limit)}"
    if keyword == "pattern":
        return f"{brief(value)} does not have the form {limit}"
    text = {
        "minLength": f"shorter than {limit} characters",
        "maxLength": f"longer than {limit} characters",
        "minimum": f"{brief(value)} is below {limit}",
        "maximum": f"{brief(value)} is above {limit}",
        "exclusiveMinimum": f"{brief(value)} is not above {limit}",
        "minItems": f"fewer than {limit} items",
        "maxItems": f"more than {limit} items",
        "uniqueItems": "items are repeated",
    }.get(str(keyword))
    return text or f"{brief(value)} breaks {keyword}"


def kind(value: object) -> str:
    """Name the JSON type of a value."""
    names = {
        bool: "boolean",
        str: "string",
        dict: "object",
        list: "array",
        type(None): "null",
        int: "integer",
    }
    return names.get(type(value), "number")


def brief(value: object, limit: int = 40) -> str:
    """Show a value in a message: JSON, cut visibly."""
    import json

    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except RecursionError:
        return f"a deeply nested {kind(value)}"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
