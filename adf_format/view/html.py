"""HTML by functions, escaped by default: what is no `Safe` is text, and an address has to be a `Url`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

Child = Any  # Safe, str, int, None, or an iterable of these
VOID = frozenset({"br", "hr", "img", "input", "meta", "wbr", "path", "rect", "circle", "use", "col"})
_ADDRESSES = frozenset({"href", "src"})
_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
# what a page would act on or not show: controls, bidi embeddings and isolates, blanks without width, surrogates, tags
_SPECIAL = re.compile(
    "[&<>\"'\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Safe(str):
    """HTML that is known to be well formed and harmless."""

    __slots__ = ()


class Url(str):
    """An address that may stand in `href` or `src`; only `adf_format.view.links` makes them."""

    __slots__ = ()


class Sink(Protocol):
    """Where a page is written."""

    def write(self, text: str, /) -> object:
        """Take a piece of it."""


def spelled(char: str) -> str:
    r"""Return a character that must not act by its number: `\u{202e}`."""
    return f"\\u{{{ord(char):x}}}"


def escape(text: str) -> str:
    """Return text for an attribute; characters that would act, or hide, are spelled out."""
    if not _SPECIAL.search(text):
        return text
    return _SPECIAL.sub(lambda match: _MARKUP.get(match[0]) or spelled(match[0]), text)


def text(value: str) -> Safe:
    """Return text as HTML; characters that would act, or hide, are spelled out and marked."""
    if not _SPECIAL.search(value):
        return Safe(value)
    return Safe(_SPECIAL.sub(_shown, value.replace("\r\n", "\n")))


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    return _MARKUP.get(char) or f'<span class="ctl">{spelled(char)}</span>'


def html(*children: Child) -> Safe:
    """Return children one after another: `Safe` as it is, text escaped, None left out, iterables one by one."""
    return Safe("".join(_pieces(children)))


def _pieces(children: Iterable[Child]) -> Iterator[str]:
    for child in children:
        if isinstance(child, Safe):
            yield child
        elif isinstance(child, str):
            yield text(child)
        elif isinstance(child, int):
            yield str(child)
        elif child is not None:
            yield from _pieces(child)


def el(name: str, /, *children: Child, **attributes: Any) -> Safe:
    """Return an element.

    :param attributes: `class_` is `class`, `data_kind` is `data-kind`; True gives a bare attribute, None and False none
    :raises TypeError: an address that is no `Url`, or an attribute that could run code
    """
    opening = start(name, attributes)
    return Safe(f"{opening[:-1]}/>") if name in VOID else Safe(f"{opening}{''.join(_pieces(children))}</{name}>")


def start(name: str, attributes: dict[str, Any]) -> str:
    """Return an opening tag."""
    if not attributes:
        return f"<{name}>"
    return f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = _name(key)
    if name in _ADDRESSES and not isinstance(value, Url):
        raise TypeError(f"{name} takes a checked address")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


@cache
def _name(key: str) -> str:
    """Return the name of an attribute; keys come from our own code, so there are few."""
    name = key.rstrip("_").replace("_", "-")
    if name.startswith("on") or name in ("style", "srcdoc") or not _NAME.match(name.lower()):
        raise TypeError(f"the attribute {name} could run code")
    return name


class Page:
    """A page on its way out; every element that is begun is ended, whatever happens in between."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, *children: Child) -> None:
        """Write children, escaped as in `html`."""
        for piece in _pieces(children):
            self._sink.write(piece)

    @contextmanager
    def inside(self, name: str, /, **attributes: Any) -> Iterator[None]:
        """Begin an element, and end it."""
        self._sink.write(start(name, attributes))
        try:
            yield
        finally:
            self._sink.write(f"</{name}>\n")
