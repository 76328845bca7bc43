"""Rows of a transcript and snapshots of the audit, as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import brotli

MAIN = "main"


@dataclass(frozen=True)
class Entry:
    """One entry of a transcript, live or archived.

    :ivar blocks: decoded content; None if it is no JSON array
    """

    seq: int
    role: str
    blocks: list[dict[str, Any]] | None
    model: str | None = None
    tokens: Any = None
    created_at: int | None = None
    ord: int | None = None
    loop: str = MAIN

    @property
    def key(self) -> tuple[int, int]:
        """Sorting key of display order (STO-032)."""
        return (self.seq if self.ord is None else self.ord, self.seq)

    @property
    def text(self) -> str:
        """Text of its text blocks, joined by newlines."""
        return "\n".join(str(block.get("text", "")) for block in self.of_type("text"))

    @property
    def tool_uses(self) -> list[dict[str, Any]]:
        """Its `tool_use` blocks."""
        return self.of_type("tool_use")

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """Its `tool_result` blocks."""
        return self.of_type("tool_result")

    @property
    def is_context(self) -> bool:
        """Whether it is a context row, which is stored for the owner and not replayed (ROW-011)."""
        first = (self.blocks or [{}])[0]
        return first.get("type") == "text" and str(first.get("text", "")).startswith("[Context: ")

    @property
    def is_summary(self) -> bool:
        """Whether it is the summary of a compaction (CMP-027)."""
        return self.role == "user" and self.text.startswith("[Loop Compacted")

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Return its blocks of one type."""
        return [block for block in self.blocks or [] if isinstance(block, dict) and block.get("type") == kind]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Entry:
        """Read a row of `adf_loop`."""
        blocks, tokens = decoded(row["content_json"]), decoded(row.get("tokens"))
        return cls(
            row["seq"],
            row["role"],
            blocks if isinstance(blocks, list) else None,
            row.get("model"),
            tokens,
            row.get("created_at"),
            row.get("ord"),
            row.get("loop") or MAIN,
        )

    @classmethod
    def of_archived(cls, value: Mapping[str, Any], loop: str) -> Entry:
        """Read one element of a transcript snapshot (AUD-020)."""
        blocks = value.get("content_json")
        rest = (value.get("model"), value.get("tokens"), value.get("created_at"), value.get("ord"), loop)
        return cls(value["seq"], value["role"], blocks if isinstance(blocks, list) else None, *rest)

    def content(self) -> tuple[Any, ...]:
        """Return what must survive archiving and moving."""
        return (self.seq, self.role, json.dumps(self.blocks, sort_keys=True), self.created_at)


@dataclass(frozen=True)
class Snapshot:
    """One row of `adf_audit`.

    :ivar row: its columns by name
    """

    row: Mapping[str, Any]

    @property
    def id(self) -> int:
        """Number of the row."""
        return int(self.row["id"])

    @property
    def source(self) -> str:
        """What was archived."""
        return str(self.row["source"])

    @property
    def loop(self) -> str | None:
        """Loop whose transcript it holds, None if it holds no transcript (AUD-006)."""
        if self.source == "loop":
            return MAIN
        return self.source.removeprefix("loop:") if self.source.startswith("loop:") else None

    @cached_property
    def text(self) -> str | None:
        """The JSON text; None if the stream is damaged."""
        try:
            data: bytes = brotli.decompress(self.row["data"])
            return data.decode("utf-8", "surrogatepass")
        except (brotli.error, UnicodeDecodeError, TypeError):
            return None

    @cached_property
    def value(self) -> Any:
        """The decoded JSON; None if the stream or the JSON is damaged."""
        return decoded(self.text)

    @property
    def items(self) -> list[Any]:
        """Decoded entries; a snapshot of one object is a list of that object."""
        if isinstance(self.value, list):
            return self.value
        return [] if self.value is None else [self.value]

    @property
    def entries(self) -> list[Entry]:
        """Entries of a transcript snapshot, those that are entries at all."""
        if self.loop is None:
            return []
        fits = (item for item in self.items if isinstance(item, dict) and isinstance(item.get("seq"), int))
        return [Entry.of_archived({"role": "", **item}, self.loop) for item in fits]

    @property
    def units(self) -> int | None:
        """Length of the JSON text in UTF-16 code units (AUD-009)."""
        return None if self.text is None else len(self.text.encode("utf-16-le", "surrogatepass")) // 2


def decoded(text: object) -> Any:
    """Return a JSON text decoded; what is no text stays, what is no JSON becomes None."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
