"""5xx: audit snapshots, decoded one at a time."""

from adf_format.validation.context import Depth, Pass
from adf_format.validation.rules.audit import check, counts, history, locators, order, shape, sources, stream

RULES = (*stream.RULES, *shape.RULES, *counts.RULES, *locators.RULES, *order.RULES, *sources.RULES)

PASSES: tuple[Pass, ...] = (
    Pass("audit snapshots", RULES, check.run, ("adf_audit",)),
    Pass("what each seq stands for", history.RULES, history.run, ("adf_audit",), Depth.DEEP),
)
