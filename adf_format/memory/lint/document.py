"""A text of memory, with what the rules ask of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from adf_format.memory.placing import BOM, Heading, Outline, outline
from adf_format.validation.rule import Rule

_LINK = re.compile(r"(?<!!)\[(?P<title>[^\]\n]*)\]\((?P<target>[^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
_BULLET = re.compile(r"\s*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?P<text>\S.*)")
Report = Callable[..., None]


class Line(NamedTuple):
    """A line outside code blocks and comments; `number` from 1, without its ending."""

    number: int
    text: str


class Link(NamedTuple):
    """A markdown link; `after` is what follows it on its line."""

    line: int
    title: str
    target: str
    after: str


@dataclass
class Document:
    """One file.

    :ivar path: in the workspace or among the files of the agent
    :ivar place: what a finding says of it: `{"file"}`, or `{"table", "rowid", "column"}`
    :ivar changed: when it was changed last, an aware time, if known
    :ivar facts: what one check found out for the next, by name
    """

    path: str
    text: str
    place: dict[str, Any]
    report_to: Report
    changed: datetime | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def report(self, rule: Rule, message: str, line: int | None = None, **more: Any) -> None:
        """Report a finding at a line."""
        self.report_to(rule, message, **self.place, line=line, **more)

    @cached_property
    def outline(self) -> Outline:
        """Its lines and headings."""
        return outline(self.text)

    @cached_property
    def lines(self) -> list[Line]:
        """The lines that are text: outside code blocks and comments."""
        hidden = self.outline.hidden
        pairs = enumerate(self.outline.lines)
        return [Line(at + 1, line.rstrip("\r\n").removeprefix(BOM)) for at, line in pairs if at not in hidden]

    @cached_property
    def count(self) -> int:
        """How many lines there are, all of them."""
        return len(self.outline.lines)

    def section(self, heading: Heading) -> list[Line]:
        """The text lines of a section, without its heading."""
        end = self.outline.end(heading)
        return [line for line in self.lines if heading.line + 1 < line.number <= end]

    def links(self) -> Iterator[Link]:
        """Yield the links outside code and comments."""
        for number, text in self.lines:
            for found in _LINK.finditer(text):
                yield Link(number, found["title"], found["target"], text[found.end() :])

    def bullets(self, lines: list[Line] | None = None) -> Iterator[Line]:
        """Yield list items, without their marks."""
        for number, text in self.lines if lines is None else lines:
            if found := _BULLET.fullmatch(text):
                yield Line(number, found["text"].rstrip())
