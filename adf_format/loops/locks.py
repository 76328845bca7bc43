"""The owner's lock on the roster of loops (LOOP-120)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adf_format.config.access import texts

LOCKED = "'loops' is locked."


def is_locked(config: Mapping[str, Any]) -> bool:
    """Whether the agent may not create, change or delete loops."""
    return any(path == "loops" or path.startswith("loops.") for _, path in texts(config, "locked_fields"))
