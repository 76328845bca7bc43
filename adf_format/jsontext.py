"""JSON text as JavaScript writes it: read without loss and without a crash.

Real files hold lone surrogates (`"\\ud83d"`), integers above 64 bit and duplicate keys. orjson refuses the first,
rounds the second and is silent about the third, the standard module is slow: so orjson reads, and its result
counts only if writing it back gives the same bytes. That proves that nothing was rounded, dropped or merged;
everything else takes the careful path through the standard module.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import orjson

from adf_format.errors import JsonTextError, JsonTooLargeError

loads, dumps = orjson.loads, orjson.dumps
REFUSED = (orjson.JSONDecodeError, orjson.JSONEncodeError, UnicodeEncodeError)
MAX_COLUMN = 16 << 20  # characters of one column value; its decoded form can take twenty times as many bytes
MAX_INT_DIGITS = 4000  # below Python's own limit for int(str); longer integers are kept as Decimal


@dataclass(slots=True)
class Decoded:
    """A decoded JSON text.

    :ivar value: the value; for duplicate keys the last one wins, as in JavaScript
    :ivar duplicates: keys that occur more than once in one object, in the order met
    """

    value: Any
    duplicates: Sequence[str] = ()


def decode(text: str | bytes) -> Decoded:
    """Decode one JSON text (JSON in a TEXT column, or the bytes of a snapshot).

    :raises JsonTextError: not JSON, not UTF-8, or nested deeper than the interpreter can follow
    """
    try:
        value = loads(text)
        if dumps(value) == (text.encode() if isinstance(text, str) else text):
            return Decoded(value)
    except REFUSED:
        pass
    return _decode_carefully(text)


def decode_column(text: str) -> Decoded:
    """Decode the JSON text of one column value or of the configuration.

    :raises JsonTooLargeError: longer than `MAX_COLUMN`
    :raises JsonTextError: as `decode`
    """
    if len(text) > MAX_COLUMN:
        raise JsonTooLargeError(f"JSON of {len(text):,} characters was not decoded (at most {MAX_COLUMN:,})")
    return decode(text)


def surely(text: bytes) -> Any:
    """Decode a JSON text other than `null` by the fast path alone; None if anything is odd about it."""
    try:
        value = loads(text)
        return value if dumps(value) == text else None
    except REFUSED:
        return None


def decode_sure(texts: Sequence[Any]) -> list[Any] | None:
    """Decode the texts of one column in several rows at once, by the fast path alone.

    :returns: the bare values, in order, what is no text left out; None if any text is not JSON or has anything odd
    """
    picked = [text for text in texts if type(text) is str]
    try:
        values = list(map(loads, picked))
        if list(map(dumps, values)) == list(map(str.encode, picked)) and max(map(len, picked), default=0) <= MAX_COLUMN:
            return values
    except REFUSED:
        pass
    return None


def decode_or_error(text: str) -> Decoded | JsonTextError:
    """Decode the JSON text of one column value, returning what `decode_column` raises."""
    try:
        return decode_column(text)
    except JsonTextError as error:
        return error


def _decode_carefully(text: str | bytes) -> Decoded:
    duplicates: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            duplicates.extend(_repeated(key for key, _ in items))
        return result

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = json.loads(text, object_pairs_hook=pairs, parse_int=_int, parse_float=_float, parse_constant=_constant)
    except json.JSONDecodeError as exc:
        raise JsonTextError(exc.msg[:1].lower() + exc.msg[1:], place=f"character {exc.pos}") from None
    except UnicodeDecodeError as exc:
        raise JsonTextError("not UTF-8", place=f"byte {exc.start}") from None
    except RecursionError:
        raise JsonTextError("nested too deeply to be read") from None
    return Decoded(value, duplicates)


def _repeated(keys: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    again: dict[str, None] = {}
    for key in keys:
        if key in seen:
            again[key] = None
        seen.add(key)
    return list(again)


def _int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else Decimal(digits)


def _float(digits: str) -> float | Decimal:
    number = float(digits)
    if not math.isinf(number):
        return number
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise JsonTextError("a number too large to be read") from None


def _constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON")
