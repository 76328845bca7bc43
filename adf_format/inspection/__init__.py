"""What is in a file: facts, no judgement. A part that cannot be read is named, the others are still told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from adf_format import structure
from adf_format.container import Limits, open_readonly, translate
from adf_format.errors import AdfError
from adf_format.inspection import contents, transcript
from adf_format.inspection.file import File

SECTIONS: dict[str, Callable[[File], Any]] = {
    "identity": contents.identity,
    "agent": contents.agent,
    "tables": contents.tables,
    "loops": transcript.loops,
    "tokens": transcript.tokens,
    "audit": transcript.audit,
    "timers": contents.timers,
    "messages": contents.messages,
    "tasks": contents.tasks,
    "memory": contents.memory,
    "files": contents.files,
}


def inspect_file(path: str | Path, *, seconds: float | None = 60.0) -> dict[str, Any]:
    """Return the facts of one file, in the shape of `urn:adf-format:output:inspect:1`.

    :param seconds: time limit
    :raises UnreadableError: the file cannot be opened at all
    """
    with open_readonly(path, Limits(max_value_bytes=32 << 20, deadline_s=seconds)) as container:
        facts: dict[str, Any] = {"path": str(path), "source": _source(container.source)}
        unreadable: list[dict[str, str]] = []
        found = _guarded("schema", lambda: structure.read(container.connection), unreadable)
        file = File(container.connection, found or structure.Structure())
        facts["schema_version"] = _guarded("version", lambda: file.version, unreadable)
        facts["adf_version"] = _guarded("version", lambda: file.meta_text("adf_version"), unreadable)
        for name, section in SECTIONS.items():
            facts[name] = _guarded(name, lambda section=section: section(file), unreadable)  # type: ignore[misc]
        facts["unreadable"] = unreadable
        return facts


def _guarded(what: str, read: Callable[[], Any], unreadable: list[dict[str, str]]) -> Any:
    try:
        return read()
    except apsw.Error as error:
        why = translate(error, Path()).message
    except AdfError as error:
        why = error.message
    except (ArithmeticError, LookupError, RecursionError, TypeError, UnicodeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    entry = {"what": what, "why": why}
    if entry not in unreadable:
        unreadable.append(entry)
    return None


def _source(source: Any) -> dict[str, Any]:
    names = (
        "size",
        "page_size",
        "page_count",
        "mode",
        "wal_frames",
        "wal_frames_ignored",
        "journal_mode",
        "hot_journal",
    )
    return {name: getattr(source, name) for name in (*names, "encoding")}
