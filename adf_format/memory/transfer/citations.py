"""Messages that a mind cites, to be read where there is no transcript (MEM-160, MEM-187)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from adf_format.container import Container
from adf_format.history import Resolution, resolve
from adf_format.memory.agentfiles import AgentFiles

_CITED = re.compile(r"\[S([0-9]{1,18})\]|adf-audit://seq/([0-9]{1,18})")


def cited(files: AgentFiles) -> list[int]:
    """Return the seqs that the index, the pages and the log of a mind cite, in order."""
    found: set[int] = set()
    for path in ("mind.md", *files.paths("mind/")):
        text = (files.read(path) or b"").decode("utf-8", "replace")
        found.update(int(match[1] or match[2]) for match in _CITED.finditer(text))
    return sorted(found)


def lines(container: Container, files: AgentFiles) -> bytes:
    """Return one line of JSON for each cited message; one that is nowhere is marked as missing."""
    documents = (_document(seq, resolve(container, None, seq)) for seq in cited(files))
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents).encode("utf-8", "backslashreplace")


def _document(seq: int, found: Resolution) -> dict[str, Any]:
    if not found.found:
        return {"seq": seq, "missing": True}
    entry = found.places[0].entry
    return {"seq": seq, "role": entry.role, "created_at": entry.created_at, "text": "\n".join(_texts(entry.content))}


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text
