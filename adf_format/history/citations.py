"""Who cites a row: pages of the memory, and summaries (`[S137]`, MEM-160)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import apsw

from adf_format import rows
from adf_format.history.model import Summary
from adf_format.inspection.file import File

EXCERPT = 160  # characters
CITATIONS = 1000
_BRACKETS = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True)
class Citation:
    """A line that cites a row.

    :ivar path: page of the memory, None for a summary; :ivar line: from 1
    :ivar seq: the summary, None for a page
    """

    text: str
    path: str | None = None
    line: int | None = None
    seq: int | None = None


def page_citations(file: File, seq: int) -> Iterator[Citation]:
    """Yield the lines of `mind.md` and of the pages under `mind/` that cite a row."""
    if not file.has("adf_files", "path", "content"):
        return
    where = "path = 'mind.md' OR path GLOB 'mind/*'"
    query = f"SELECT rowid, path FROM adf_files WHERE {where} ORDER BY path <> 'mind.md', path"
    found = 0
    for rowid, path in file.connection.execute(query):
        for number, line in _citing(_content(file, rowid), seq):
            found += 1
            if found > CITATIONS:
                return
            yield Citation(line, path=path, line=number)


def summary_citations(summaries: Iterable[Summary], seq: int) -> Iterator[Citation]:
    """Yield the lines of compaction summaries that cite a row."""
    for one in summaries:
        for _, line in _citing(one.text, seq):
            yield Citation(line, seq=one.seq)


def _content(file: File, rowid: int) -> str:
    try:
        value = rows.value(file.connection, "adf_files", "content", rowid)
    except apsw.Error:
        return ""
    return value.decode(errors="replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _citing(text: str, seq: int) -> Iterator[tuple[int, str]]:
    if f"S{seq}" not in text and f"seq/{seq}" not in text:
        return
    token = re.compile(rf"(?<![0-9A-Za-z])S{seq}(?![0-9A-Za-z])")
    item = re.compile(rf"\s*-\s*[\"']?S{seq}[\"']?\s*")
    address = re.compile(rf"adf-audit://seq/{seq}(?![0-9])")
    for number, line in enumerate(text.splitlines(), 1):
        bracketed = any(token.search(group[0]) for group in _BRACKETS.finditer(line))
        if bracketed or address.search(line) or item.fullmatch(line):
            yield number, _excerpt(line, seq)


def _excerpt(line: str, seq: int) -> str:
    line = line.strip()
    start = max(0, line.find(str(seq)) - EXCERPT // 2) if len(line) > EXCERPT else 0
    cut = line[start : start + EXCERPT]
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT < len(line) else ''}"
