"""Container: integrity of the database, its versions, its log and what lies beside it."""

from __future__ import annotations

from adf_format.validation.context import Depth, Pass
from adf_format.validation.rules.container import catalogue, integrity, state
from adf_format.validation.rules.container.catalogue import DAMAGED

__all__ = ["DAMAGED", "PASSES"]

PASSES = (
    Pass(
        "storage version",
        (catalogue.VERSION, catalogue.NEWER, catalogue.OLDER),
        state.versions,
        depth=Depth.QUICK,
    ),
    Pass("size and header of the file", (catalogue.TRAILING, catalogue.HEADER), state.header, depth=Depth.QUICK),
    Pass(
        "write-ahead log and journal",
        (catalogue.LOG_TORN, catalogue.LOG_FOREIGN, catalogue.HOT_JOURNAL, catalogue.CLEAN_CLOSE),
        state.log,
        depth=Depth.QUICK,
    ),
    Pass("files beside the file", (catalogue.LEFTOVERS,), state.leftovers, depth=Depth.QUICK),
    Pass("integrity", (catalogue.INTEGRITY,), integrity.check, depth=Depth.QUICK),
)
