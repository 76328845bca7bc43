"""Lines for pages in the index and the log of a mind: inserted, never rewritten (MEM-121, MEM-140, MEM-189)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from adf_format.creation import seeds
from adf_format.memory.placing import append_to_section, insert_after, outline, text_of
from adf_format.memory.transfer.derive import Page

INDEX, LOG = "mind.md", "mind/log.md"


def address(path: str) -> str:
    """Return the link to a file of the agent (MEM-122)."""
    return f"adf-file://{quote(path, safe='/-_.~')}"


def with_lines(content: bytes | None, pages: Sequence[Page], focus: str | None = None) -> bytes:
    """Return the index with a line for each page that it does not link yet, and with the focus, if one is given."""
    text = text_of(content, INDEX) if content is not None else ""
    if not text.strip("\ufeff \t\r\n"):
        text = seeds.MIND if pages or focus else text  # an empty index is seeded, as by an upgrade (MEM-112)
    for page in pages:
        if f"({address(page.path)})" not in text:
            text = append_to_section(text, "Pages", f"- [{page.title}]({address(page.path)}) — {page.hook}", what=INDEX)
    if focus is not None and f"- {focus}" not in text:
        text = append_to_section(text, "Always", f"- {focus}", ("Always", "Pages"), what=INDEX)
    return text.encode()


def with_entries(content: bytes | None, day: str, added: Iterable[Page], updated: Iterable[Page]) -> bytes:
    """Return the log with an entry on top for each page, `ingest` for new ones and `update` for others (MEM-140)."""
    text = text_of(content, LOG) if content is not None else ""
    entries = [_entry(day, "ingest", page) for page in added] + [_entry(day, "update", page) for page in updated]
    if not entries:
        return text.encode()
    if not text.strip("\ufeff \t\r\n"):
        text = seeds.MIND_LOG
    seen = outline(text)
    first = next((one.line for one in seen.headings if one.level == 2), len(seen.lines))
    block = [line for entry in entries for line in (*entry, "")]
    if first == len(seen.lines) and seen.lines and seen.lines[-1].strip():
        block = ["", *block[:-1]]
    return insert_after(text, first - 1, block).encode()


def _entry(day: str, kind: str, page: Page) -> list[str]:
    sources = ", ".join(f"`{source}`" for source in page.sources)
    return [f"## [{day}] {kind} | {page.title}", "", f"From {sources} of the imported workspace: {page.hook}."]
