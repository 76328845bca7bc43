"""Addresses: nothing that a file names is followed, except pages of the web and places in the page itself."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from adf_format.history import SeqSet
from adf_format.view.html import Url

LONGEST = 2000  # characters of an address that is worth a link
_WEB = re.compile(r"(?:https?://[^\s\x00-\x20<>\"'\\]+|mailto:[^\s\x00-\x20<>\"'\\]+)\Z", re.IGNORECASE)
_SEQ = re.compile(r"adf-audit://seq/([0-9]{1,18})\Z")
_LOOP = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")


def here(anchor: str, page: str = "") -> Url:
    """Return the address of a place in this page, or in another page beside it."""
    return Url(f"{page}#{quote(anchor, safe='-_:.')}")


def beside(page: str) -> Url:
    """Return the address of another page of the same folder."""
    return Url(quote(page, safe="-_."))


def web(address: str) -> Url | None:
    """Return an address of the web or of mail, None for everything else (`javascript:`, `data:`, `file:` …)."""
    address = address.strip()
    if len(address) > LONGEST or not _WEB.match(address):
        return None
    return Url(quote(address, safe="%/:=&?~#+!$,;'@()*[]-._"))


def data(mime: str, content: bytes) -> Url:
    """Return content as an address; `mime` is one of ours, never one that a file names."""
    return Url(f"data:{mime};base64,{base64.b64encode(content).decode()}")


def short_hash(value: str, length: int = 10) -> str:
    """Return a short name for a text."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def loop_id(name: str) -> str:
    """Return the id of the section of a loop, whatever its name."""
    return f"loop-{name}" if _LOOP.match(name) else f"loop--{short_hash(name)}"


def file_id(path: str) -> str:
    """Return the id of a file."""
    return f"file-{short_hash(path)}"


@dataclass
class Targets:
    """What can be linked to.

    :ivar pages: seqs by page; the name of this page is the empty string
    :ivar files: paths of files that the page shows
    :ivar index: page with everything but transcripts; the empty string for this one
    """

    pages: Mapping[str, SeqSet] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    index: str = ""
    this: str = ""

    def seq(self, number: int) -> Url | None:
        """Return where a row is, None if it is in no page."""
        for page, seqs in self.pages.items():
            if number in seqs:
                return here(f"S{number}", "" if page == self.this else page)
        return None

    def file(self, path: str) -> Url | None:
        """Return where a file is shown."""
        return here(file_id(path), self.index) if path in self.files else None

    def address(self, address: str, base: str = "") -> Url | None:
        """Return what an address in a text leads to, None if to nothing.

        :param base: path of the file that the text is from
        """
        audit = _SEQ.match(address)
        if audit:
            return self.seq(int(audit[1]))
        return web(address) or self._path(address.removeprefix("adf-file://"), base)

    def _path(self, address: str, base: str) -> Url | None:
        path = unquote(address.partition("#")[0]).removeprefix("./")
        folder = base.rpartition("/")[0]
        tries: Iterable[str] = (path, f"{folder}/{path}" if folder else path)
        return next((found for one in tries if (found := self.file(one)) is not None), None)
