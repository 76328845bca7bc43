"""What may be injected into a stream (LOOP-260, LOOP-261)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adf_format.config.access import section

INVALID = "INVALID_INPUT"
_CATEGORY = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_KEY = re.compile(r"[a-zA-Z0-9_.:-]{1,128}")
_CHARS_PER_TOKEN = 3


def problem(
    effective: Mapping[str, Any], content: object, category: object, key: object, role: object = None
) -> str | None:
    """Return what is wrong with an injection, None if nothing is.

    :param effective: the configuration of the loop whose code asks
    """
    if section(effective, "code_execution").get("loop_inject") is False:
        return "loop_inject is turned off for this agent"
    most = section(effective, "limits").get("max_tool_result_tokens")
    limit = _CHARS_PER_TOKEN * (most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else 16_000)
    if not isinstance(content, str) or not content or len(content) > limit:
        return f"{INVALID}: content is a text of 1 to {limit} characters"
    if role not in (None, "user"):
        return f"{INVALID}: only text with the role user can be injected"
    if category is not None and not (isinstance(category, str) and _CATEGORY.fullmatch(category)):
        return f"{INVALID}: category has up to 64 lower-case letters, digits, `_`, `.` or `-`, a letter first"
    if key is not None and not (isinstance(key, str) and _KEY.fullmatch(key)):
        return f"{INVALID}: key has 1 to 128 letters, digits, `_`, `.`, `:` or `-`"
    return None
