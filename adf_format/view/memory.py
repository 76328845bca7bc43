"""What the agent remembers: index, pages, log, and who it is (MEM)."""

from __future__ import annotations

import re

from adf_format.view.context import View
from adf_format.view.files import content_of
from adf_format.view.html import Safe, el, html
from adf_format.view.pieces import details, first_line, icon, notice
from adf_format.view.words import counted, size

PAGES = 200
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")


def section(view: View) -> Safe:
    """Return the mind."""
    index = _text(view, "mind.md")
    shown = el("div", document(view, index, "mind.md"), class_="paper") if index and index.strip() else None
    parts = [shown or notice("mind.md is empty." if index is not None else "There is no mind.md.")]
    parts += [_page(view, "soul.md", "Who it is")] if _text(view, "soul.md") else []
    pages = page_paths(view)
    if pages:
        parts.append(el("h4", counted(len(pages), "page")))
        parts.append(el("div", [_page(view, path, None) for path in pages[:PAGES]]))
        if len(pages) > PAGES:
            parts.append(notice(f"{counted(len(pages) - PAGES, 'more page')} not shown."))
    parts += [_page(view, "mind/log.md", "Log of changes")] if _text(view, "mind/log.md") else []
    return html(parts)


def page_paths(view: View) -> list[str]:
    """Return the paths of the pages of the mind, the log left out."""
    if not view.file.has("adf_files", "path"):
        return []
    query = "SELECT CAST(path AS TEXT) FROM adf_files WHERE path GLOB 'mind/*' AND path <> 'mind/log.md' ORDER BY path"
    try:
        return [path for (path,) in view.file.rows(query)]
    except UnicodeDecodeError:
        return []


def _text(view: View, path: str) -> str | None:
    content = content_of(view, path)
    return None if content is None else content.decode("utf-8", "replace")


def _page(view: View, path: str, title: str | None) -> Safe:
    text = _text(view, path)
    fields, body = front_matter(text or "")
    name = title or fields.get("title") or path.removeprefix("mind/")
    hint = fields.get("description") or fields.get("type") or ""
    facts = [el("span", first_line(hint, 100), class_="arg")] if hint else []
    facts.append(
        el("span", f"{first_line(path, 80)} · {size(len((text or '').encode('utf-8', 'replace')))}", class_="arg")
    )
    head = html(icon("page"), el("b", first_line(name, 100), class_="name"), facts)
    inner = document(view, text, path) if text and body.strip() else notice("Empty, or too large for this page.")
    return details(head, inner, class_="chip page")


def document(view: View, text: str, path: str) -> Safe:
    """Return a page of the memory: its front matter as a list, its text rendered."""
    fields, body = front_matter(text)
    facts = [html(el("dt", key), el("dd", value)) for key, value in fields.items()]
    return html(
        el("dl", facts, class_="front") if facts else None,
        el("div", view.markdown(body, path), class_="md", dir="auto"),
    )


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split a page into the keys before it, as they are written, and its text."""
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    fields: dict[str, str] = {}
    key = ""
    for line in match[1].splitlines()[:60]:
        found = _LINE.match(line)
        if found:
            key = found[1]
            fields[key] = found[2].strip().strip("\"'")
        elif key and line.strip():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields, text[match.end() :]
