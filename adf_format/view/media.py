"""Pictures and sound in a transcript or a file: shown only if their bytes are what they say, never fetched."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from adf_format.view.html import Safe, el, html
from adf_format.view.links import data
from adf_format.view.pieces import first_line, icon
from adf_format.view.words import size

PICTURE = 300_000  # bytes of a picture that goes into a page
_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def kind_of(content: bytes) -> str | None:
    """Return the type of a picture by its first bytes, None if it is none that is shown; SVG never is."""
    for magic, mime in _MAGIC.items():
        if content.startswith(magic):
            return mime
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None


def picture(content: bytes, label: str) -> Safe | None:
    """Return a picture, None if the bytes are none, or too many."""
    mime = kind_of(content)
    if mime is None or len(content) > PICTURE:
        return None
    return el("img", src=data(mime, content), alt=first_line(label, 100), class_="picture", loading="lazy")


def block(value: dict[str, Any]) -> Safe:
    """Return a block that holds a picture, sound or a film."""
    kind = str(value["type"])
    inner = value.get(kind)
    inner = inner if isinstance(inner, dict) else {}
    if kind == "image_url":
        return _image(inner.get("url"))
    source = inner.get("data") or inner.get("url") or ""
    form = first_line(str(inner.get("format", "")), 20)
    words = f"{'sound' if kind == 'input_audio' else 'film'} {form}, {size(len(str(source)))} of text; not played here"
    return el("div", icon("media"), " ", words, class_="line")


def _image(url: Any) -> Safe:
    address = url if isinstance(url, str) else ""
    head, _, encoded = address.partition(",")
    if head.startswith("data:") and head.endswith(";base64") and len(encoded) <= 2 * PICTURE:
        try:
            shown = picture(base64.b64decode(encoded, validate=True), "picture in the conversation")
        except (binascii.Error, ValueError):
            shown = None
        if shown is not None:
            return shown
    return el(
        "div", icon("media"), " ", html("picture, not shown: ", first_line(address, 80) or "no address"), class_="line"
    )
