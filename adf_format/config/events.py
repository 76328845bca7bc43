"""Types of events on the agent's event bus, and the selectors that a tap or an endpoint may hold."""

from __future__ import annotations

from functools import cache

from adf_format.schemas import document

EVENT_TYPE = "urn:adf-format:config:umbilical-event-type:21"


@cache
def known() -> frozenset[str]:
    """Return every known type and the selector `<prefix>.*` of every group of them."""
    types = document(EVENT_TYPE)["x-adf-known"]
    parts = [name.split(".") for name in types]
    groups = {".".join(words[:count]) + ".*" for words in parts for count in range(1, len(words))}
    return frozenset(types) | groups


def is_wildcard(selector: str) -> bool:
    """Whether a selector stands for more than one type, so that it needs `allow_wildcard`."""
    return selector == "*" or selector.endswith(".*")


def is_known(selector: str) -> bool:
    """Whether a selector can match an event that is known today; everything below `custom.` can."""
    return (
        selector in ("*", "custom.*") or selector in known() or (len(selector) > 7 and selector.startswith("custom."))
    )
