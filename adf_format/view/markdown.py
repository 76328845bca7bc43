"""Markdown of agents as HTML: raw HTML stays text, no image is fetched, links are checked, `[S137]` leads to its row.

Every element is made here, with `el`; mistune only parses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mistune

from adf_format.view.html import Safe, el, html, text
from adf_format.view.links import Targets

if TYPE_CHECKING:
    from mistune.core import BlockState, InlineState

LONGEST = 100_000  # characters that are parsed; longer texts are shown as they are
HEADING = 3  # a heading of a text stands below the headings of the page
_MARKUP = re.compile(r"[*_`#\[<|~\\>]|^[ \t]*(?:[-+=]|\d+[.)][ \t])|^ {4}|\t|://|  \n", re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")
_CITATION = r"\[(?=[^\[\]\n]{2,120}\])(?:[^\[\]\n]*[\s,;–-])?S[0-9]{1,18}(?:[\s,;–-][^\[\]\n]*)?\](?![(\[:])"
_TOKEN = re.compile(r"(?<![0-9A-Za-z])S([0-9]{1,18})(?![0-9A-Za-z])")
_ALIGN = {"left": None, "center": "mid", "right": "end"}


class Markdown:
    """Renders texts of one page."""

    def __init__(self, targets: Targets) -> None:
        self._renderer = _Renderer(targets)
        plugins: list[Any] = ["table", "strikethrough", "task_lists", "url", _citations]
        self._render = mistune.create_markdown(renderer=self._renderer, plugins=plugins)
        self.targets = targets

    def __call__(self, source: str, base: str = "") -> Safe:
        """Return a text as HTML.

        :param base: path of the file that the text is from, for relative links
        """
        source = source.strip("\n")
        if not _MARKUP.search(source):
            return html(el("p", part) for part in _PARAGRAPHS.split(source) if part.strip())
        if len(source) > LONGEST:
            return el("pre", cited(source, self.targets), class_="plain")
        self._renderer.base = base
        try:
            return Safe(self._render(source))
        except (RecursionError, ValueError, IndexError, KeyError):  # a text that the parser cannot follow
            return el("pre", cited(source, self.targets), class_="plain")


def cited(source: str, targets: Targets) -> Safe:
    """Return a text as it is, its citations as links."""
    if "[" not in source:
        return text(source)
    parts, at = [], 0
    for match in re.finditer(_CITATION, source):
        parts += [text(source[at : match.start()]), _citation(match[0], targets)]
        at = match.end()
    return html(parts, text(source[at:]))


def _citation(bracket: str, targets: Targets) -> Safe:
    parts, at = [], 0
    for match in _TOKEN.finditer(bracket):
        address = targets.seq(int(match[1]))
        parts.append(text(bracket[at : match.start()]))
        parts.append(el("a", match[0], href=address, class_="cite") if address else _unresolved(match[0]))
        at = match.end()
    return html(parts, text(bracket[at:]))


def _unresolved(token: str) -> Safe:
    return el("span", token, class_="cite gone", title="this row is not in this page")


def _citations(markdown: mistune.Markdown) -> None:
    """Teach a parser `[S137]`."""

    def parse(inline: Any, match: re.Match[str], state: InlineState) -> int:  # noqa: ARG001
        state.append_token({"type": "citation", "raw": match.group(0)})
        return match.end()

    markdown.inline.register("citation", _CITATION, parse, before="link")


class _Renderer(mistune.BaseRenderer):
    """Makes HTML of tokens; texts arrive raw, children as HTML made here."""

    NAME = "html"

    def __init__(self, targets: Targets) -> None:
        super().__init__()
        self._targets = targets
        self.base = ""

    def render_token(self, token: dict[str, Any], state: BlockState) -> str:
        """Return the HTML of one token; one of an unknown type becomes its text."""
        method: Callable[..., Safe] = getattr(self, f"on_{token['type']}", self.on_unknown)
        attributes = token.get("attrs") or {}
        if "raw" in token:
            return method(token["raw"], **attributes)
        children = Safe(self.render_tokens(token["children"], state)) if token.get("children") else Safe("")
        return method(children, **attributes)

    def on_unknown(self, inner: str, **_: Any) -> Safe:
        return html(inner)

    def on_text(self, inner: str) -> Safe:
        return text(inner)

    on_inline_html = on_text

    def on_block_html(self, inner: str) -> Safe:
        return el("pre", inner.strip(), class_="plain")

    def on_block_error(self, inner: str) -> Safe:
        return el("pre", inner, class_="plain")

    def on_citation(self, inner: str) -> Safe:
        return _citation(inner, self._targets)

    def on_emphasis(self, inner: Safe) -> Safe:
        return el("em", inner)

    def on_strong(self, inner: Safe) -> Safe:
        return el("strong", inner)

    def on_strikethrough(self, inner: Safe) -> Safe:
        return el("del", inner)

    def on_codespan(self, inner: str) -> Safe:
        return el("code", inner)

    def on_linebreak(self, _: Safe) -> Safe:
        return Safe("<br>")

    def on_softbreak(self, _: Safe) -> Safe:
        return Safe("\n")

    def on_blank_line(self, _: Safe) -> Safe:
        return Safe("")

    def on_link(self, inner: Safe, url: str = "", title: str | None = None) -> Safe:
        address = self._targets.address(url, self.base)
        if address is None:
            return el("span", inner, class_="nolink", title=f"not a link here: {url[:200]}")
        outside = not address.startswith("#") and ".html#" not in address
        return el("a", inner, href=address, title=title, rel="noopener noreferrer nofollow" if outside else None)

    def on_image(self, inner: Safe, url: str = "", title: str | None = None) -> Safe:  # noqa: ARG002
        address = self._targets.address(url, self.base)
        label = html("image: ", inner or "without a name")
        if address is None:
            return el("span", label, class_="image nolink", title=f"not fetched: {url[:200]}")
        return el("a", label, href=address, class_="image", rel="noopener noreferrer nofollow")

    def on_paragraph(self, inner: Safe) -> Safe:
        return el("p", inner)

    def on_block_text(self, inner: Safe) -> Safe:
        return inner

    def on_heading(self, inner: Safe, level: int = 1, **_: Any) -> Safe:
        return el(f"h{min(6, level + HEADING)}", inner)

    def on_thematic_break(self, _: Safe) -> Safe:
        return Safe("<hr>")

    def on_block_code(self, inner: str, info: str | None = None, **_: Any) -> Safe:
        words = (info or "").split()
        return el("pre", el("code", inner.rstrip("\n")), data_lang=words[0][:20] if words else None, tabindex="0")

    def on_block_quote(self, inner: Safe) -> Safe:
        return el("blockquote", inner)

    def on_list(self, inner: Safe, ordered: bool = False, start: int | None = None, **_: Any) -> Safe:
        begin = start if start not in (None, 1) and abs(start or 0) < 2**31 else None
        return el("ol", inner, start=begin) if ordered else el("ul", inner)

    def on_list_item(self, inner: Safe, **_: Any) -> Safe:
        return el("li", inner)

    def on_task_list_item(self, inner: Safe, checked: bool = False, **_: Any) -> Safe:
        mark = el("span", "☑ " if checked else "☐ ", aria_hidden="true")
        return el("li", mark, el("span", "done: " if checked else "open: ", class_="sr"), inner, class_="task")

    def on_table(self, inner: Safe) -> Safe:
        return el("div", el("table", inner), class_="scroll", tabindex="0", role="group", aria_label="table")

    def on_table_head(self, inner: Safe) -> Safe:
        return el("thead", el("tr", inner))

    def on_table_body(self, inner: Safe) -> Safe:
        return el("tbody", inner)

    def on_table_row(self, inner: Safe) -> Safe:
        return el("tr", inner)

    def on_table_cell(self, inner: Safe, align: str | None = None, head: bool = False) -> Safe:
        return el("th" if head else "td", inner, class_=_ALIGN.get(align or ""), scope="col" if head else None)
