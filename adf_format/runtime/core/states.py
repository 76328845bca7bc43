"""States of the agent and what they allow (LOOP-135, LOOP-244)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STATES = ("active", "idle", "hibernate", "suspended", "off")
_STARTING = ("active", "idle", "hibernate")


def gate(state: str) -> str | None:
    """Return why nothing may run in a state, None if something may."""
    return f"the agent is {state}" if state in ("suspended", "off") else None


def allows(state: str, event_type: str) -> bool:
    """Whether an event of this type wakes loops in a state; `hibernate` leaves only timers."""
    if state == "hibernate":
        return event_type == "timer"
    return state not in ("suspended", "off")


def starting_state(config: Mapping[str, Any]) -> str:
    """Return the state in which an agent starts (config.md 2.1)."""
    wanted = config.get("start_in_state")
    return wanted if wanted in _STARTING else "active"
