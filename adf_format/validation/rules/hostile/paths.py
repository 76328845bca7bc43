"""Paths of the agent's files, and of attachments: where they would lead outside the agent."""

from __future__ import annotations

import re
from typing import Any

from adf_format.files.paths import LONGEST_PART, RESERVED, escapes, folded, parents, unportable
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rules.hostile import catalogue, names

_PLAIN = re.compile(r"[\w\-]+(?:[ .][\w\-()]+)*")


class Paths:
    """Looks at `adf_files.path`."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._position = columns.position["path"]
        self._seen: dict[str, tuple[int, str]] = {}

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at one path."""
        path = values[self._position]
        if type(path) is not str:
            return
        place = {"table": "adf_files", "rowid": rowid, "column": "path"}
        check(self._context, path, place)
        other = self._seen.setdefault(folded(path), (rowid, path))
        if other[1] != path:
            said = f"{brief(path)} and {brief(other[1])} are one file on many systems"
            self._context.report(catalogue.PATH_COLLIDES, said, **place)

    def finish(self) -> None:
        """Report files that are also folders."""
        for key in self._seen:
            for parent in parents(key):
                if parent in self._seen:
                    rowid, path = self._seen[parent]
                    said = f"{brief(path)} is a file, and the folder of {brief(self._seen[key][1])}"
                    place = {"table": "adf_files", "rowid": rowid, "column": "path"}
                    self._context.report(catalogue.PATH_COLLIDES, said, **place)


def check(context: Context, path: str, place: dict[str, Any]) -> None:
    """Report a path that leads outside or is not portable."""
    if all(_PLAIN.fullmatch(part) for part in path.split("/")) and not _needs_a_closer_look(path):
        return
    if why := escapes(path):
        context.report(catalogue.PATH_ESCAPES, f"the path {brief(path)} {why}", **place)
    elif why := unportable(path):
        context.report(catalogue.PATH_UNPORTABLE, f"the path {brief(path)} {why}", **place)


def _needs_a_closer_look(path: str) -> bool:
    if len(path) > LONGEST_PART // 4:  # a character has at most four bytes
        return True
    return any(RESERVED.fullmatch(part.partition(".")[0]) for part in path.split("/"))


class Attachments:
    """Looks at the names and paths of the attachments of a message."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context, self._table = context, columns.table
        self._position = columns.position.get("attachments")

    def batch(self, batch: Batch) -> bool:
        """Whether no message has any."""
        return self._position is None or set(batch.columns[self._position]) == {None}

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at the attachments of one message."""
        if "attachments" not in json:
            return
        for pointer, text in names.attachments(json):
            place = {"table": self._table, "rowid": rowid, "column": "attachments", "pointer": pointer}
            names.check(self._context, text, **place)
            if why := escapes(text):
                self._context.report(catalogue.PATH_ESCAPES, f"the path {brief(text)} {why}", **place)

    def finish(self) -> None:
        """Nothing more."""
