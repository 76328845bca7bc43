"""The fast path of checking: a schema compiled by jsonschema-rs, which says yes or no."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adf_format.schemas.store import document

CANNOT_HOLD = (ValueError, TypeError, OverflowError)
"""What is raised for a value that the fast path has no room for: lone surrogates, huge numbers."""


def compiled(schema: Mapping[str, Any]) -> Callable[[object], bool]:
    """Compile a schema; whole URNs in it are looked up among our documents."""
    import jsonschema_rs

    test: Callable[[object], bool] = jsonschema_rs.validator_for(dict(schema), retriever=document).is_valid
    return test


def surely(schema: Mapping[str, Any]) -> Callable[[object], bool]:
    """Compile a schema to a test that takes a value which it cannot hold for one that it does not accept."""
    test = compiled(schema)

    def accepts(value: object) -> bool:
        try:
            return test(value)
        except CANNOT_HOLD:
            return False

    return accepts
