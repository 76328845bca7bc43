"""A stretch of a markdown file that is ours, between two comments; everything around it stays (MEM-064, MEM-186)."""

from __future__ import annotations

import re

from adf_format.errors import UnreadableError
from adf_format.memory.placing import insert_after, outline


def markers(name: str) -> tuple[str, str]:
    """Return the lines that begin and end a block."""
    return f"<!-- adf-format:{name} begin -->", f"<!-- adf-format:{name} end -->"


def put_block(text: str, name: str, body: str) -> str:
    """Put a block into a text: in place of the last one of this name, or at the end.

    :param body: with line feeds; it gets the line ending of the text
    :raises UnreadableError: a marker without its partner, or more than one block
    """
    seen = outline(text)
    begin, end = markers(name)
    lines = [begin, *body.strip("\n").split("\n"), end]
    found = re.findall(f"{re.escape(begin)}|{re.escape(end)}", text)
    if not found:
        blank = not seen.lines or not seen.lines[-1].strip()
        return insert_after(text, len(seen.lines) - 1, lines if blank else ["", *lines])
    if found != [begin, end]:
        raise UnreadableError(f"the markers of the block {name!r} are not one pair", hint="mend or remove them by hand")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return before + seen.ending.join(lines) + after
