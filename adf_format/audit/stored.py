"""JSON of a column as a member of a snapshot: mostly the stored text itself, since JavaScript wrote that too."""

from __future__ import annotations

import re
from typing import Any

import orjson

from adf_format.audit.javascript import SAFE_INTEGER, javascript_json
from adf_format.jsontext import decode

_DIGIT = re.compile("[0-9]").match


def stored_json(text: str) -> str:
    """Return stored JSON text as `JSON.stringify(JSON.parse(text))` would, integers of any size kept exact.

    :raises JsonTextError: not JSON
    """
    try:
        value = orjson.loads(text)
        if _is_plain(value) and orjson.dumps(value) == text.encode():
            return text
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, UnicodeEncodeError, RecursionError):
        pass
    return javascript_json(decode(text).value, exact=True)


def _is_plain(value: Any) -> bool:
    """Whether orjson and JavaScript write a value alike: no fractions, no large integers, no keys like numbers."""
    waiting = [value]
    for item in waiting:  # grows on the way
        kind = type(item)
        if kind is dict:
            if any(map(_DIGIT, item)):
                return False
            waiting.extend(item.values())
        elif kind is list:
            waiting.extend(item)
        elif kind is float or (kind is int and not -SAFE_INTEGER <= item <= SAFE_INTEGER):
            return False
    return True
