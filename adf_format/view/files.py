"""The files of an agent: text to read, pictures to see, small ones to take along; deleted ones from the archive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adf_format.audit import ArchivedFile, ShapeError
from adf_format.history.reading import Reading
from adf_format.inspection.file import whole
from adf_format.view import media
from adf_format.view.context import View
from adf_format.view.html import Page, Safe, el, html
from adf_format.view.links import data, file_id
from adf_format.view.pieces import code, details, first_line, icon, notice
from adf_format.view.tables import Row, newest, shown
from adf_format.view.words import counted, moment, size

FILES = 400
READ = 256_000  # bytes of one file that go into a page
BUDGET = 4_000_000  # bytes of all files together
ARCHIVED = 100
_COLUMNS = ("path", "mime_type", "size", "protection", "updated_at")
_MARKDOWN = (".md", ".markdown")
TEXT_READ = 60_000


@dataclass
class Budget:
    """Bytes that a page still has room for."""

    left: int = BUDGET

    def take(self, count: int) -> bool:
        """Whether there is room; what is given is gone."""
        if count > min(self.left, READ):
            return False
        self.left -= count
        return True


def paths(view: View) -> frozenset[str]:
    """Return the paths that the page shows."""
    if not view.file.has("adf_files", "path", "content"):
        return frozenset()
    rows, _ = newest(view.file, "adf_files", ("path",), by="path", limit=FILES)
    return frozenset(shown(row.get("path")) for row in rows)


def content_of(view: View, path: str, limit: int = READ) -> bytes | None:
    """Return the content of a file, None if there is none, or too much of it."""
    if not view.file.has("adf_files", "path", "content"):
        return None
    length = view.file.one("SELECT octet_length(content) FROM adf_files WHERE path = ?", (path,))
    if type(length) is not int or length > limit:
        return None
    found = view.file.one("SELECT CAST(content AS BLOB) FROM adf_files WHERE path = ?", (path,))
    return bytes(found) if isinstance(found, bytes) else None


def section(view: View, page: Page) -> None:
    """Write the files, by path."""
    rows, total = newest(view.file, "adf_files", _COLUMNS, by="path", limit=FILES)
    budget = Budget()
    with page.inside("ul", class_="files"):
        for row in rows:
            page.write(el("li", _file(view, row, budget), id=file_id(shown(row.get("path")))))
    if total > len(rows):
        page.write(notice(f"{counted(total - len(rows), 'more file')} not shown."))
    _deleted(view, page, budget)


def _file(view: View, row: Row, budget: Budget) -> Safe:
    path = shown(row.get("path"))
    length = whole(view.file.one("SELECT octet_length(content) FROM adf_files WHERE path = ?", (path,)))
    content = content_of(view, path) if budget.take(length) else None
    protection = shown(row.get("protection"))
    marks = el("span", protection.replace("_", " "), class_="tag") if protection not in ("", "none") else None
    facts = el("span", f"{size(length)} · {shown(row.get('mime_type'))[:60] or 'no type'}", class_="arg")
    head = html(icon("file"), el("b", first_line(path, 200), class_="name"), facts, marks)
    times = el("div", f"changed {shown(row.get('updated_at'))[:40]}", class_="lab") if row.get("updated_at") else None
    return details(head, times, _content(view, path, content), class_="chip file")


def _content(view: View, path: str, content: bytes | None) -> Safe:
    if content is None:
        return notice("Too large for this page.")
    shown_picture = media.picture(content, path)
    name = path.rpartition("/")[2] or "file"
    take = el(
        "a", "Save a copy", href=data("application/octet-stream", content), download=first_line(name, 80), class_="save"
    )
    if shown_picture is not None:
        return html(shown_picture, take)
    text = _text(content)
    if text is None:
        return html(notice("Not a text, and not a picture that is shown here."), take)
    if path.lower().endswith(_MARKDOWN):
        source = details("Source", code(text, TEXT_READ), class_="quiet")
        return html(el("div", view.markdown(text, path), class_="md", dir="auto"), source, take)
    return html(code(text, TEXT_READ), take)


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _deleted(view: View, page: Page, budget: Budget) -> None:
    """Write files that only snapshots have."""
    rows = [one.row for one in view.known.survey.checked.values() if one.row.kind == "file"]
    if not rows:
        return
    page.write(el("h4", "Deleted, kept in the archive"))
    with page.inside("ul", class_="files"):
        for row in rows[-ARCHIVED:]:
            archived = next(_archived(view, row), None)
            head = html(
                icon("file"),
                el("b", first_line(archived.path if archived else row.ref or "?", 200), class_="name"),
                el("span", f"deleted {moment(row.created_at)} · snapshot {row.id}", class_="arg"),
            )
            fits = archived is not None and budget.take(len(archived.content))
            body = (
                _content(view, archived.path, archived.content)
                if fits and archived
                else notice("Cannot be shown here.")
            )
            page.write(el("li", details(head, body, class_="chip file gone"), id=f"snapshot-{row.id}"))
    if len(rows) > ARCHIVED:
        page.write(notice(f"{counted(len(rows) - ARCHIVED, 'older deleted file')} not shown."))


def _archived(view: View, row: Any) -> Iterator[ArchivedFile]:
    for _, value in Reading(view.container, row):
        if isinstance(value, dict):
            try:
                yield ArchivedFile.parse(value)
            except ShapeError:
                return
