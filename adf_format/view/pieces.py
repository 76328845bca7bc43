"""Small parts that all sections are made of."""

from __future__ import annotations

from typing import Any

from adf_format.audit import javascript_json
from adf_format.errors import JsonTextError
from adf_format.view.html import Child, Safe, el, html, text
from adf_format.view.links import Targets, here
from adf_format.view.markdown import cited
from adf_format.view.words import counted

TEXT = 100_000  # characters of one text that a page shows
DATA = 20_000  # characters of what a tool got or gave
LINE = 140


def icon(name: str) -> Safe:
    """Return a symbol of the page; it says nothing that words do not say."""
    return el("svg", el("use", href=here(f"i-{name}")), class_="i", aria_hidden="true", focusable="false")


def shape(name: str) -> Safe:
    """Return the shape of a loop."""
    return el("svg", el("use", href=here(f"i-{name}")), class_="i dot", aria_hidden="true", focusable="false")


def written(value: Any) -> str:
    """Return a value as text: a text as it is, everything else as JSON."""
    try:
        return value if isinstance(value, str) else javascript_json(value, exact=True)
    except (JsonTextError, RecursionError) as error:
        return f"({getattr(error, 'message', 'nested too deeply')})"


def left_out(value: str, limit: int) -> Safe | None:
    """Return the words for what is left out of a text that is too long, None if nothing is."""
    if len(value) <= limit:
        return None
    return el("p", f"… {len(value) - limit:,} more characters are not in this page", class_="cut")


def plain(value: str, targets: Targets | None = None, limit: int = TEXT) -> Safe:
    """Return a text as it is, cut where it is too long; its citations are links."""
    shown = value[:limit]
    inner = cited(shown, targets) if targets else text(shown)
    return html(el("div", inner, class_="asis", dir="auto"), left_out(value, limit))


def code(value: str, limit: int = DATA) -> Safe:
    """Return data as it is, in a fixed pitch."""
    return html(el("pre", text(value[:limit]), tabindex="0"), left_out(value, limit))


def first_line(value: str, limit: int = LINE) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(value[: 4 * limit].split())
    return f"{line[:limit]}…" if len(line) > limit or len(value) > 4 * limit else line


def pairs(value: dict[str, Any]) -> Safe:
    """Return an object as a list of keys and values."""
    rows = [html(el("dt", first_line(str(key), 80)), el("dd", _value(one))) for key, one in list(value.items())[:200]]
    more = el("p", f"… {counted(len(value) - 200, 'more key')}", class_="cut") if len(value) > 200 else None
    return html(el("dl", rows, class_="pairs"), more)


def _value(value: Any) -> Safe:
    shown = written(value)
    if len(shown) <= LINE and "\n" not in shown:
        return el("code", shown)
    return code(shown)


def details(summary: Child, *children: Child, class_: str = "", open_: bool = False, **attributes: Any) -> Safe:
    """Return what unfolds on a click, without any script."""
    return el("details", el("summary", summary), *children, class_=class_ or None, open=open_, **attributes)


def table(
    head: tuple[str, ...], rows: list[tuple[Child, ...]], label: str, *, ends: frozenset[int] = frozenset()
) -> Safe:
    """Return a table that scrolls by itself where the page is too narrow.

    :param ends: columns of numbers
    """
    heading = el(
        "tr", [el("th", name, scope="col", class_="end" if at in ends else None) for at, name in enumerate(head)]
    )
    body = [
        el("tr", [el("td", cell, class_="end" if at in ends else None) for at, cell in enumerate(row)]) for row in rows
    ]
    made = el("table", el("thead", heading), el("tbody", body))
    return el("div", made, class_="scroll", tabindex="0", role="group", aria_label=label)


def notice(*children: Child, class_: str = "") -> Safe:
    """Return a remark that stands apart."""
    return el("p", *children, class_=f"notice {class_}".strip())
