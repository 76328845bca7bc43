"""A mind retold in the files of a workspace: an index in `MEMORY.md`, open threads, entries of days (MEM-186)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote

from adf_format.memory.blocks import put_block
from adf_format.memory.frontmatter import values_of
from adf_format.memory.placing import BOM, append_to_section, outline, text_of
from adf_format.memory.transfer.outcome import Options
from adf_format.memory.transfer.tree import COPIES

BLOCK = "mind"
MEMORY, ACTIVE = "MEMORY.md", "memory/active_context.md"
_LINK = re.compile(r"\(adf-file://([^()\s]+)\)")
_ENTRY = re.compile(r"\[(\d{4}-\d{2}-\d{2})\] +([a-z]+) *\| *(.+)")
_STATES = ("In Progress", "Blocked / Waiting", "Recently Completed")
_DAILY = ("Tasks", "Decisions", "Learned", "Blockers")

Change = Callable[[bytes | None], bytes]


@dataclass(frozen=True)
class _Page:
    path: str
    title: str
    kind: str
    status: str
    hook: str


def changes(mind: Mapping[str, bytes], options: Options) -> Iterator[tuple[str, Change]]:
    """Yield `(path, change)` for the files of a workspace that a mind is retold in; each change only adds."""
    texts = {path: content.decode("utf-8", "replace") for path, content in mind.items()}
    index = _index(texts.get("mind.md", ""))
    if index:
        yield (
            MEMORY,
            lambda content: _edited(content, MEMORY, "# Long-Term Memory", lambda t: put_block(t, BLOCK, index)),
        )
    pages = [_page(path, text) for path, text in sorted(texts.items()) if path.startswith("mind/")]
    threads = [one for one in pages if one.kind == "open-thread" and not one.status.startswith("superseded")]
    if threads:
        yield ACTIVE, lambda content: _edited(content, ACTIVE, "# Active Context", lambda text: _with(text, threads))
    if options.dailies:
        yield from _days(texts.get("mind/log.md", ""))


def _edited(content: bytes | None, path: str, title: str, change: Callable[[str], str]) -> bytes:
    text = text_of(content, path) if content is not None else ""
    return change(text if text.strip(BOM + " \t\r\n") else text + f"{title}\n").encode()


def _index(text: str) -> str:
    """Return what stands in `## Always` and `## Pages`, with links that lead to the copies."""
    seen = outline(text)
    parts = []
    for title in ("Always", "Pages"):
        heading = seen.find(title)
        body = re.sub(r"<!--.*?-->", "", "".join(seen.body(heading)), flags=re.DOTALL).strip() if heading else ""
        if body:
            linked = _LINK.sub(lambda found: f"({COPIES}/{found[1]})", body.replace("\r\n", "\n"))
            parts.append(f"## {title} (from the mind)\n\n{linked}")
    return "\n\n".join(parts)


def _page(path: str, text: str) -> _Page:
    facts = values_of(text)
    seen = outline(text)
    title = next((one.title for one in seen.headings if one.level == 1), path.rpartition("/")[2].removesuffix(".md"))
    hook = str(facts.get("description") or "")
    return _Page(path, title, str(facts.get("type")), str(facts.get("status") or ""), " ".join(hook.split()))


def _with(text: str, threads: list[_Page]) -> str:
    for one in threads:
        link = f"(adf_mind/{quote(one.path, safe='/-_.~')})"
        if link not in text:
            section = _STATES[1] if one.status.startswith("blocked") else _STATES[0]
            detail = f": {one.hook}" if one.hook else ""
            text = append_to_section(text, section, f"- **{one.title}**{detail} [page]{link}", _STATES, ACTIVE)
    return text


def _days(log: str) -> Iterator[tuple[str, Change]]:
    seen = outline(log)
    days: dict[str, list[tuple[str, str]]] = {}
    for heading in seen.headings:
        found = _ENTRY.fullmatch(heading.title) if heading.level == 2 else None
        if found is None or not _is_day(found[1]):
            continue
        body = " ".join("".join(seen.body(heading)).split())
        section = "Decisions" if found[2] == "update" else "Learned"
        days.setdefault(found[1], []).append((section, f"- {found[3]}: {body}" if body else f"- {found[3]}"))
    for day, items in days.items():
        path = f"memory/{day}.md"
        title, entries = f"# {day}", list(reversed(items))  # the log has the newest first, a note the oldest

        def change(text: str, path: str = path, entries: list[tuple[str, str]] = entries) -> str:
            for section, item in entries:
                if item not in text:
                    text = append_to_section(text, section, item, _DAILY, path)
            return text

        yield path, lambda content, p=path, t=title, c=change: _edited(content, p, t, c)  # type: ignore[misc]


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
