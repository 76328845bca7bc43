"""Pages of small agents, for the tests of the viewer."""

from __future__ import annotations

import io
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import apsw

from adf_format import sample
from adf_format.container import open_readonly
from adf_format.validation.engine import validate_file
from adf_format.view import Options, prepare, write_folder, write_page
from adf_format.view.html import VOID

Change = Callable[[apsw.Connection], object]


def agent(path: Path, change: Change | str | None = None, version: int = 32) -> Path:
    """Write the sample, changed."""
    sample.build(path, version)
    if change is not None:
        connection = apsw.Connection(str(path))
        connection.execute(change) if isinstance(change, str) else change(connection)
        connection.close()
    return path


WHOLE = Options(title="ada.adf")


def page(path: Path, options: Options = WHOLE) -> str:
    """Return the page of a file."""
    sink = io.StringIO()
    with open_readonly(path) as container:
        view, stories = prepare(container, options, validate_file(path))
        write_page(view, stories, sink)
    return sink.getvalue()


def folder(path: Path, target: Path, rows: int) -> dict[str, str]:
    """Write a folder, and return its pages."""
    target.mkdir()
    with open_readonly(path) as container:
        view, stories = prepare(container, Options(limit=None, rows_of_page=rows, title="ada.adf"), validate_file(path))
        write_folder(view, stories, target)
    return {file.name: file.read_text("utf-8") for file in sorted(target.iterdir())}


class Checked(HTMLParser):
    """Reads a page: every element is closed where it should be, and what it holds is collected."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: dict[str, int] = {}
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(source)
        self.close()
        assert self.stack == [], f"not closed: {self.stack}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.addresses.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> ends nothing"
        assert self.stack[-1] == tag, f"</{tag}> ends <{self.stack[-1]}>"
        self.stack.pop()
