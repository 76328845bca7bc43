"""Small pieces of Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; bars in cells are escaped. No rows give no table."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    if not lines:
        return []
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *lines, ""]


def code(value: str) -> str:
    """Return a text as code within a line; backticks in it are kept."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", value)), default=0))
    pad = " " if value.startswith("`") or value.endswith("`") else ""
    return f"{fence}{pad}{value}{pad}{fence}"


def prose(text: str) -> str:
    """Return a description with what Markdown would swallow escaped, code left alone."""
    parts = re.split(r"(`+[^`]*`+)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([<*])", r"\\\1", part) for part in parts)


def block(text: str, language: str) -> list[str]:
    """Return a fenced block."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return [f"{fence}{language}", *text.split("\n"), fence, ""]


def value(content: Any, limit: int = 60) -> str:
    """Return a JSON value as code, or its size if it is long."""
    text = json.dumps(content, ensure_ascii=False)
    if len(text) <= limit:
        return code(text)
    return f"{len(content)} entries" if isinstance(content, list) else f"{len(content)} keys"


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link(heading: str, text: str | None = None) -> str:
    """Return a link to a heading of the same page."""
    return f"[{text or heading}](#{anchor(heading)})"
