"""Rows of `adf_meta`."""

from __future__ import annotations

from collections.abc import Sequence

from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.mend import Mend
from adf_format.schemas import metakeys

COPIES = {"adf_name": "name", "adf_handle": "handle"}


def _protect(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        key = None if place.rowid is None else mend.value("adf_meta", place.rowid, "key")
        known = metakeys.find(key) if isinstance(key, str) else None
        if known is not None and known.protection is not None:
            mend.update("adf_meta", place.rowid, "protection", known.protection)


def _remove(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        if place.rowid is not None:
            mend.delete("adf_meta", place.rowid)


def _copy(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        key = None if place.rowid is None else mend.value("adf_meta", place.rowid, "key")
        value = mend.context.config.get(COPIES.get(str(key), ""))
        if isinstance(value, str):
            mend.update("adf_meta", place.rowid, "value", value)


_AUTHORITY = "the format says what the protection is"
FIXES = (
    Fix("ADF321", Kind.SAFE, "give the key the protection of the format", _AUTHORITY, _protect),
    Fix("ADF322", Kind.SAFE, "make the copy read-only", _AUTHORITY, _protect),
    Fix("ADF474", Kind.SAFE, "copy the value from the configuration", "the configuration is what is in effect", _copy),
    Fix("ADF325", Kind.LOSSY, "remove the retired key", "nothing reads its value any more, but it goes", _remove),
    Fix("ADF326", Kind.LOSSY, "remove the key of the loop that is gone", "the value of a deleted loop goes", _remove),
)
