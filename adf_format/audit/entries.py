"""The entries of a snapshot, one at a time, from a stream of JSON text.

A cleared transcript may be larger than memory allows, so an array is never decoded as a whole. Sizes are counted
on the way, in both units that a row may give (AUD-009, AMB-10).
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from adf_format.audit.failures import EntryTooLargeError
from adf_format.errors import JsonTextError
from adf_format.jsontext import surely

WHITESPACE = b" \t\n\r"
_STARTS = frozenset(bytes((one,)) for one in b'[{"-0123456789tfn')
_BLANK = re.compile(r"[ \t\n\r]*")
_AFTER_ENTRY = frozenset(",] \t\n\r")
_CERTAIN = 16  # characters: no JSON token but a string is longer, so an error this far from the end is no cut
_NOT_FIRST = bytes(range(0x80, 0xC0))  # bytes that continue a character
_NOT_LONG = bytes(range(0xF0))  # all but the first byte of a character of two UTF-16 units


class EntryReader:
    """Splits JSON text into the texts of its entries.

    :ivar root: what the text is at its root, told by its first character; None until `begin()` or iteration
    :ivar utf8: bytes of text read so far; complete after the last entry or `drain()`
    :ivar utf16: UTF-16 units of text read so far
    """

    def __init__(self, chunks: Iterator[bytes], *, entry_limit: int, value_limit: int) -> None:
        """Read from `chunks`; an entry of an array may have `entry_limit` characters, another root
        `value_limit` bytes."""
        self._chunks = chunks
        self._entry_limit = entry_limit
        self._value_limit = value_limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._buffer = ""
        self._position = 0
        self._first = b""
        self.root: Literal["array", "object", "scalar"] | None = None
        self.utf8 = 0
        self.utf16 = 0

    def begin(self) -> None:
        """Read the beginning, so that `root` is known; errors as in iterating."""
        if self.root is not None:
            return
        while not (start := self._first.lstrip(WHITESPACE)[:1]):
            chunk = next(self._chunks, None)
            if chunk is None:
                raise JsonTextError("the text is empty")
            self._count(chunk)
            self._first = chunk
        if start not in _STARTS:
            raise JsonTextError("no JSON value begins here", place="character 0")
        self.root = "array" if start == b"[" else "object" if start == b"{" else "scalar"

    def __iter__(self) -> Iterator[str | bytes]:
        """Yield the JSON text of each entry; another root than an array is its own and only entry.

        :raises JsonTextError: not UTF-8, or not JSON where an entry ends; entries themselves are not vouched for
        :raises EntryTooLargeError: an entry exceeds its limit; `drain()` may still be called
        :raises SnapshotError: what the chunks raise
        """
        self.begin()
        first, self._first = self._first, b""
        if self.root == "array":
            self._append(first)
            yield from self._elements()
        else:
            yield self._value(first)

    def at_once(self) -> list[Any] | None:
        """Return all entries decoded, if the text is an array in one chunk with nothing odd about it (`surely`).

        :returns: None if it is not so; then iterating gives the entries, and raises what is wrong
        """
        self.begin()
        if self.root != "array" or not self._is_last():
            return None
        found: list[Any] | None = surely(self._first)
        if found is not None:
            self._first = b""
        return found

    def _is_last(self) -> bool:
        """Whether nothing follows the first chunk; what does, or why it cannot be had, is put back."""
        try:
            chunk = next(self._chunks, None)
        except Exception as error:  # noqa: BLE001 - raised where the entries before it have been handed out
            self._chunks = _raising(error)
            return False
        if chunk is None:
            return True
        self._chunks = itertools.chain((chunk,), self._chunks)
        return False

    def drain(self) -> None:
        """Read the rest of the stream: checks that it is whole and UTF-8, and completes the sizes."""
        self._buffer, self._position = "", 0
        self._decode(self._first)
        self._first = b""
        while self._more():
            self._buffer = ""

    def _value(self, first: bytes) -> bytes:
        parts = [first]
        while True:
            if self.utf8 > self._value_limit:
                for part in parts:
                    self._decode(part)
                raise EntryTooLargeError(f"more than {self._value_limit} bytes of JSON text in one value")
            chunk = next(self._chunks, None)
            if chunk is None:
                return b"".join(parts)
            self._count(chunk)
            parts.append(chunk)

    def _elements(self) -> Iterator[str]:
        self._expect("[")
        if self._peek() == "]":
            self._position += 1
        else:
            while True:
                yield self._element()
                if self._expect(",", "]") == "]":
                    break
        if self._peek():
            raise JsonTextError("text follows the end of the array")

    def _element(self) -> str:
        if not self._peek():
            raise JsonTextError("the array does not end")
        while True:
            try:
                _, end = _SCANNER.raw_decode(self._buffer, self._position)
            except RecursionError:
                raise JsonTextError("nested too deeply to be read") from None
            except json.JSONDecodeError as error:
                self._cut_or_wrong(error)
            else:
                if self._ends(end) or not self._grow():
                    return self._cut(end)

    def _cut(self, end: int) -> str:
        if end - self._position > self._entry_limit:
            raise EntryTooLargeError(f"an entry has more than {self._entry_limit} characters")
        text = self._buffer[self._position : end]
        self._position = end
        return text

    def _ends(self, end: int) -> bool:
        """Whether an entry really ends there: `1` may be all that can be read yet of `12` or `1e+21`."""
        return self._buffer[end : end + 1] in _AFTER_ENTRY or end + _CERTAIN < len(self._buffer)

    def _cut_or_wrong(self, error: json.JSONDecodeError) -> None:
        """Read more text if the entry may only be cut by the end of the buffer."""
        certain = error.pos + _CERTAIN < len(self._buffer) and not error.msg.startswith("Unterminated string")
        if certain or not self._grow():
            raise JsonTextError(error.msg[:1].lower() + error.msg[1:])

    def _grow(self) -> bool:
        """Double the unread text, which keeps the effort for a long entry linear; False at the end of the stream."""
        unread = len(self._buffer) - self._position
        if unread > self._entry_limit:
            raise EntryTooLargeError(f"an entry has more than {self._entry_limit} characters")
        grown = False
        while len(self._buffer) - self._position < min(2 * unread, self._entry_limit + 1) or not grown:
            if not self._more():
                return grown
            grown = True
        return True

    def _expect(self, *allowed: str) -> str:
        found = self._peek()
        if found not in allowed:
            wanted = " or ".join(repr(one) for one in allowed)
            raise JsonTextError(f"{wanted} expected" if found else "the array does not end")
        self._position += 1
        return found

    def _peek(self) -> str:
        """Return the next character that is not white space, an empty string at the end."""
        while True:
            blank = _BLANK.match(self._buffer, self._position)
            self._position = blank.end() if blank else self._position
            if self._position < len(self._buffer):
                return self._buffer[self._position]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Append the next chunk; False at the end of the stream."""
        chunk = next(self._chunks, None)
        if chunk is None:
            self._decode(b"", final=True)
            return False
        self._count(chunk)
        self._append(chunk)
        return True

    def _append(self, chunk: bytes) -> None:
        self._buffer = self._buffer[self._position :] + self._decode(chunk)
        self._position = 0

    def _decode(self, chunk: bytes, *, final: bool = False) -> str:
        try:
            return self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            raise JsonTextError("not UTF-8") from None

    def _count(self, chunk: bytes) -> None:
        self.utf8 += len(chunk)
        self.utf16 += len(chunk.translate(None, _NOT_FIRST)) + len(chunk.translate(None, _NOT_LONG))


def _raising(error: Exception) -> Iterator[bytes]:
    yield from ()
    raise error


def _no_constant(name: str) -> float:
    raise json.JSONDecodeError(f"{name} is not JSON", "", 0)


# only used to find where an entry ends; float() swallows integers of any length
_SCANNER = json.JSONDecoder(parse_int=float, parse_constant=_no_constant)
