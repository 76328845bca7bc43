"""Names: what a list shows and a person trusts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.schemas.checker import brief
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rules.hostile import catalogue
from adf_format.validation.rules.hostile.characters import CONTROL_IN_NAME, HIDDEN_IN_NAME, code_point

NAME_COLUMNS = {
    "adf_meta": ("key",),
    "adf_files": ("path",),
    "adf_identity": ("purpose",),
    "adf_loop": ("loop",),
    "adf_tasks": ("tool",),
    "adf_inbox": ("from", "sender_alias", "subject"),
    "adf_outbox": ("to", "recipient_alias", "subject"),
    "adf_logs": ("origin", "event"),
}
# lists in the configuration whose entries have a name: section, list, key of the name
NAMED = (
    ("", "tools", "name"),
    ("", "loops", "name"),
    ("", "providers", "name"),
    ("", "ws_connections", "id"),
    ("", "umbilical_taps", "name"),
    ("mcp", "servers", "name"),
)
REMEMBERED = 256


def is_plain(name: str) -> bool:
    """Whether a name, or several joined, cannot hold a control or hidden character."""
    return name.isascii() and name.isprintable()


def check(context: Context, name: str, **place: Any) -> None:
    """Report a name with control or hidden characters."""
    if is_plain(name):
        return
    if found := CONTROL_IN_NAME.search(name):
        said = f"the name {brief(name)} holds the control character {code_point(found[0])}"
        context.report(catalogue.CONTROL_IN_NAME, said, **place)
    if found := HIDDEN_IN_NAME.search(name):
        said = f"the name {brief(name)} holds {code_point(found[0])}, which is not shown"
        context.report(catalogue.HIDDEN_IN_NAME, said, **place)


class Names:
    """Looks at the columns of a table that hold names; a name just seen is not looked at again."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context, self._table = context, columns.table
        wanted = NAME_COLUMNS[columns.table]
        self._columns = [(name, columns.position[name], set[Any]()) for name in wanted if name in columns.position]

    def batch(self, batch: Batch) -> bool:
        """Whether all names have been seen before, or are plain."""
        for _, position, seen in self._columns:
            names = set(batch.columns[position])
            if not names <= seen:
                joined = "".join(name for name in names if type(name) is str)
                if not is_plain(joined):
                    return False
                if len(seen) + len(names) <= REMEMBERED:
                    seen.update(names)
        return True

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at the names of one row."""
        for column, position, seen in self._columns:
            name = values[position]
            if type(name) is str and name not in seen:
                self._look(name, column, rowid, seen)

    def _look(self, name: str, column: str, rowid: int, seen: set[str]) -> None:
        if is_plain(name):
            if len(seen) < REMEMBERED:
                seen.add(name)
        else:
            check(self._context, name, table=self._table, rowid=rowid, column=column)

    def finish(self) -> None:
        """Nothing more."""


def of_schema(context: Context) -> None:
    """Look at the names of tables, indexes, views and triggers, and of the columns of the format's tables."""
    for _, name, table, _ in context.structure.objects:
        check(context, name, table=table)
    for actual in context.structure.tables.values():
        for column in actual.columns:
            check(context, column, table=actual.name, column=column)


def of_config(context: Context) -> None:
    """Look at the names that the configuration gives to things."""
    place = {"table": "adf_config", "rowid": 1, "column": "config_json"}
    found = list(config_names(context.config))
    if is_plain("".join(name for _, name in found)):
        return
    for pointer, name in found:
        check(context, name, **place, pointer=pointer)


def config_names(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield pointer and text of every name in a configuration."""
    for key in ("name", "handle"):
        if isinstance(config.get(key), str):
            yield f"/{key}", config[key]
    for section, listed, key in NAMED:
        parent = config.get(section) if section else config
        entries = parent.get(listed) if isinstance(parent, dict) else None
        above = f"/{section}/{listed}/" if section else f"/{listed}/"
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(name := entry.get(key), str):
                yield f"{above}{at}/{key}", name


def attachments(json: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield pointer and text of every file name and path of the attachments of a message."""
    decoded = json.get("attachments")
    listed = decoded.value if isinstance(decoded, Decoded) else None
    for at, entry in enumerate(listed if isinstance(listed, list) else []):
        for key in ("filename", "path"):
            if isinstance(entry, dict) and isinstance(entry.get(key), str):
                yield f"/{at}/{key}", entry[key]
