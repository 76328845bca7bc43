"""Texts of transcript, messages, logs and tasks: the hot path of this family.

Nearly every row is plain: JSON without escapes in ASCII, or without invisible characters. Two tests of the stored
text settle that; only what fails them is walked through.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded
from adf_format.rows import Oversize, Row
from adf_format.validation.context import Batch, Columns, Context
from adf_format.validation.rules.hostile import catalogue, walk
from adf_format.validation.rules.hostile.characters import CONTROL, FLAG, HIDDEN, ODD, SURROGATE, code_point
from adf_format.validation.rules.hostile.names import config_names

JSON_COLUMNS = {
    "adf_loop": ("content_json",),
    "adf_inbox": ("meta", "source_context", "original_message"),
    "adf_outbox": ("meta", "original_message"),
    "adf_logs": ("data",),
    "adf_tasks": ("args", "approval_meta"),
    "adf_timers": ("schedule_json",),
    "adf_config": ("config_json",),
}
TEXT_COLUMNS = {
    "adf_inbox": ("content",),
    "adf_outbox": ("content",),
    "adf_logs": ("message",),
    "adf_tasks": ("result", "error"),
    "adf_timers": ("payload",),
    "adf_meta": ("value",),
}
DEEPEST = 200
SHORT = 2 * DEEPEST
"""A text of this length cannot be nested deeper than that."""
LARGEST = 16 << 20
"""Characters (of a text that was fetched) or bytes (of one that was not)."""


def is_plain(text: str) -> bool:
    """Whether a JSON text, as stored, cannot hold anything that is looked for here."""
    return (
        len(text) <= LARGEST
        and ("\\" not in text or "\\u" not in text)
        and (text.isascii() or text.isprintable())
        and (len(text) <= SHORT or _is_flat(text) or text.count("[") + text.count("{") <= DEEPEST)
    )


def _is_flat(text: str) -> bool:
    """Whether nothing but the first two characters begins a list or an object: most messages are one text block."""
    return text.find("{", 2) < 0 and text.find("[", 1) < 0


def _are_plain(column: tuple[Any, ...]) -> bool:
    """Whether each value of a column is NULL or plain; what most texts lack is looked for in all of them at once."""
    texts = [value for value in column if type(value) is str]
    if len(texts) + column.count(None) != len(column):
        return False
    joined = "".join(texts)
    if not joined.isascii() or "\\" in joined:
        return all(map(is_plain, texts))
    for text in texts:
        if len(text) > SHORT and not _is_flat(text) and not is_plain(text):
            return False
    return len(joined) <= LARGEST or all(map(is_plain, texts))


def _are_even(column: tuple[Any, ...]) -> bool:
    """Whether no value of a column of plain text holds an odd character, and none is too large."""
    joined = "".join(value for value in column if type(value) is str)
    return len(joined) <= LARGEST and Oversize not in map(type, column) and not ODD.search(joined)


class Texts:
    """Looks at the texts of one table; names are left to the rules on names."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context, self._table = context, columns.table
        self._json = _present(JSON_COLUMNS, columns)
        self._plain = _present(TEXT_COLUMNS, columns)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Pointers of the names in the configuration."""
        names = config_names(self._context.config) if self._table == "adf_config" else ()
        return frozenset(pointer for pointer, _ in names)

    def batch(self, batch: Batch) -> bool:
        """Whether none of the texts can hold anything that is looked for."""
        return all(_are_plain(batch.columns[position]) for _, position in self._json) and all(
            _are_even(batch.columns[position]) for _, position in self._plain
        )

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at the texts of one row."""
        for column, position in self._json:
            text = values[position]
            if type(text) is str:
                if not is_plain(text):
                    self._look(column, rowid, text, json.get(column))
            elif type(text) is Oversize:
                self._size(column, rowid, text.size)
        for column, position in self._plain:
            text = values[position]
            if type(text) is str:
                if len(text) > LARGEST:
                    self._size(column, rowid, len(text))
                if ODD.search(text):
                    self._odd(text, {"table": self._table, "rowid": rowid, "column": column})
            elif type(text) is Oversize:
                self._size(column, rowid, text.size)

    def _look(self, column: str, rowid: int, text: str, decoded: Any) -> None:
        """Look closely at a JSON text."""
        place = {"table": self._table, "rowid": rowid, "column": column}
        if len(text) > LARGEST:
            self._size(column, rowid, len(text))
        if isinstance(decoded, JsonTextError) and decoded.message.startswith("nested"):
            self._context.report(catalogue.NESTING, "nested too deeply to be read", **place)
        if not isinstance(decoded, Decoded):
            return
        if text.count("[") + text.count("{") > DEEPEST and walk.depth(decoded.value) > DEEPEST:
            self._context.report(catalogue.NESTING, f"nested more than {DEEPEST} levels deep", **place)
        if "\\u" in text or ODD.search(text):
            for link, leaf in walk.leaves(decoded.value):
                if type(leaf) is str and ODD.search(leaf):
                    self._odd(leaf, {**place, "pointer": walk.spelled(link) or None})

    def _odd(self, text: str, place: dict[str, Any]) -> None:
        report = self._context.report
        if SURROGATE.search(text):
            report(catalogue.SURROGATE, "half of a surrogate pair", **place)
        if place.get("pointer") in self._names:
            return
        if found := CONTROL.search(text):
            report(catalogue.CONTROL_TEXT, f"the control character {code_point(found[0])}", **place)
        if found := HIDDEN.search(FLAG.sub("", text)):
            report(catalogue.HIDDEN_TEXT, f"the character {code_point(found[0])}, which is not shown", **place)

    def _size(self, column: str, rowid: int, size: int) -> None:
        said = f"a text of {size >> 20} MiB"
        self._context.report(catalogue.HUGE, said, table=self._table, rowid=rowid, column=column)

    def finish(self) -> None:
        """Nothing more."""


def _present(wanted: dict[str, tuple[str, ...]], columns: Columns) -> list[tuple[str, int]]:
    names = wanted.get(columns.table, ())
    return [(name, columns.position[name]) for name in names if name in columns.position]


DIGITS = re.compile(r"(?<![\w.\"-])-?\d{16,}")
LARGEST_EXACT = 1 << 53
HTML = re.compile(
    r"<(?:script|iframe|object|embed)\b|<[a-z][^<>]{0,200}\son[a-z]{3,20}\s?=|\b(?:href|src)\s?=\s?\\?[\"']?javascript:",
    re.IGNORECASE,
)


class DeepTexts:
    """Looks for numbers that JavaScript rounds, and HTML that runs code."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context, self._table = context, columns.table
        self._json = _present(JSON_COLUMNS, columns)
        self._plain = _present(TEXT_COLUMNS, columns)

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Look at the texts of one row."""
        for column, position in self._json + self._plain:
            text = values[position]
            if type(text) is not str:
                continue
            place = {"table": self._table, "rowid": rowid, "column": column}
            if "<" in text and HTML.search(text):
                self._context.report(catalogue.ACTIVE_HTML, "HTML that would run code", **place)
            decoded = json.get(column)
            if isinstance(decoded, Decoded) and DIGITS.search(text):
                self._numbers(decoded.value, place)

    def _numbers(self, value: Any, place: dict[str, Any]) -> None:
        for link, leaf in walk.leaves(value):
            if type(leaf) is int and abs(leaf) > LARGEST_EXACT:
                said = "an integer beyond 2^53"
                self._context.report(catalogue.BIG_NUMBER, said, **place, pointer=walk.spelled(link) or None)

    def finish(self) -> None:
        """Nothing more."""
