"""Looking for secrets before anything is written, carried or shown to a model (MEM-081, MEM-082)."""

from __future__ import annotations

from collections.abc import Iterator

from adf_format.errors import UsageError

Suspect = tuple[int, int, str]  # line and column from 1, kind


def suspects(path: str, content: bytes) -> list[Suspect]:
    """Return the places of a file that hold what is certainly shaped like a secret; never its value (MEM-083)."""
    return list(_found(path, content.decode("utf-8", "replace")))


def withheld(path: str, text: str) -> list[tuple[int, str]]:
    """Return `(line, kind)` of lines that are not shown to a model."""
    return [(line, kind) for line, _, kind in _found(path, text)]


def refuse_secrets(text: str) -> None:
    """Refuse a text that would bring a secret into memory.

    :raises UsageError: it holds one; it is not repeated
    """
    found = next(_found("", text), None)
    if found is not None:
        hint = "name the file that holds it instead, as `~/.secrets/service.env`"
        raise UsageError(f"this looks like a secret ({found[2]}), and is not written", hint=hint)


def _found(path: str, text: str) -> Iterator[Suspect]:
    from adf_format.memory import secrets

    yield from ((one.line, one.column, one.kind) for one in secrets.scan(text, path) if one.severe)
