"""The frame of a page: head with the policy, navigation, symbols, script. Style and script stand in `assets`."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from adf_format.view.html import Safe, el, html

_PATHS = {
    "circle": '<circle cx="8" cy="8" r="5"/>',
    "square": '<path d="M3.5 3.5h9v9h-9z"/>',
    "triangle": '<path d="M8 2.5 14 13H2z"/>',
    "diamond": '<path d="M8 1.5 14.5 8 8 14.5 1.5 8z"/>',
    "hexagon": '<path d="M5 2.5h6L14.2 8 11 13.5H5L1.8 8z"/>',
    "cross": '<path d="M6 2h4v4h4v4h-4v4H6v-4H2V6h4z"/>',
}
_LINES = {
    "tool": "M9.5 2.5a3.5 3.5 0 0 0-3.3 4.7L2 11.4 4.6 14l4.2-4.2a3.5 3.5 0 0 0 4.5-4.5L11 7.6 8.4 5l2.3-2.3a3.5 3.5 0 0 0-1.2-.2z",
    "think": "M8 2a4.2 4.2 0 0 0-2.4 7.6c.5.4.8 1 .8 1.6v.3h3.2v-.3c0-.6.3-1.2.8-1.6A4.2 4.2 0 0 0 8 2zM6.5 13.8h3",
    "context": "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
    "fold": "M2 5l6-3 6 3-6 3zM2 8l6 3 6-3M2 11l6 3 6-3",
    "send": "M2.5 8h10M9 4.5 12.5 8 9 11.5",
    "receive": "M13.5 8h-10M7 4.5 3.5 8 7 11.5",
    "bell": "M8 2a3.8 3.8 0 0 0-3.8 3.8c0 3-1.2 4.4-1.7 5h11c-.5-.6-1.7-2-1.7-5A3.8 3.8 0 0 0 8 2zM6.6 13.2a1.5 1.5 0 0 0 2.8 0",
    "info": "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 7.2v4M8 4.6v.2",
    "alert": "M8 2 1.8 13.2h12.4zM8 6.4v3.2M8 11.4v.2",
    "state": "M2.5 8a5.5 5.5 0 0 1 9.6-3.7M13.5 8a5.5 5.5 0 0 1-9.6 3.7M12.4 1.8v2.8H9.6M3.6 14.2v-2.8h2.8",
    "task": "M2.5 2.5h11v11h-11zM5 8.2l2 2 4-4.4",
    "hand": "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM6.2 5.4v5.2M9.8 5.4v5.2",
    "clock": "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.6V8l2.4 1.6",
    "loops": "M4.5 5.2a2.8 2.8 0 1 0 0 5.6c2.6 0 4.4-5.6 7-5.6a2.8 2.8 0 1 1 0 5.6c-2.6 0-4.4-5.6-7-5.6z",
    "page": "M3.5 1.8h6l3 3v9.4h-9zM9.2 2v3.2h3.2",
    "file": "M3.5 1.8h6l3 3v9.4h-9zM9.2 2v3.2h3.2",
    "check": "M2.5 8.6 6.2 12.2 13.5 4.2",
    "media": "M2 3h12v10H2zM2 11l3.4-3.4 2.8 2.8 2.2-2.2L14 11.6M10.6 6v.1",
    "in": "M2.2 9.5v3.8h11.6V9.5M8 2.2v7M5 6.4l3 3 3-3",
    "out": "M2.2 9.5v3.8h11.6V9.5M8 9.4v-7M5 5l3-3 3 3",
    "gap": "M2 8h3M7 5.5v5M9.5 5.5v5M11.5 8h3",
    "search": "M7 2.4a4.6 4.6 0 1 0 0 9.2 4.6 4.6 0 0 0 0-9.2zM10.4 10.4l3.4 3.4",
    "theme": "M8 1.8a6.2 6.2 0 1 0 0 12.4zM8 1.8a6.2 6.2 0 0 1 0 12.4",
}
HEAD_SCRIPT = (
    "document.documentElement.className='js';"
    "try{var t=localStorage.getItem('adf-theme');if(t)document.documentElement.dataset.theme=t}catch(e){}"
)


@cache
def asset(name: str) -> str:
    """Return the text of a file in `assets`."""
    return (files("adf_format.view") / "assets" / name).read_text("utf-8")


def _hash(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


@cache
def policy() -> str:
    """Return the policy: nothing is fetched, and nothing runs but our own style and script."""
    style, scripts = _hash(asset("view.css")), f"{_hash(HEAD_SCRIPT)} {_hash(asset('view.js'))}"
    return (
        f"default-src 'none'; style-src {style}; script-src {scripts}; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-src 'none'; object-src 'none'"
    )


def head(title: str) -> Safe:
    """Return everything before the body."""
    metas = html(
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy()),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="generator", content="adf-format view"),
        el("title", title),
    )
    return html(
        Safe('<!DOCTYPE html>\n<html lang="en" class="nojs"><head>'),
        metas,
        Safe(f"<style>{asset('view.css')}</style><script>{HEAD_SCRIPT}</script></head>\n"),
    )


@cache
def symbols() -> Safe:
    """Return the symbols that the page uses."""
    solid = [f'<symbol id="i-{name}" viewBox="0 0 16 16">{shape}</symbol>' for name, shape in _PATHS.items()]
    lines = [
        f'<symbol id="i-{name}" viewBox="0 0 16 16"><path class="line" d="{path}"/></symbol>'
        for name, path in _LINES.items()
    ]
    return Safe(f'<svg class="symbols" aria-hidden="true" focusable="false">{"".join(solid + lines)}</svg>\n')


def script() -> Safe:
    """Return the script of the page."""
    return Safe(f"<script>{asset('view.js')}</script>\n")
