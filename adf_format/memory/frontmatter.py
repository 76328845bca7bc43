"""The YAML block at the head of a page, read strictly (MEM-130, MEM-132, MEM-133)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from adf_format.memory.placing import BOM

_FENCE = re.compile(r"---[ \t]*")
LARGEST = 64 << 10  # characters; a block is a handful of lines


@dataclass(frozen=True)
class Frontmatter:
    """What stands between the two lines `---`.

    :ivar values: the mapping; empty if it cannot be read
    :ivar lines: number of the line of each key, from 1
    :ivar error: what is wrong, with `error_line`
    """

    values: dict[str, Any]
    lines: dict[str, int]
    error: str | None = None
    error_line: int = 1


def split(text: str) -> str | None:
    """Return the YAML text of a page, None if it has no frontmatter."""
    lines = text.removeprefix(BOM).splitlines()
    if not lines or not _FENCE.fullmatch(lines[0]):
        return None
    for number, line in enumerate(lines[1:], 1):
        if _FENCE.fullmatch(line):
            return "\n".join(lines[1:number])
    return None


def parse(yaml_text: str) -> Frontmatter:
    """Read a frontmatter; never raises. Keys that come twice and anchors are errors, dates stay dates."""
    if len(yaml_text) > LARGEST:
        return Frontmatter({}, {}, f"more than {LARGEST:,} characters")
    import yaml

    from adf_format.memory.strictyaml import StrictLoader

    line = 0
    try:
        loader = StrictLoader(yaml_text)
        try:
            return _checked(loader.get_single_data(), loader.key_lines)
        finally:
            line = loader.line
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Frontmatter({}, {}, error.problem or "not YAML", (mark.line if mark else 0) + 2)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        said = str(error).splitlines() or [type(error).__name__]
        return Frontmatter({}, {}, said[0][:120], line + 2)


def _checked(values: Any, lines: dict[str, int]) -> Frontmatter:
    if values is None:
        return Frontmatter({}, {}, "it is empty")
    if not isinstance(values, dict):
        return Frontmatter({}, {}, "it is no list of keys and values")
    return Frontmatter(values, {key: line + 2 for key, line in lines.items()})


def values_of(text: str) -> dict[str, Any]:
    """Return the frontmatter of a page, empty if there is none that can be read."""
    block = split(text)
    return {} if block is None else parse(block).values
