"""5xx: audit snapshots, decoded one at a time."""

from adf_format.validation.context import Depth, Pass
from adf_format.validation.rules.audit import check, counts, coverage, history, locators, order, shape, sources, stream

RULES = (*stream.RULES, *shape.RULES, *counts.RULES, *locators.RULES, *order.RULES, *sources.RULES)

PASSES: tuple[Pass, ...] = (
    Pass("audit snapshots", RULES, check.run, ("adf_audit",)),
<<<<<<< HEAD
    Pass("messages under one seq", (history.TWO_CONTENTS,), history.run, ("adf_audit",), Depth.DEEP),
    Pass("rows that are nowhere", coverage.RULES, coverage.run, ("adf_loop", "adf_audit"), Depth.DEEP),
=======
    Pass("messages under one seq", history.RULES, history.run, ("adf_audit",), Depth.DEEP),
>>>>>>> three
)
