"""Inputs of tools: their schemas are strict, so that a misspelt key is an answer and not a silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adf_format.audit import javascript_json
from adf_format.runtime.tools.protocol import ToolResult

Schema = dict[str, Any]


def inputs(*required: str, **properties: Schema) -> Schema:
    """Return the schema of an input."""
    made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": list(required)} if required else {})


def text(description: str, *, least: int = 0, most: int | None = None) -> Schema:
    """Return the schema of a text; `least` and `most` characters."""
    bounds = ({"minLength": least} if least else {}) | ({"maxLength": most} if most else {})
    return {"type": "string", "description": description, **bounds}


def whole(description: str, least: int, most: int | None = None) -> Schema:
    """Return the schema of a whole number."""
    bounds = {"minimum": least} | ({"maximum": most} if most else {})
    return {"type": "integer", "description": description, **bounds}


def flag(description: str) -> Schema:
    """Return the schema of a yes or no."""
    return {"type": "boolean", "description": description}


def choice(description: str, *values: str) -> Schema:
    """Return the schema of one of some texts."""
    return {"type": "string", "description": description, "enum": list(values)}


def listed(description: str, items: Schema, *, least: int = 0, most: int | None = None) -> Schema:
    """Return the schema of an array."""
    bounds = ({"minItems": least} if least else {}) | ({"maxItems": most} if most else {})
    return {"type": "array", "description": description, "items": items, **bounds}


def answer(value: object) -> ToolResult:
    """Return a JSON value as the result of a tool."""
    return ToolResult(javascript_json(value, exact=True))


def given(call_input: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return those of some keys that the caller gave."""
    return {key: call_input[key] for key in keys if call_input.get(key) is not None}
