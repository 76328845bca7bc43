"""The validator that explains: jsonschema, with some keywords done differently.

`pattern` follows JavaScript and the fast path, where `$` does not match before a final newline. `items` and `$ref`
explain only what the fast path refuses, so that a million good items cost a microsecond each instead of a hundred.
What is said of arrays and objects is said without printing them: they may be too deep or too large for that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from adf_format.schemas.fast import surely

LONG = 8
"""Items from which on the fast path looks first."""

Keyword = Callable[[Any, Any, Any, Any], Any]
CONTAINER_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda wanted, value: ("array" if isinstance(value, list) else "object") in wanted,
    "enum": lambda listed, value: value in listed,
    "const": lambda wanted, value: bool(value == wanted),
    "minItems": lambda limit, value: not isinstance(value, list) or len(value) >= limit,
    "maxItems": lambda limit, value: not isinstance(value, list) or len(value) <= limit,
}
"""What a keyword asks of an array or an object."""


@cache
def explaining_class() -> Any:
    """Return the validator class; jsonschema is imported only when something is wrong."""
    from jsonschema import Draft202012Validator, validators

    standard = Draft202012Validator.VALIDATORS
    keywords = {name: _unprinted(name, test, standard[name]) for name, test in CONTAINER_TESTS.items()}
    keywords |= {"pattern": _pattern, "items": _items, "properties": _properties, "$ref": _ref}
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    return validators.extend(Draft202012Validator, keywords, type_checker=types)  # type: ignore[no-untyped-call]


def _is_integer(_checker: Any, value: Any) -> bool:
    """Numbers too large for Python's own types come as Decimal; the fast path judges them by their fraction too."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _unprinted(name: str, test: Callable[[Any, Any], bool], standard: Keyword) -> Keyword:
    from jsonschema import ValidationError

    def keyword(validator: Any, limit: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, (dict, list)):
            yield from standard(validator, limit, instance, schema) or ()
        elif not test(limit, instance):
            yield ValidationError(f"{name} is not kept")

    return keyword


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ARG001
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{pattern!r} is not matched")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern)


def _items(validator: Any, items: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not isinstance(instance, list):
        return
    first = len(schema.get("prefixItems", ()))
    accepts = _fast(items, _base(validator)) if len(instance) > LONG else None
    for index in range(first, len(instance)):
        if accepts is None or not accepts(instance[index]):
            yield from validator.descend(instance[index], items, path=index)


def _properties(
    validator: Any, properties: Mapping[str, Any], instance: Any, schema: Mapping[str, Any]
) -> Iterator[Any]:
    """Mark errors of values whose key the same schema demands: null is milder where the key can be left out."""
    if not isinstance(instance, dict):
        return
    for name, inner in properties.items():
        if name in instance:
            for error in validator.descend(instance[name], inner, path=name, schema_path=name):
                if len(error.relative_path) == 1:
                    error.demanded = name in schema.get("required", ())
                yield error


def _ref(validator: Any, ref: str, instance: Any, schema: Any) -> Iterator[Any]:
    """Follow a reference only where the fast path finds something wrong: most parts of a large value are in order."""
    from jsonschema import Draft202012Validator

    if isinstance(instance, dict | list) and _fast_ref(_whole(ref, _base(validator)))(instance):
        return
    yield from Draft202012Validator.VALIDATORS["$ref"](validator, ref, instance, schema) or ()


def _base(validator: Any) -> str:
    """Return the URN of the document that local references are relative to."""
    return str(validator._resolver._base_uri)


def _whole(ref: str, base: str) -> str:
    return base + ref if ref.startswith("#") else ref


_KNOWN: dict[int, tuple[Any, Callable[[object], bool]]] = {}


def _fast(schema: Any, base: str) -> Callable[[object], bool]:
    """Return the fast path of a subschema; the subschema is kept, so its id stays its own."""
    if id(schema) not in _KNOWN:
        _KNOWN[id(schema)] = (schema, surely(_anchored(schema, base)))
    return _KNOWN[id(schema)][1]


@cache
def _fast_ref(ref: str) -> Callable[[object], bool]:
    return surely({"$ref": ref})


def _anchored(schema: Any, base: str) -> Any:
    """Copy a subschema so that it stands on its own: local references name their document."""
    if isinstance(schema, dict):
        return {
            key: _whole(value, base) if key == "$ref" and isinstance(value, str) else _anchored(value, base)
            for key, value in schema.items()
        }
    return [_anchored(item, base) for item in schema] if isinstance(schema, list) else schema
