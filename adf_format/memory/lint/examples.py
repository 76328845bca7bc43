"""Building blocks of the examples of the rules on memory."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path

from adf_format.memory.paths import TASKS
from adf_format.validation.rule import Example

NOW = "2026-04-10T12:00:00+00:00"
"""What time it is in an example of a workspace."""

TODAY = "memory/2026-04-10.md"
CONTEXT = "# Active Context\n\n## In Progress\n\n## Blocked / Waiting\n\n## Recently Completed\n"
TIME = "2026-01-01T00:00:00.000Z"


_CHANGED = re.compile(r"<!-- changed (\d{4}-\d{2}-\d{2}) -->")


def build(root: Path, example: Example) -> None:
    """Write the workspace of an example; files are of `NOW`, or of the day that a comment in them says."""
    for path, text in example.files:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        said = _CHANGED.search(text)
        changed = datetime.fromisoformat(f"{said[1]}T12:00:00+00:00" if said else NOW).timestamp()
        os.utime(place, (changed, changed))
    (root / "memory").mkdir(exist_ok=True)
    if not any(path.startswith("memory/2026-04-10") for path, _ in example.files):
        (root / TODAY).write_text("# 2026-04-10\n", "utf-8")  # so that there is a workspace


def note(body: str, day: str = "2026-04-10") -> tuple[str, str]:
    """A daily note."""
    return f"memory/{day}.md", f"# {day}\n\n{body}"


def workspace(*files: tuple[str, str]) -> Example:
    """A workspace with some files."""
    return Example(files=files)


def tasks(*items: str) -> Example:
    """A workspace with a tracker."""
    return workspace((TASKS, f'{{"lastUpdated": null, "tasks": [{", ".join(items)}]}}'))


def task(identity: str = "a1", status: str = "pending", created: str = "2026-04-10T08:00:00Z", more: str = "") -> str:
    """One task as JSON."""
    return f'{{"id": "{identity}", "title": "water", "status": "{status}", "createdAt": "{created}"{more}}}'


def put(path: str, text: str, protection: str = "none") -> str:
    """SQL that makes or replaces a file of the agent."""
    quoted = text.replace("'", "''")
    quoted = quoted.replace("\r", "' || char(13) || '")
    data = "CAST(" + " || char(10) || ".join(f"'{line}'" for line in quoted.split("\n")) + " AS BLOB)"
    return (
        f"INSERT OR REPLACE INTO adf_files (path, content, mime_type, size, protection, authorized, created_at,"
        f" updated_at) VALUES ('{path}', {data}, 'text/markdown', {len(text.encode())}, '{protection}', 0,"
        f" '{TIME}', '{TIME}')"
    )


def mind(pages: str = "", always: str = "- I am Ada.") -> str:
    """SQL that replaces `mind.md`."""
    return put("mind.md", f"# Mind\n\n## Always\n\n{always}\n\n## Pages\n\n{pages}\n", "no_delete")


def page(text: str, slug: str = "beds", hook: str = "the beds and what grows in them") -> str:
    """SQL that adds a page with its line in the catalog."""
    line = f"- [{slug}](adf-file://mind/{slug}.md) — {hook}"
    return f"{mind(line)}; {put(f'mind/{slug}.md', text)}"


def lesson(front: str = "sources: [https://example.org/beds]", body: str = "Water early.", kind: str = "lesson") -> str:
    """A page with its frontmatter."""
    more = f"{front}\n" if front else ""
    return f"---\ntype: {kind}\n{more}---\n# Beds\n\n{body}\n"
