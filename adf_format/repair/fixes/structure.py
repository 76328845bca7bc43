"""Indexes."""

from __future__ import annotations

from collections.abc import Sequence

from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.mend import Mend
from adf_format.schemas.ddl import create_indexes


def _create(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        table = mend.context.version.tables.get(place.table or "")
        actual = mend.context.structure.tables.get(place.table or "")
        if table is None or actual is None or any(name not in actual.columns for name in table.column):
            continue
        for index, statement in zip(table.indexes, create_indexes(table), strict=True):
            if f"index {index.name} is missing" in place.message:
                mend.index(table.name, statement)


FIXES = (Fix("ADF212", Kind.SAFE, "create the missing index", "an index holds nothing of its own", _create),)
