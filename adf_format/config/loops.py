"""What the declaration of inner loops means, as far as a stored configuration shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.config.access import entries, is_filled

MAX_LOOPS = 16
PROHIBITED_TOOLS = frozenset({"sys_update_config", "loop_manage", "sys_create_adf"})
CODE_TOOLS = ("sys_code", "sys_lambda")


def declared(config: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield `(index, name, loop)` of the loops that have a name, an entry called `main` left out (LOOP-021)."""
    for index, loop in entries(config, "loops"):
        if is_filled(loop.get("name")) and loop["name"] != "main":
            yield index, loop["name"], loop


def disabled(config: dict[str, Any]) -> frozenset[str]:
    """Return the names of loops that do not run; only a literal `false` disables one (LOOP-008)."""
    return frozenset(name for _, name, loop in declared(config) if loop.get("enabled") is False)
