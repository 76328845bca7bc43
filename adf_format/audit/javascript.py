"""JSON text as ECMAScript's `JSON.stringify` writes it, and its length as JavaScript counts it.

`size_bytes` counts UTF-16 units of this text (AUD-009), so a writer has to produce it exactly (AUD-010).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from adf_format.errors import JsonTextError

SAFE_INTEGER = 2**53
_MAX_INDEX = 2**32 - 2
_quote_plain: Callable[[str], str] = json.encoder.encode_basestring  # C where it is available


def utf16_length(text: str) -> int:
    """Count UTF-16 code units, as `String.length` does; a lone surrogate counts one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def javascript_json(value: Any, *, exact: bool = False) -> str:
    """Write a JSON value as `JSON.stringify` would (AUD-010).

    Numbers are JavaScript numbers: `1.0` becomes `1`, integers above 2**53 are rounded, what is not finite becomes
    `null`. Integer-like keys come first, in ascending order. The result holds no lone surrogate.

    :param exact: keep the digits of numbers that JavaScript would round; only other writers store such numbers
    :raises TypeError: not a JSON value
    :raises JsonTextError: nested deeper than the interpreter can follow
    """
    parts: list[str] = []
    try:
        _write(value, parts.append, _exact if exact else _number)
    except RecursionError:
        raise JsonTextError("nested too deeply to be written") from None
    return "".join(parts)


def _write(value: Any, put: Callable[[str], object], number: Callable[[Any], str]) -> None:
    if isinstance(value, str):
        put(quoted(value))
    elif value is None or isinstance(value, bool):
        put({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, (int, float, Decimal)):
        put(number(value))
    elif isinstance(value, dict):
        _write_object(value, put, number)
    elif isinstance(value, (list, tuple)):
        put("[")
        for index, item in enumerate(value):
            if index:
                put(",")
            _write(item, put, number)
        put("]")
    else:
        raise TypeError(f"{type(value).__name__} is not a JSON value")


def _write_object(value: dict[Any, Any], put: Callable[[str], object], number: Callable[[Any], str]) -> None:
    put("{")
    for index, key in enumerate(_ordered(value)):
        put("," if index else "")
        put(quoted(key))
        put(":")
        _write(value[key], put, number)
    put("}")


def _ordered(keys: Iterable[str]) -> list[str]:
    """Order keys as JavaScript does: array indexes ascending, then the rest as inserted."""
    keys = list(keys)
    if not all(isinstance(key, str) for key in keys):
        raise TypeError("the keys of an object are strings")
    indexes = [key for key in keys if _is_index(key)]
    if not indexes:
        return keys
    return sorted(indexes, key=int) + [key for key in keys if not _is_index(key)]


def _is_index(key: str) -> bool:
    if not (key[:1].isdigit() and len(key) <= 10 and key.isascii() and key.isdecimal()):
        return False
    return (key == "0" or key[0] != "0") and int(key) <= _MAX_INDEX


def quoted(text: str) -> str:
    """Quote a string as `JSON.stringify` does; a lone surrogate is escaped."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _with_surrogates(text)
    return _quote_plain(text)


def _with_surrogates(text: str) -> str:
    """Quote a text with surrogates: pairs become one character, lone ones are escaped."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in _quote_plain(joined))


def _number(value: float | Decimal) -> str:
    if isinstance(value, int) and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return str(int(value))
    try:
        number = float(value)
    except OverflowError:
        return "null"
    return _float(number) if math.isfinite(number) else "null"


def _exact(value: float | Decimal) -> str:
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}" if value.as_tuple().exponent == 0 else str(value).lower()
    return str(int(value)) if isinstance(value, int) else _number(value)


def _float(number: float) -> str:
    """Write a number as ECMAScript's Number::toString does; the digits are Python's, the layout is not."""
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)  # place of the decimal point, counted from the first digit
    if len(text) <= point <= 21:
        body = text.ljust(point, "0")
    elif 0 < point <= 21:
        body = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        body = f"0.{'0' * -point}{text}"
    else:
        mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
        body = f"{mantissa}e{point - 1:+d}"
    return f"-{body}" if sign else body
