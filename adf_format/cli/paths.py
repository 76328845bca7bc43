"""Which files a command works on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from adf_format.errors import MissingFileError, UnreadableError

SUFFIX = ".adf"


def agent_files(paths: Sequence[str]) -> Iterator[str]:
    """Yield the files that some paths name: a file as it is, a folder's `*.adf` sorted and with its subfolders.

    Links to folders inside a folder are not followed, so that nothing is visited twice. Backups (`*.adf.bak`) and
    SQLite's sidecars are not agents.

    :raises MissingFileError: a folder has no `.adf` in it; raised after the other paths
    :raises UnreadableError: a folder cannot be listed; likewise
    """
    empty: list[str] = []
    unreadable: list[str] = []
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        found = False
        for name in _inside(path, unreadable):
            found = True
            yield name
        if not found and path not in unreadable:
            empty.append(path)
    if unreadable:
        more = f", nor can {', '.join(unreadable[1:])}" if len(unreadable) > 1 else ""
        raise UnreadableError(f"this folder cannot be read{more}", file=Path(unreadable[0]))
    if empty:
        others = f", nor in {', '.join(empty[1:])}" if len(empty) > 1 else ""
        raise MissingFileError(f"there is no .adf in this folder{others}", file=Path(empty[0]))


def _inside(folder: str, unreadable: list[str]) -> Iterator[str]:
    def note(error: OSError) -> None:
        unreadable.append(str(error.filename))

    for where, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(where, name)  # noqa: PTH118
            if name.lower().endswith(SUFFIX) and os.path.isfile(full):  # noqa: PTH113
                yield full
