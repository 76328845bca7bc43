"""Pages of a mind made from the files of a workspace (MEM-183). Readable, not lossless: originals are that."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any
from urllib.parse import quote

from adf_format.creation.agent import slug
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.memory.placing import BOM, outline
from adf_format.memory.transfer.manifest import PREFIX
from adf_format.memory.transfer.outcome import Options
from adf_format.memory.transfer.tree import Original, Tree

LONG_TERM, ACTIVE, TASKS = "MEMORY.md", "memory/active_context.md", "memory/pending_tasks.json"
CHANNELS = "memory/channel_context/"
KINDS = {"systems built": "reference", "lessons learned": "lesson", "key decisions": "decision"}
FRESH_DAYS = 3  # after which an imported context is to be checked
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\S")
_MARK = re.compile(r"^(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_BRACKETS = str.maketrans({"[": "(", "]": ")", "|": "/", "\n": " ", "\r": " "})

Read = Callable[[Original], bytes]


@dataclass(frozen=True)
class Page:
    """A page to be.

    :ivar path: of its row; :ivar sources: paths of the workspace that it is made from
    :ivar hook: one line for the index
    """

    path: str
    title: str
    content: bytes
    sources: tuple[str, ...]
    hook: str

    @cached_property
    def sha256(self) -> str:
        """Hash of the content."""
        return hashlib.sha256(self.content).hexdigest()


def pages(tree: Tree, read: Read, options: Options) -> list[Page]:
    """Return the pages that a workspace gives; files that are no text give none."""
    found: list[Page] = []
    for path, title, kind, text, hook, extra in _parts(tree, read, options):
        name = _unique(slug(path), {page.path for page in found})
        content = _page(kind, title, text, hook, extra)
        found.append(Page(name, _one_line(title), content.encode(), (extra["source"],), _one_line(hook)))
    return found


def focus(tree: Tree, read: Read) -> str | None:
    """Return one line on what is in progress, None if nothing is (`--always`)."""
    text = _text(tree, read, ACTIVE)
    seen = outline(text or "")
    heading = seen.find("In Progress")
    item = next((line for line in seen.body(heading) if _ITEM.match(line)), None) if heading else None
    return f"Current focus: {_one_line(_MARK.sub('', item))}" if item else None


Part = tuple[str, str, str, str, str, dict[str, str]]  # slug, title, type, body, hook, frontmatter and source


def _parts(tree: Tree, read: Read, options: Options) -> Iterator[Part]:
    text = _text(tree, read, LONG_TERM)
    yield from _sections(text) if text is not None else ()
    text = _text(tree, read, ACTIVE)
    if text is not None and text.strip():
        until = (options.now.date() + timedelta(days=FRESH_DAYS)).isoformat()
        extra = {"source": ACTIVE, "status": "current", "stale_after": until}
        yield "active-context", "Active Context", "open-thread", _without_title(text), "what is in progress", extra
    text = _text(tree, read, TASKS)
    tasks = _open(text) if text is not None else []
    if tasks:
        body = "\n".join(map(_task, tasks)) + "\n"
        hook = f"{len(tasks)} open {'task' if len(tasks) == 1 else 'tasks'}"
        yield "open-tasks", "Open Tasks", "open-thread", body, hook, {"source": TASKS, "status": "current"}
    for one in tree.originals:
        if one.path.startswith(CHANNELS) and one.path.endswith(".md") and one.path != CHANNELS + "README.md":
            text = _text(tree, read, one.path)
            if text is not None and text.strip():
                name = one.path.removeprefix(CHANNELS).removesuffix(".md")
                hook = f"state of the channel {name}"
                body = _without_title(text)
                yield f"channel-{name}", f"Channel {name}", "reference", body, hook, {"source": one.path}


def _sections(text: str) -> Iterator[Part]:
    seen = outline(text)
    tops = [one for one in seen.headings if one.level == 2]
    before = seen.lines[: tops[0].line] if tops else seen.lines
    opening = "".join(line for line in before if not line.lstrip(BOM).startswith("# ")).strip()
    if opening:
        hook = "what stands before the sections"
        yield "long-term-memory", "Long-Term Memory", "reference", opening, hook, {"source": LONG_TERM}
    for heading in tops:
        body = seen.body(heading)
        items = sum(bool(_ITEM.match(line)) for line in body)
        if "".join(body).strip():
            kind = KINDS.get(heading.title.casefold(), "reference")
            hook = f"{heading.title}, {items} {'item' if items == 1 else 'items'}"
            yield heading.title, heading.title, kind, "".join(body), hook, {"source": LONG_TERM}


def _unique(name: str, taken: set[str]) -> str:
    base = name if name != "log" else "log-page"  # `mind/log.md` is no page (MEM-134)
    number, found = 2, base
    while f"mind/{found}.md" in taken:
        found, number = f"{base[:60]}-{number}", number + 1
    return f"mind/{found}.md"


def _page(kind: str, title: str, body: str, hook: str, extra: dict[str, str]) -> str:
    source = f"adf-file://{quote(PREFIX + extra['source'], safe='/-_.~')}"
    more = [f"{name}: {value}" for name, value in extra.items() if name != "source"]
    head = ["---", f"type: {kind}", f"description: {json.dumps(_one_line(hook), ensure_ascii=False)}", *more]
    body = body.replace("\r\n", "\n").strip("\n")
    return "\n".join([*head, "sources:", f"  - {source}", "---", "", f"# {_one_line(title)}", "", body, ""])


def _without_title(text: str) -> str:
    seen = outline(text)
    first = next((one for one in seen.headings if one.level == 1), None)
    return "".join(line for number, line in enumerate(seen.lines) if first is None or number != first.line).lstrip(BOM)


def _open(text: str) -> list[dict[str, Any]]:
    try:
        value = decode(text).value
    except JsonTextError:
        return []
    tasks = value.get("tasks") if isinstance(value, dict) else None
    listed = tasks if isinstance(tasks, list) else []
    return [one for one in listed if isinstance(one, dict) and one.get("status") != "done"]


def _task(task: dict[str, Any]) -> str:
    facts = [str(task[name]) for name in ("status", "priority") if isinstance(task.get(name), str)]
    facts += [f"since {task['createdAt'][:10]}"] if isinstance(task.get("createdAt"), str) else []
    note = f": {task['note']}" if isinstance(task.get("note"), str) and task["note"] else ""
    return _one_line(f"- **{task.get('title', '?')}** (`{task.get('id', '?')}`, {', '.join(facts)}){note}")


def _one_line(text: str) -> str:
    return " ".join(text.translate(_BRACKETS).split()) if not text.startswith("- ") else " ".join(text.split())


def _text(tree: Tree, read: Read, path: str) -> str | None:
    one = next((one for one in tree.originals if one.path == path), None)
    return read(one).decode() if one is not None and one.encoding == "utf-8" else None
