"""The file as a whole: its size, its header, its versions, and what lies beside it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from adf_format.schemas import LATEST, OLDEST
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context
from adf_format.validation.rules.container import catalogue

VERSION_KEYS = ("adf_schema_version", "schema_version")
LEFTOVER = re.compile(r"(.+)\.(?:bak|bak\.\d+|corrupt|repaired)", re.DOTALL)
OWN_LOG_ENDS = frozenset({"uncommitted", "checksum", "page-number"})
FOREIGN_LOG_ENDS = frozenset({"header", "page-size"})


def versions(context: Context) -> None:
    """Say whether the storage version can be read, and whether it is one that is described."""
    stored = context.stored
    if stored is None:
        key = next((key for key in VERSION_KEYS if key in context.meta), None)
        row = context.meta[key] if key else None
        said = f"{key} is {brief(row.value)}, not a decimal number" if row else "the storage version is missing"
        context.report(catalogue.VERSION, said, table="adf_meta", rowid=row.rowid if row else None)
    elif stored > LATEST:
        said = f"storage version {stored}, the newest known here is {LATEST}: checked as far as its rules reach"
        context.report(catalogue.NEWER, said, table="adf_meta")
    elif stored < OLDEST:
        said = f"storage version {stored}, the oldest described is {OLDEST}: most checks are left out"
        context.report(catalogue.OLDER, said, table="adf_meta")


def header(context: Context) -> None:
    """Compare the size of the file and its header fields with what SQLite leaves by default."""
    source = context.container.source
    extra = source.size - source.page_count * source.page_size
    if source.mode == "immutable" and source.page_size and extra:
        # After a log was laid over it, the file on disk may lawfully be longer or shorter
        context.report(catalogue.TRAILING, f"{extra} bytes after the last of {source.page_count} pages")
    for name, value in (("application_id", source.application_id), ("user_version", source.user_version)):
        if value:
            context.report(catalogue.HEADER, f"{name} is {value}")
    if source.encoding not in ("", "UTF-8"):
        context.report(catalogue.HEADER, f"texts are stored as {source.encoding}")
    if source.reserved:
        context.report(
            catalogue.HEADER, f"{source.reserved} bytes of each page are reserved for an extension of SQLite"
        )
    if source.auto_vacuum:
        context.report(catalogue.HEADER, "auto_vacuum is on")


def log(context: Context) -> None:
    """Report what the write-ahead log and the rollback journal tell about the last writer."""
    source = context.container.source
    if source.hot_journal:
        context.report(catalogue.HOT_JOURNAL, "an interrupted transaction was undone in a private copy")
    if source.wal_end in FOREIGN_LOG_ENDS and source.wal_frames_ignored:
        said = "no valid header" if source.wal_end == "header" else "pages of another size"
        context.report(catalogue.LOG_FOREIGN, f"the write-ahead log is ignored: it has {said}")
    elif source.wal_end in OWN_LOG_ENDS:
        context.report(catalogue.LOG_TORN, "the write-ahead log ends with an unfinished transaction, which is ignored")
    if source.wal_frames and "adf_clean_close" in context.meta:
        said = "adf_clean_close is there together with a write-ahead log that holds changes"
        context.report(catalogue.CLEAN_CLOSE, said, table="adf_meta", rowid=context.meta["adf_clean_close"].rowid)


def leftovers(context: Context) -> None:
    """Report backups and repair files beside the file."""
    path = context.container.source.real_path
    for name in _leftovers_of(path):
        context.report(catalogue.LEFTOVERS, f"{brief(name, 80)} lies beside it")


def _leftovers_of(path: Path) -> list[str]:
    try:
        found = _leftovers_in(path.parent, path.parent.stat().st_mtime_ns)
    except OSError:
        return []
    return [name for name in found if (match := LEFTOVER.fullmatch(name)) and match[1] == path.name]


@lru_cache(maxsize=8)
def _leftovers_in(folder: Path, stamp: int) -> tuple[str, ...]:  # noqa: ARG001 - a folder that changed is read anew
    with os.scandir(folder) as entries:
        return tuple(sorted(entry.name for entry in entries if LEFTOVER.fullmatch(entry.name)))
