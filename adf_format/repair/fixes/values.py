"""Values of rows: their bytes, their JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adf_format.repair import pointers
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.mend import Mend, RawText
from adf_format.validation.rules.hostile.characters import SURROGATE

BINARY = {("adf_files", "content"), ("adf_identity", "value")}
SCOPES = {"system": '["system"]', "agent": '["agent"]'}
REPLACEMENT = "\ufffd"


def _binary(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        if (place.table, place.column) not in BINARY or place.rowid is None:
            continue
        value = mend.value(str(place.table), place.rowid, str(place.column))
        if isinstance(value, (str, RawText)):
            data = value.data if isinstance(value, RawText) else value.encode()
            mend.update(str(place.table), place.rowid, place.column, data)


def _utf8(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        if place.table is None or place.rowid is None or place.column is None:
            continue
        value = mend.value(place.table, place.rowid, place.column)
        if isinstance(value, RawText):
            mend.update(place.table, place.rowid, place.column, value.data.decode("utf-8", "replace"))


def _scope(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        if (place.table, place.column) == ("adf_timers", "scope") and place.rowid is not None:
            text = mend.value("adf_timers", place.rowid, "scope")
            if text in SCOPES:
                mend.update("adf_timers", place.rowid, "scope", SCOPES[text])


def _surrogates(mend: Mend, places: Sequence[Place]) -> None:
    for table, rowid, column in dict.fromkeys((one.table, one.rowid, one.column) for one in places):
        if table is not None and table != "adf_audit":
            decoded = mend.json(table, rowid, column)
            if isinstance(decoded, (dict, list)):
                mend.edit(table, rowid, column, _whole)


def _whole(value: Any) -> bool:
    """Replace halves of surrogate pairs everywhere in a document, in place; whether there were any."""
    stack, changed = [value], False
    while stack:
        holder = stack.pop()
        if isinstance(holder, dict) and any(map(SURROGATE.search, holder)):
            items = {SURROGATE.sub(REPLACEMENT, key): item for key, item in holder.items()}
            holder.clear()
            holder.update(items)
            changed = True
        for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(item, str) and SURROGATE.search(item):
                holder[key], changed = SURROGATE.sub(REPLACEMENT, item), True
            elif isinstance(item, (dict, list)):
                stack.append(item)
    return changed


def remove_key(mend: Mend, places: Sequence[Place]) -> None:
    """Remove the keys that places name from their JSON."""
    for place in places:
        if place.table is not None and place.pointer is not None:
            pointer = place.pointer
            mend.edit(place.table, place.rowid, place.column, lambda value, at=pointer: pointers.remove(value, at))  # type: ignore[misc]


def remove_null(mend: Mend, places: Sequence[Place]) -> None:
    """Remove the keys that places name, where their value is null."""

    def change(value: Any, pointer: str) -> bool:
        return pointers.get(value, pointer) is None and pointers.remove(value, pointer)

    for place in places:
        if place.table is not None and place.pointer is not None:
            pointer = place.pointer
            mend.edit(place.table, place.rowid, place.column, lambda value, at=pointer: change(value, at))  # type: ignore[misc]


def _last_counts(mend: Mend, places: Sequence[Place]) -> None:
    for table, rowid, column in dict.fromkeys((one.table, one.rowid, one.column) for one in places):
        if table is not None:
            mend.edit(table, rowid, column, lambda _: True)  # decoding has kept the last one


_LAST = "readers see only the last one, but the others go"
_NULL = "readers treat null as absent"
FIXES = (
    Fix("ADF301", Kind.SAFE, "store the text as the bytes it is", "no byte changes", _binary),
    Fix("ADF315", Kind.SAFE, "write the scope as JSON", "readers take the bare word for it", _scope),
    Fix("ADF314", Kind.SAFE, "remove the key that is null", _NULL, remove_null),
    Fix("ADF410", Kind.SAFE, "remove the key that is null", _NULL, remove_null),
    Fix("ADF305", Kind.LOSSY, "replace the bytes that are no text by U+FFFD", "the bytes go", _utf8),
    Fix("ADF808", Kind.LOSSY, "replace the half character by U+FFFD", "which half it was goes", _surrogates),
    Fix("ADF313", Kind.LOSSY, "keep the last value of the key", _LAST, _last_counts),
    Fix("ADF414", Kind.LOSSY, "keep the last value of the key", _LAST, _last_counts),
)
