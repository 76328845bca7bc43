"""The validator that explains: jsonschema, with two keywords done differently.

`pattern` follows JavaScript and the fast path, where `$` does not match before a final newline. `items` explains
only the items that the fast path refuses, so that a million good ones cost a microsecond each instead of a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

LONG = 64
"""Items from which on the fast path looks first."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]


@cache
def explaining_class() -> Any:
    """Return the validator class; jsonschema is imported only when something is wrong."""
    from jsonschema import Draft202012Validator, validators

    keywords = {"pattern": _pattern, "items": _items}
    return validators.extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]


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
    accepts = _fast(items) if len(instance) > LONG else None
    for index in range(first, len(instance)):
        if accepts is None or not accepts(instance[index]):
            yield from validator.descend(instance[index], items, path=index)


_KNOWN: dict[int, tuple[Any, Callable[[object], bool]]] = {}


def _fast(schema: Any) -> Callable[[object], bool]:
    """Return the fast path of a subschema; the subschema is kept, so its id stays its own."""
    from adf_format.schemas.checker import Checker

    if id(schema) not in _KNOWN:
        _KNOWN[id(schema)] = (schema, Checker(schema).is_valid)
    return _KNOWN[id(schema)][1]
