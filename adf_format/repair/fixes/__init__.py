"""Every fix, as data, in the order in which they are carried out."""

from __future__ import annotations

from adf_format.repair.fix import Fix
from adf_format.repair.fixes import audit, config, files, meta, structure, transcript, values

FIXES: tuple[Fix, ...] = (
    *structure.FIXES,
    *values.FIXES,
    *meta.FIXES,
    *config.FIXES,
    *files.FIXES,
    *transcript.FIXES,
    *audit.FIXES,
)


def fixes_of(rule: str) -> tuple[Fix, ...]:
    """Return the fixes of one rule."""
    return tuple(fix for fix in FIXES if fix.rule == rule)
