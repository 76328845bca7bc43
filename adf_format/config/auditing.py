"""What the configuration says about archiving."""

from __future__ import annotations

from typing import Any

SOURCES = ("loop", "inbox", "outbox", "files")


def audit_policy(config: dict[str, Any]) -> dict[str, bool]:
    """Return which sources are archived: `context.audit` as a whole object if it is set, else `audit` (AUD-001)."""
    context = config.get("context")
    chosen = context.get("audit") if isinstance(context, dict) else None
    if chosen is None:
        chosen = config.get("audit")
    flags = chosen if isinstance(chosen, dict) else {}
    return {source: bool(flags.get(source)) for source in SOURCES}
