"""The configuration, what is as in a fresh file set back, secrets not shown."""

from __future__ import annotations

import re
from typing import Any

from adf_format.config.fresh import defaults
from adf_format.errors import AdfError
from adf_format.schemas import LATEST, OLDEST
from adf_format.view.context import View
from adf_format.view.html import Child, Safe, el, html
from adf_format.view.pieces import details, first_line, notice, written
from adf_format.view.words import counted

DEPTH = 8
KEYS = 300  # of one object or array
VALUE = 2000
_SECRET = re.compile(
    r"(?:api_?key|secret|password|passphrase|credential|private_?key|authorization|bearer)|(?:^|_)tokens?$",
    re.IGNORECASE,
)
_MISSING = object()


def section(view: View) -> Safe:
    """Return the configuration, one part after another."""
    if view.agent.trouble is not None:
        return notice(f"The configuration cannot be read: {view.agent.trouble}", class_="problem")
    config = view.agent.config
    if not config:
        return notice("There is no configuration.")
    version = min(max(view.file.version or LATEST, OLDEST), LATEST)
    try:
        usual: Any = defaults(version)
    except AdfError:
        usual = {}
    parts = [_part(key, value, usual.get(key, _MISSING)) for key, value in list(config.items())[:KEYS]]
    note = el(
        "p",
        el("span", "Greyed", class_="usual"),
        f" values are those of a fresh file of storage version {version}.",
        class_="lab",
    )
    return html(note, el("div", parts, class_="config"))


def _part(key: str, value: Any, usual: Any) -> Safe:
    if not isinstance(value, (dict, list)) or not value:
        return el("div", el("span", first_line(key, 80), class_="key"), _leaf(key, value, usual), class_="setting")
    changed = value != usual
    size = counted(len(value), "entry", "entries") if isinstance(value, list) else counted(len(value), "key")
    marks = el("span", "changed" if changed else "as in a fresh file", class_=f"tag {'' if changed else 'usual'}")
    head = html(el("b", first_line(key, 80), class_="name"), el("span", size, class_="arg"), marks)
    return details(head, _value(key, value, usual, 1), class_="chip config-part")


def _value(key: str, value: Any, usual: Any, depth: int) -> Safe:
    if depth > DEPTH or not isinstance(value, (dict, list)) or not value:
        return _leaf(key, value, usual)
    if isinstance(value, list):
        return _list(key, value, usual, depth)
    rows: list[Child] = []
    for name, one in list(value.items())[:KEYS]:
        other = usual.get(name, _MISSING) if isinstance(usual, dict) else _MISSING
        rows.append(html(el("dt", first_line(str(name), 80)), el("dd", _value(str(name), one, other, depth + 1))))
    return html(el("dl", rows, class_="pairs"), _more(len(value)))


def _list(key: str, value: list[Any], usual: Any, depth: int) -> Safe:
    known = usual if isinstance(usual, list) else []
    if all(not isinstance(one, (dict, list)) for one in value):
        return html(
            [html(_leaf(key, one, one if one in known else _MISSING), " ") for one in value[:KEYS]], _more(len(value))
        )
    entries = [
        el(
            "li",
            _value(key, one, one if one in known else _MISSING, depth + 1),
            class_="usual" if one in known else None,
        )
        for one in value[:KEYS]
    ]
    return html(el("ul", entries, class_="entries"), _more(len(value)))


def _more(count: int) -> Safe | None:
    return notice(f"… {count - KEYS:,} more") if count > KEYS else None


def _leaf(key: str, value: Any, usual: Any) -> Safe:
    if _SECRET.search(key) and isinstance(value, str) and value:
        return el("span", "•••••• not shown", class_="secret")
    shown = written(value)
    text = shown if len(shown) <= VALUE else f"{shown[:VALUE]} … {len(shown) - VALUE:,} more characters"
    kind = "usual" if usual is not _MISSING and value == usual else None
    if "\n" in text or len(text) > 200:
        return el("pre", text, class_=kind, tabindex="0")
    return el("code", text if text or not isinstance(value, str) else '""', class_=kind)
