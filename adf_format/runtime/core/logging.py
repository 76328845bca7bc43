"""Which log rows an agent keeps (config.md 2.14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adf_format.config.access import entries, section

LEVELS = ("debug", "info", "warn", "error")
MAX_ROWS = 10_000


def is_kept(config: Mapping[str, Any], level: str, origin: str) -> bool:
    """Whether a row is written: the first rule whose pattern fits the origin decides, else the default level."""
    settings = section(config, "logging")
    least = settings.get("default_level")
    for _, rule in entries(settings, "rules"):
        if _fits(rule.get("origin"), origin):
            least = rule.get("min_level")
            break
    return LEVELS.index(level) >= (LEVELS.index(least) if least in LEVELS else LEVELS.index("info"))


def max_rows(config: Mapping[str, Any]) -> int | None:
    """Return how many rows are kept, None for all."""
    settings = section(config, "logging")
    most = settings.get("max_rows", MAX_ROWS)
    if most is None:
        return None
    return most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else MAX_ROWS


def _fits(pattern: object, origin: str) -> bool:
    """Match a pattern in which only `*` has a meaning."""
    if not isinstance(pattern, str):
        return False
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), origin, re.DOTALL) is not None
