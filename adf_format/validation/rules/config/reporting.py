"""Where findings on the configuration stand, and the SQL of the examples."""

from __future__ import annotations

import json
from typing import Any

from adf_format.schemas.checker import pointer
from adf_format.validation.context import Context
from adf_format.validation.rule import Rule

PLACE: dict[str, Any] = {"table": "adf_config", "rowid": 1, "column": "config_json"}
LONGEST_POINTER = 300  # a hostile key may be megabytes long


def report(context: Context, broken: Rule, message: str, *path: str | int) -> None:
    """Report a finding at a path inside `config_json`."""
    report_at(context, broken, message, pointer(path))


def report_at(context: Context, broken: Rule, message: str, where: str) -> None:
    """Report a finding at a JSON pointer inside `config_json`."""
    context.container.check_deadline()
    shown = where if len(where) <= LONGEST_POINTER else f"{where[:LONGEST_POINTER]}…"
    context.report(broken, message, **PLACE, pointer=shown or None)


def put(*changes: tuple[str, Any]) -> str:
    """Return the SQL that sets JSON values in the configuration, given as `(path, value)`."""
    pairs = "".join(f", '{path}', json('{_quoted(value)}')" for path, value in changes)
    return f"UPDATE adf_config SET config_json = json_set(config_json{pairs})"


def drop(path: str) -> str:
    """Return the SQL that removes a key from the configuration."""
    return f"UPDATE adf_config SET config_json = json_remove(config_json, '{path}')"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("'", "''")
