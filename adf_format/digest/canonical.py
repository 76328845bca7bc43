"""One spelling for every JSON value, so that equal values have equal bytes.

Keys are sorted, white space goes, numbers are compared by their exact decimal value (`1`, `1.0` and `1e0` are one
number, `0.1` and `0.10000000000000001` are two), strings character by character, lone surrogates included. orjson
does the work where a round trip through it proves that nothing is lost; the rest takes the careful path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import orjson

from adf_format.audit.javascript import quoted

MAX_JSON = 16 << 20  # characters; a longer text counts as text, since decoding could take gigabytes
MAX_DEPTH = 254  # as deep as orjson writes; a deeper text counts as text
_PLAIN_DIGITS = 400  # a whole number with more digits is written with an exponent
SORTED = orjson.OPT_SORT_KEYS


class NotCanonicalError(ValueError):
    """A text that is not JSON, or JSON whose value is not certain: duplicate keys, too deep, too long."""


def canonical(text: str | bytes) -> bytes:
    """Return the one spelling of a JSON text.

    :raises NotCanonicalError: compare the text itself
    """
    if len(text) > MAX_JSON:
        raise NotCanonicalError
    try:
        return orjson.dumps(plain(text), option=SORTED)
    except NotCanonicalError:
        return _carefully(text)


def plain(text: str | bytes) -> Any:
    """Return the value of a text that orjson reads and writes without losing anything.

    :raises NotCanonicalError: it is no such text; it may still be JSON
    """
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) == (text if isinstance(text, bytes) else text.encode()) and not _whole_float(value):
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, UnicodeEncodeError):
        pass
    raise NotCanonicalError


def _whole_float(value: Any) -> bool:
    """Whether a number such as `1.0` or `1e21` is inside, which orjson does not write like a whole number."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is dict:
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
        elif kind is float and item.is_integer():
            return True
    return False


def _carefully(text: str | bytes) -> bytes:
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=Decimal, parse_float=Decimal, parse_constant=_constant
        )
        return "".join(_pieces(value)).encode()
    except (ValueError, RecursionError, InvalidOperation, MemoryError):
        raise NotCanonicalError from None


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(items)
    if len(result) != len(items):
        raise NotCanonicalError
    return result


def _constant(_name: str) -> NoReturn:
    raise NotCanonicalError


def _pieces(value: Any) -> Iterator[str]:
    """Yield the text without recursion; a stack entry is an iterator over what is left of one array or object."""
    if not isinstance(value, (dict, list)):
        yield _scalar(value)
        return
    stack: list[tuple[Iterator[Any], str]] = []
    opening, item = _open(value)
    yield opening
    stack.append(item)
    first = True
    while stack:
        members, closing = stack[-1]
        member = next(members, stack)
        if member is stack:
            stack.pop()
            yield closing
            first = False
            continue
        separator, first = "" if first else ",", False
        if closing == "}":
            name, member = member
            separator += f"{quoted(str(name))}:"
        if not isinstance(member, (dict, list)):
            yield separator + _scalar(member)
            continue
        if len(stack) >= MAX_DEPTH:
            raise NotCanonicalError
        opening, item = _open(member)
        yield separator + opening
        stack.append(item)
        first = True


def _open(value: dict[str, Any] | list[Any]) -> tuple[str, tuple[Iterator[Any], str]]:
    if isinstance(value, dict):
        return "{", (iter(sorted(value.items(), key=lambda item: item[0])), "}")
    return "[", (iter(value), "]")


def _scalar(value: str | bool | Decimal | None) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Decimal):
        return _number(value)
    return {None: "null", True: "true", False: "false"}[value]


def _number(value: Decimal) -> str:
    if value == 0:
        return "0"
    sign, digits, power = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    exponent = int(power) + len(text) - len(text.rstrip("0"))
    text = text.rstrip("0")
    minus = "-" if sign else ""
    if 0 <= exponent <= _PLAIN_DIGITS - len(text):
        return f"{minus}{text}{'0' * exponent}"
    if exponent < 0 and Decimal(repr(number := float(value))) == value:
        return orjson.dumps(number).decode()
    return f"{minus}{text}e{exponent}"
